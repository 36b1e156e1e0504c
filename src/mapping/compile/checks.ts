import { INVALID_VALUE, type ErrorDetail } from "../../dialect/http-error.ts";
import { ExpressionError, mapMaybe, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import { compileExpressionAt, failureAsValue, type SourceLocation } from "../load/source-location.ts";
import type { JsonObject } from "../translation-context.ts";

/**
 * A rule that JSON Schema can't express: an expression whose result is the reason of an error, or undefined. Without
 * `field` the error concerns the whole request.
 */
export interface CheckDefinition {
  readonly field?: string | undefined;
  readonly message: string;
}

/**
 * Compiles checks to a function that returns all errors. A check that fails on a value makes it invalid.
 *
 * @param variables Names of the variables that they may read.
 */
export function compileChecks(
  definitions: readonly CheckDefinition[],
  variables: readonly string[],
  location: SourceLocation,
): (body: JsonObject, bindings: Readonly<Record<string, unknown>>) => MaybePromise<ErrorDetail[]> {
  const checks = definitions.map(({ field, message }, index) => ({
    field,
    message: compileExpressionAt(location.at(index, "message"), message, variables),
  }));
  return (body, bindings) =>
    thenMaybe(
      mapMaybe(checks, ({ message }) => failureAsValue(() => message.evaluate(body, bindings))),
      (reasons) =>
        checks.flatMap(({ field }, index) => {
          const result = reasons[index];
          if (result instanceof ExpressionError)
            return [{ ...(field !== undefined && { field }), reason: INVALID_VALUE, cause: result }];
          if (typeof result !== "string") return [];
          return [field === undefined ? { reason: result } : { field, reason: result }];
        }),
    );
}
