/** Codes of failed checks and calls. */
import type { Failure } from "./http-error.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { CallDefinition } from "../calls/call-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { LocatedFile } from "../load/resource-files.ts";

/** Reports codes of failures where the errors of clients have no place for a code. */
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
