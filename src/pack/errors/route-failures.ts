/** The errors of a route whose checks or calls fail. */
import type { Failure } from "./http-error.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { CallDefinition } from "../calls/call-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import type { BodyRules } from "../bodies/body.ts";
import type { LocatedFile } from "../load/resource-files.ts";

/** The keys of a route about failed checks. */
export type RouteFailures = ReturnType<typeof compileFailures>;

/** Compiles the key `failures` of a route. @param body that the route takes @param calls that the route makes */
export function compileFailures(
  { failures = {} }: RouteDefinition,
  body: BodyRules | undefined,
  calls: readonly CallDefinition[],
  location: SourceLocation,
) {
  const checks: readonly Failure[] = [...(body?.checks ?? []), ...calls.flatMap((call) => call.checks ?? [])];
  if (failures.checks && checks.length === 0)
    location.at("checks").report({
      message: '"checks" has no effect: the route has no check',
      hint: "checks are keys of a body and of a call",
    });
  const all = [...checks, failures.checks, ...calls.map(({ failure }) => failure)];
  return {
    /** The status and the code of checks without their own. */
    checkFailure: failures.checks,
    /** Statuses of its errors that not every route may have. */
    ownStatuses: [...new Set(all.flatMap((each) => each?.status ?? []))],
  };
}

/** Reports codes of failures: the client's errors have no place for them. */
export function reportFailureCodes(
  { calls: shared }: DialectDefinition,
  files: readonly LocatedFile<ResourceDefinition>[],
  pack: SourceLocation,
): void {
  const report = (failure: Failure | undefined, at: SourceLocation): void => {
    if (failure?.code !== undefined)
      at.at("code").report('"code" has no effect: the errors of clients have no $code ("responses.error")');
  };
  const reportChecks = (checks: readonly Failure[] = [], at: SourceLocation): void =>
    checks.forEach((check, index) => report(check, at.at(index)));
  const reportCall = ({ checks, failure }: CallDefinition, at: SourceLocation): void => {
    reportChecks(checks, at.at("checks"));
    report(failure, at.at("failure"));
  };
  for (const [name, call] of Object.entries(shared)) reportCall(call, pack.at("calls", name));
  for (const { definition, location } of files) {
    for (const [name, { checks }] of Object.entries(definition.bodies ?? {}))
      reportChecks(checks, location.at("bodies", name, "checks"));
    for (const [index, { failures = {}, calls = [] }] of (definition.routes ?? []).entries()) {
      const at = location.at("routes", index);
      report(failures.checks, at.at("failures", "checks"));
      calls.forEach((call, place) => {
        if (typeof call !== "string") reportCall(call, at.at("calls", place));
      });
    }
  }
}
