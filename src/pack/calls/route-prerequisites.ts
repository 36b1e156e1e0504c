/** The prerequisites of a route. */
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import type { DialectDefinition, PrerequisiteDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import type { Resource } from "../load/resource.ts";
import type { Route } from "../routes/route.ts";
import { compilePrerequisite } from "./route-steps.ts";

/** The definitions of the pack. */
interface PrerequisiteContext {
  readonly dialect: DialectDefinition;
  readonly prerequisites: ReadonlyMap<string, PrerequisiteDefinition>;
}

/** Compiles the calls before the main one. @param parameters Names of the path parameters. */
export function compilePrerequisites(
  { prerequisites = [], failures }: RouteDefinition,
  { inputNames }: Resource,
  parameters: readonly string[],
  context: PrerequisiteContext,
  { route, pack }: { readonly route: SourceLocation; readonly pack: SourceLocation },
): Route["prerequisites"] {
  const members = [...parameters, ...inputNames];
  const { base_path: prefix } = context.dialect.upstream;
  return prerequisites.flatMap((name, index) => {
    const found = resolveReference(
      route.at("prerequisites", index),
      "prerequisite",
      name,
      context.prerequisites,
    );
    return found
      ? [
          compilePrerequisite(
            name,
            found,
            { members, earlier: prerequisites.slice(0, index) },
            prefix,
            failures?.prerequisites?.[name],
            pack.at("prerequisites", name),
          ),
        ]
      : [];
  });
}
