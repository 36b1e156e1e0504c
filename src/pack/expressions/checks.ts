import type { SourceLocation } from "../../base/index.ts";
import { INVALID_VALUE, type ErrorDetail, type Failure } from "../errors/http-error.ts";
import { ExpressionError, mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import type { CheckDefinition } from "./check-definition.ts";
import { failureAsValue } from "./compile-expression.ts";
import { compileScoped, type Phase } from "./scope.ts";
import type { Scope } from "../translation-context.ts";

/** The rule of an error that comes from a check. */
const FAILED_CHECK = "failed_check";

/** Sets the status and the code of the route in errors of checks, unless the checks define their own. */
export const withFailure = (
  details: readonly ErrorDetail[],
  failure: Failure | undefined,
): readonly ErrorDetail[] =>
  failure
    ? details.map((detail) => (detail.rule === FAILED_CHECK ? { ...failure, ...detail } : detail))
    : details;

/** Runs checks and returns their errors. */
export type RunChecks = (scope: Scope) => MaybePromise<ErrorDetail[]>;

/** Whether an expression only reads calls that have been sent. */
const readsOnly = (source: string, sent: readonly string[]): boolean =>
  [...source.matchAll(/\$calls\b(?:\.(\w+))?/g)].every(([, name = ""]) => sent.includes(name));

/**
 * Compiles checks. If a check fails on a value, the value is invalid.
 *
 * @param location the location of the list of checks
 * @param sent the names of the calls that are sent earlier
 */
export function compileChecks(
  definitions: readonly CheckDefinition[],
  location: SourceLocation,
  phase: Phase,
  sent: readonly string[],
) {
  const checks = definitions.map(({ field, message, status, code }, index) => ({
    field,
    detail: {
      ...(field !== undefined && { field }),
      rule: FAILED_CHECK,
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
    },
    message: compileScoped(message, location.at(index, "message"), phase),
    source: message,
  }));
  const runOf =
    (chosen: typeof checks): RunChecks =>
    (scope) =>
      thenMaybe(
        mapMaybe(chosen, ({ message }) => failureAsValue(() => message.evaluate(scope.body ?? {}, scope))),
        (reasons) =>
          chosen.flatMap(({ field, detail }, index): ErrorDetail[] => {
            const result = reasons[index];
            if (result instanceof ExpressionError)
              return [{ ...(field !== undefined && { field }), reason: INVALID_VALUE, cause: result }];
            return typeof result === "string" && result !== "" ? [{ ...detail, reason: result }] : [];
          }),
      );
  const isEarly = ({ message, source }: (typeof checks)[number]): boolean =>
    !message.variables.has("request") && readsOnly(source, sent);
  return {
    all: runOf(checks),
    /** Checks that need neither the upstream's body nor a later call. */
    early: runOf(checks.filter(isEarly)),
    /** The remaining checks. */
    late: runOf(checks.filter((check) => !isEarly(check))),
  };
}
