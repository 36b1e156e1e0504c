import { isExactNumber, type JsonText, setMember, toJsonText } from "../../base/index.ts";
import { checkSize, isInterpretedFunction, MAX_RESULT } from "./guard.ts";

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

/** Prints the result of {@link copyPlain}. Only a value that the copy changes is copied. @throws {Failure} too_large */
export function printResult(value: unknown): JsonText {
  checkSize(value, "the expression", MAX_RESULT);
  return toJsonText(isChangedByCopy(value) ? copy(value) : value);
}

/** Whether the copy of a value omits a part that printing would write as null or as an object. */
function isChangedByCopy(value: unknown): boolean {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return false;
  if (!Array.isArray(value))
    return isInterpretedFunction(value) || Object.values(value).some(isChangedByCopy);
  // A loop, because `some` does not visit holes.
  for (const item of value)
    if (item === undefined || typeof item === "function" || isChangedByCopy(item)) return true;
  return false;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
  if (Array.isArray(value)) return Array.from(value, copy).filter((item) => item !== undefined);
  if (isExactNumber(value)) return value;
  if (isInterpretedFunction(value)) return undefined;
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const plain = copy(member);
    if (plain !== undefined) setMember(members, name, plain);
  }
  return members;
}
