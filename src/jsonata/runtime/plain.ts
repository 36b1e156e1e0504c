import { isExactNumber } from "../../dialect/json/parse.ts";
import { put } from "./values.ts";

/**
 * Copies a result out of the engine: its arrays bear hidden marks, and it can be a part of the input.
 * A function is nothing in JSON, and an exact number is one value that never changes.
 */
export function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
  if (Array.isArray(value)) return Array.from(value, plain).filter((item) => item !== undefined);
  if (isExactNumber(value)) return value;
  if (isFunction(value)) return undefined;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const known = plain(member);
    if (known !== undefined) put(copy, name, known);
  }
  return copy;
}

/** How the interpreter marks built-in functions and lambdas, which are objects there. */
const isFunction = (value: object): boolean => "_jsonata_function" in value || "_jsonata_lambda" in value;
