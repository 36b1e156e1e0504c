import type { ErrorDetail } from "../../dialect/http-error.ts";
import { mapMaybe, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import { compileExpressionAt, type SourceLocation } from "../load/source-location.ts";
import type { JsonObject } from "../translation-context.ts";

/** One rule that is no schema: an expression that gives the reason why `field`, or the call, is refused, or nothing. */
export interface CheckDefinition {
  readonly field?: string | undefined;
  readonly fault: string;
}

/** Compiles rules into a function that gives every fault. `known` are the variables that they may read. */
export function compileChecks(
  definitions: readonly CheckDefinition[],
  known: readonly string[],
  location: SourceLocation,
): (body: JsonObject, bindings: Readonly<Record<string, unknown>>) => MaybePromise<ErrorDetail[]> {
  const checks = definitions.map(({ field, fault }, index) => ({
    field,
    fault: compileExpressionAt(location.at(index, "fault"), fault, known),
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
