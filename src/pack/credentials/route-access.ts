/** Decides who may send the requests of a route. */
import type { Access } from "./scopes.ts";
import { type SourceLocation, suggestionFor } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";

/** The scopes of the client, by resource and level. */
export const scopeNames = ({ scopes }: DialectDefinition): string[] =>
  Object.keys(scopes?.resources ?? {}).flatMap((resource) =>
    (scopes?.levels ?? []).map((level) => `${resource}:${level}`),
  );

/** Compiles the access rule of a route. Without one it needs a token, if clients have tokens at all. */
export function compileAccess(
  { scope: given }: RouteDefinition,
  {
    dialect,
    access,
  }: { readonly dialect: DialectDefinition; readonly access: (scope: string) => Access | undefined },
  location: SourceLocation,
): Access {
  const scope = given ?? (dialect.client.credentials ? "token" : "public");
  const rule = access(scope);
  if (rule) return rule;
  location.at("scope").report({
    message: `"${scope}" is not public, token, or resource:level of pack.yaml`,
    hint: suggestionFor(scope, ["public", "token", ...scopeNames(dialect)]),
  });
  return "token";
}
