/** Expressions whose results are values of headers. */
import type { Bindings } from "../../jsonata/index.ts";
import type { SourceLocation } from "../../base/index.ts";
import { compileExpressionAt } from "../load/compile-expression.ts";

/**
 * Compiles an expression that runs at once: a header waits for no promise. Reports one that can't be compiled.
 *
 * @param variables that it may read, and how each is taken from the context. Others are not computed.
 */
export function compileHeaderExpression<Context>(
  source: string,
  variables: Readonly<Record<string, (context: Context) => unknown>>,
  location: SourceLocation,
): (input: unknown, context: Context) => unknown {
  const expression = compileExpressionAt(location, source, Object.keys(variables));
  if (expression.fallback !== undefined)
    location.report({
      message: "this expression can't be compiled, and a header waits for no other",
      hint: expression.fallback,
    });
  const used = Object.entries(variables).filter(([name]) => expression.variables.has(name));
  return (input, context) => {
    const bindings: Bindings = Object.fromEntries(used.map(([name, valueOf]) => [name, valueOf(context)]));
    const value = expression.evaluate(input, bindings);
    if (!(value instanceof Promise)) return value;
    // Only if all expressions are interpreted, to compare the results of fields.
    value.catch(() => undefined);
    return undefined;
  };
}

/** Returns the text of a value; undefined for null, nothing, objects and lists. */
export function toHeaderText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
