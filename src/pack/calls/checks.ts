import { INVALID_VALUE, type ErrorDetail, type Failure } from "../errors/http-error.ts";
import { ExpressionError, mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { failureAsValue } from "../load/compile-expression.ts";
import { compileScoped, type ScopePlace } from "./scope.ts";
import type { Scope } from "../translation-context.ts";

/**
 * A rule that JSON Schema can't express: an expression whose result is the reason of an error, or undefined. Without
 * `field` the error concerns the whole request.
 */
export interface CheckDefinition extends Failure {
  readonly field?: string | undefined;
  readonly message: string;
}

/** The rule of an error that a check has found. */
const FAILED_CHECK = "failed_check";

/** Gives errors of checks the status and the code of the route, where the checks have none of their own. */
export const withFailure = (
  details: readonly ErrorDetail[],
  failure: Failure | undefined,
): readonly ErrorDetail[] =>
  failure
    ? details.map((detail) => (detail.rule === FAILED_CHECK ? { ...failure, ...detail } : detail))
    : details;

/**
 * Compiles checks of the client's body to a function that returns all errors. A check that fails on a value makes it invalid.
 *
 * @param place of the list of checks
 */
export function compileChecks(
  definitions: readonly CheckDefinition[],
  place: ScopePlace,
): (scope: Scope) => MaybePromise<ErrorDetail[]> {
  const checks = definitions.map(({ field, message, status, code }, index) => ({
    field,
    detail: {
      ...(field !== undefined && { field }),
      rule: FAILED_CHECK,
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
    },
    message: compileScoped(message, { ...place, location: place.location.at(index, "message") }),
  }));
  return (scope) =>
    thenMaybe(
      mapMaybe(checks, ({ message }) => failureAsValue(() => message.evaluate(scope.body ?? {}, scope))),
      (reasons) =>
        checks.flatMap(({ field, detail }, index): ErrorDetail[] => {
          const result = reasons[index];
          if (result instanceof ExpressionError)
            return [{ ...(field !== undefined && { field }), reason: INVALID_VALUE, cause: result }];
          return typeof result === "string" && result !== "" ? [{ ...detail, reason: result }] : [];
        }),
    );
}
