/** The errors of a route whose checks or prerequisites fail. */
import type { Failure } from "./http-error.ts";
import { type SourceLocation, suggestionFor } from "../../base/index.ts";
import type { DialectDefinition, PrerequisiteDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import type { BodyRules } from "../bodies/body.ts";
import type { LocatedFile } from "../load/resource-files.ts";

/** What a route says about its checks that fail. */
export interface RouteFailures {
  /** The status and the code of checks that have none of their own. */
  readonly checkFailure: Failure | undefined;
  /** Statuses of its errors that not every route may have. */
  readonly ownStatuses: readonly number[];
}

/** Reports what has no effect: a prerequisite that the route does not have, and a status of checks without a check. */
function reportUnused(
  { failures = {}, prerequisites = [] }: RouteDefinition,
  hasChecks: boolean,
  location: SourceLocation,
): void {
  for (const name of Object.keys(failures.prerequisites ?? {}))
    if (!prerequisites.includes(name))
      location.at("prerequisites", name).report({
        message: `the route has no prerequisite "${name}"`,
        hint: suggestionFor(name, prerequisites),
      });
  if (failures.checks && !hasChecks)
    location.at("checks").report({
      message: '"checks" has no effect: the route has no check',
      hint: "checks are keys of a body and of a prerequisite",
    });
}

/** Compiles the key `failures` of a route. @param body that the route takes */
export function compileFailures(
  definition: RouteDefinition,
  body: BodyRules | undefined,
  { prerequisites }: { readonly prerequisites: ReadonlyMap<string, PrerequisiteDefinition> },
  location: SourceLocation,
): RouteFailures {
  const { failures = {} } = definition;
  const used = definition.prerequisites?.flatMap((name) => prerequisites.get(name)?.checks ?? []) ?? [];
  const checks: readonly Failure[] = [...(body?.checks ?? []), ...used];
  reportUnused(definition, checks.length > 0, location);
  const all = [...checks, failures.checks, ...Object.values(failures.prerequisites ?? {})];
  return {
    checkFailure: failures.checks,
    ownStatuses: [...new Set(all.flatMap((each) => each?.status ?? []))],
  };
}

/** Reports codes of failures: the client's errors have no place for them. */
export function reportFailureCodes(
  { prerequisites }: DialectDefinition,
  files: readonly LocatedFile<ResourceDefinition>[],
  pack: SourceLocation,
): void {
  const report = (
    failures: Readonly<Record<string, Failure>> | readonly Failure[] = {},
    at: SourceLocation,
  ) => {
    for (const [key, { code }] of Object.entries(failures))
      if (code !== undefined)
        at.at(Array.isArray(failures) ? Number(key) : key, "code").report(
          '"code" has no effect: the errors of clients have no $code ("responses.error")',
        );
  };
  for (const [name, { checks }] of Object.entries(prerequisites))
    report(checks, pack.at("prerequisites", name, "checks"));
  for (const { definition, location } of files) {
    for (const [name, { checks }] of Object.entries(definition.bodies ?? {}))
      report(checks, location.at("bodies", name, "checks"));
    for (const [index, { failures = {} }] of (definition.routes ?? []).entries()) {
      const at = location.at("routes", index, "failures");
      report(failures.checks && { checks: failures.checks }, at);
      report(failures.prerequisites, at.at("prerequisites"));
    }
  }
}
