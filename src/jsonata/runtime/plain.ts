import { isExactNumber } from "../../dialect/json/parse.ts";
import { setMember } from "./values.ts";

/**
 * Copies a result, because its arrays have hidden marks and it may be a part of the input. Functions become undefined.
 * Exact numbers are immutable and are not copied.
 */
export function copyPlain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
  if (Array.isArray(value)) return Array.from(value, copyPlain).filter((item) => item !== undefined);
  if (isExactNumber(value)) return value;
  if (isFunction(value)) return undefined;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const plain = copyPlain(member);
    if (plain !== undefined) setMember(copy, name, plain);
  }
  return copy;
}

/** In the interpreter, built-in functions and lambdas are objects with one of these members. */
const isFunction = (value: object): boolean => "_jsonata_function" in value || "_jsonata_lambda" in value;
