/** Compiles the expressions of a pack, and reports their errors at their locations. */
import {
  check,
  compile,
  type Expression,
  ExpressionError,
  findLiteralArguments,
  type MaybePromise,
  thenMaybe,
} from "../../jsonata/index.ts";
import { type Origin, type SourceLocation, suggestionFor } from "../../base/index.ts";
import { withFunctions } from "./pack-functions.ts";

/** Replaces an expression with errors. It never runs, since the pack is rejected. */
const INVALID_EXPRESSION: Expression = {
  source: "",
  origin: undefined,
  variables: new Set(),
  inputNames: new Map(),
  requiredVariables: new Set(),
  engine: "compiled",
  evaluate: () => undefined,
  print: () => undefined,
};

/** The value kinds of a pack, with the members that `$values` needs. */
type Kinds = ReadonlyMap<string, { readonly lookup: unknown }>;

/** Reports names in `$values("name", …)` that are not value kinds, and kinds that contain no values for it. */
function reportUnknownKinds(location: SourceLocation, source: string, kinds: Kinds): void {
  for (const { text, offset } of findLiteralArguments(source, "values")) {
    const kind = kinds.get(text);
    if (kind && kind.lookup === undefined)
      location.report(
        {
          message: `$values has no value of "${text}": its "read" is no table, and can't be compiled`,
          code: "invalid-expression",
        },
        offset,
      );
    if (!kind && !location.isRemoved(text))
      location.report(
        {
          message: `unknown value kind "${text}"`,
          hint: suggestionFor(text, [...kinds.keys()]),
          code: "unknown-reference",
        },
        offset,
      );
  }
}

/**
 * Checks and compiles the expression at a location.
 *
 * @param variables The names that the expression may read.
 * @param kinds The value kinds for `$values`, if the expression may call it.
 */
export function compileExpressionAt(
  location: SourceLocation,
  source: string,
  variables: readonly string[],
  kinds?: Kinds,
): Expression {
  const bound = new Set(variables);
  const { functions } = location;
  const errors = location.isChecked ? [] : check(source, new Set([...bound, ...functions.keys()]));
  for (const { message, offset } of errors) location.report({ message, code: "invalid-expression" }, offset);
  if (kinds && errors.length === 0 && !location.isChecked && source.includes("$values"))
    reportUnknownKinds(location, source, kinds);
  return errors.length > 0
    ? INVALID_EXPRESSION
    : compile(withFunctions(source, functions), bound, location.origin);
}

/** Evaluates an expression; returns its failure as a value. */
export function failureAsValue<T>(evaluate: () => MaybePromise<T>): MaybePromise<T | ExpressionError> {
  const toValue = (error: unknown): ExpressionError => {
    if (error instanceof ExpressionError) return error;
    throw error;
  };
  try {
    const result = evaluate();
    return result instanceof Promise ? result.catch(toValue) : result;
  } catch (error) {
    return toValue(error);
  }
}

/** Evaluates an expression from a different location for the field at this location: its errors contain both. */
export function evaluateFor<T>(user: Origin, evaluate: () => MaybePromise<T>): MaybePromise<T> {
  return thenMaybe(failureAsValue(evaluate), (result) => {
    if (result instanceof ExpressionError) throw result.usedBy(user);
    return result;
  });
}
