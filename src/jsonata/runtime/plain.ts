import { isExactNumber } from "../../dialect/json/parse.ts";
import { toJsonText, type JsonText } from "../../dialect/json/text.ts";
import { checkSize, MAX_RESULT } from "./guard.ts";
import { setMember } from "../../dialect/json/parse.ts";

/**
 * Copies a result, because its arrays have hidden marks and it may be a part of the input. Functions become undefined.
 * Exact numbers are immutable and are not copied.
 *
 * @throws {Failure} too_large
 */
export function copyPlain(value: unknown): unknown {
  checkSize(value, "the expression", MAX_RESULT);
  return copy(value);
}

/** Prints a result as JSON. @throws {Failure} too_large */
export function printResult(value: unknown): JsonText {
  checkSize(value, "the expression", MAX_RESULT);
  return toJsonText(value);
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
  if (Array.isArray(value)) return Array.from(value, copy).filter((item) => item !== undefined);
  if (isExactNumber(value)) return value;
  if (isFunction(value)) return undefined;
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const plain = copy(member);
    if (plain !== undefined) setMember(members, name, plain);
  }
  return members;
}

/** In the interpreter, built-in functions and lambdas are objects with one of these members. */
const isFunction = (value: object): boolean => "_jsonata_function" in value || "_jsonata_lambda" in value;
