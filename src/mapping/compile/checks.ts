import type { ErrorDetail } from "../../dialect/http-error.ts";
import { mapMaybe, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import { compileExpressionAt, type SourceLocation } from "../load/source-location.ts";
import type { JsonObject } from "../translation-context.ts";

/**
 * A rule that JSON Schema can't express: an expression whose result is the reason of an error, or undefined. Without
 * `field` the error concerns the whole request.
 */
export interface CheckDefinition {
  readonly field?: string | undefined;
  readonly fault: string;
}

/** Compiles checks to a function that returns all errors. @param variables Names of the variables that they may read. */
export function compileChecks(
  definitions: readonly CheckDefinition[],
  variables: readonly string[],
  location: SourceLocation,
): (body: JsonObject, bindings: Readonly<Record<string, unknown>>) => MaybePromise<ErrorDetail[]> {
  const checks = definitions.map(({ field, fault }, index) => ({
    field,
    fault: compileExpressionAt(location.at(index, "fault"), fault, variables),
  }));
  return (body, bindings) =>
    thenMaybe(
      mapMaybe(checks, ({ fault }) => fault.evaluate(body, bindings)),
      (reasons) =>
        checks.flatMap(({ field }, index) => {
          const reason = reasons[index];
          if (typeof reason !== "string") return [];
          return [field === undefined ? { reason } : { field, reason }];
        }),
    );
}
