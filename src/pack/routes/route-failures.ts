/** The errors of a route whose checks or calls fail. */
import type { Failure } from "../errors/http-error.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { CallDefinition } from "../calls/call-definition.ts";
import type { RouteDefinition } from "./route-definition.ts";
import type { BodyRules } from "../bodies/body.ts";

/** What a route says about its checks that fail. */
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
    /** The status and the code of checks that have none of their own. */
    checkFailure: failures.checks,
    /** Statuses of its errors that not every route may have. */
    ownStatuses: [...new Set(all.flatMap((each) => each?.status ?? []))],
  };
}
