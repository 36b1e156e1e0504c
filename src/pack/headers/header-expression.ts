/** Expressions that compute values of headers. */
import type { SourceLocation } from "../../base/index.ts";
import { compileScoped, type Phase } from "../expressions/scope.ts";
import type { Scope } from "../translation-context.ts";

/**
 * Compiles an expression that runs synchronously, because headers are written synchronously. Reports an expression that
 * can't be compiled.
 *
 * @param own Additional variables, with functions that read them from the context. Only these are computed.
 */
export function compileHeaderExpression<Context>(
  source: string,
  own: Readonly<Record<string, (context: Context) => unknown>>,
  location: SourceLocation,
  phase: Phase,
): (input: unknown, scope: Scope, context: Context) => unknown {
  const { evaluate, variables, fallback } = compileScoped(source, location, phase, Object.keys(own));
  if (fallback !== undefined)
    location.report({
      message: "this expression can't be compiled, and a header waits for no other",
      hint: fallback,
    });
  const used = Object.entries(own).filter(([name]) => variables.has(name));
  return (input, scope, context) => {
    const given = Object.fromEntries(used.map(([name, valueOf]) => [name, valueOf(context)]));
    const value = evaluate(input, scope, given);
    if (!(value instanceof Promise)) return value;
    // This only happens in tests that interpret all expressions to compare results.
    value.catch(() => undefined);
    return undefined;
  };
}

/** Returns the text of a value; undefined for null, missing values, objects and lists. */
export function toHeaderText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
