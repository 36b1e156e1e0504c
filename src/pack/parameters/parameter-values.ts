/** The values of query parameters in the upstream's query and path. */
import { ValidationError, INVALID_VALUE, type ErrorDetail } from "../errors/http-error.ts";
import { formatParameter, shortName } from "../paths/query.ts";
import { ExpressionError, type MaybePromise } from "../../jsonata/index.ts";
import { isText } from "../paths/router.ts";
import type { JsonObject, Scope } from "../translation-context.ts";
import { isOperand, UnknownValue } from "../values/value-kind.ts";

/** One value that is sent to the upstream for a parameter: in its query, or in its path. */
export interface ParameterTarget {
  /** The client's name of the parameter. */
  readonly field: string;
  readonly upstream: string | undefined;
  readonly path: string | undefined;
  /** How the upstream separates several values; undefined if there is only one. */
  readonly separation: "repeat" | "comma" | undefined;
  /** Whether a value that is not a list is the text of all values, so that it may contain commas. */
  readonly isWhole: boolean;
  /** Returns the upstream's value; undefined if nothing is sent. @throws {ExpressionError} */
  readonly write: (value: unknown, all: JsonObject, scope: Scope) => MaybePromise<unknown>;
  /** Whether the translation reads the scope. */
  readonly readsScope: boolean;
}

const INVALID = Symbol("invalid");

/** Returns the text of a parameter in the upstream's query; empty if it is not sent. */
function print(
  { field, upstream, separation, isWhole }: ParameterTarget,
  value: unknown,
): string | Error | typeof INVALID {
  if (upstream === undefined || value === undefined || value === null) return "";
  const all: unknown[] = [value].flat();
  if (!all.every(isOperand)) return INVALID;
  const texts = all.map(String);
  if (separation !== "comma" || (isWhole && !Array.isArray(value)))
    return texts.map((text) => formatParameter(upstream, text)).join("&");
  // The upstream would read the text as two values.
  if (texts.some((text) => text.includes(",")))
    return new Error(`a value of "${shortName(field)}" has a comma, at which the upstream separates values`);
  return texts.length === 0 ? "" : formatParameter(upstream, texts.join(","));
}

/** The translation of a query. */
export type PlacedValues = ReturnType<typeof placeValues>;

/** Puts the upstream's values into its path and its query. @throws {ValidationError} for values that neither can contain */
export function placeValues(targets: readonly ParameterTarget[], values: readonly unknown[]) {
  const path: Record<string, string> = {};
  const texts: string[] = [];
  const errors: ErrorDetail[] = [];
  for (const [index, target] of targets.entries()) {
    const value = values[index];
    const { path: name } = target;
    if (name !== undefined && isOperand(value) && isText(String(value))) {
      path[name] = String(value);
      continue;
    }
    const field = shortName(target.field);
    const unknown = [value].flat().find((each) => each instanceof UnknownValue);
    const isInvalid = value instanceof ExpressionError || name !== undefined;
    const text = unknown || isInvalid ? INVALID : print(target, value);
    const cause = [value, text].find((each) => each instanceof Error);
    if (unknown) errors.push({ field, reason: unknown.reason, rule: "enum" });
    else if (typeof text !== "string") errors.push({ field, reason: INVALID_VALUE, ...(cause && { cause }) });
    else if (text !== "") texts.push(text);
  }
  if (errors.length > 0) throw new ValidationError(errors);
  return {
    /** The upstream's query; empty if nothing is sent. */
    upstream: texts.join("&"),
    /** Values of the upstream's path by name. */
    path: path as Readonly<Record<string, string>>,
  };
}
