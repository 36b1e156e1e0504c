import { Failure } from "./failure.ts";
import { checkSize, checkText, MAX_TEXT, tick } from "./guard.ts";
import { isList } from "./sequence.ts";

/** Whether a value is a finite number. @throws {Failure} D1001 If it is infinite. */
export function isNumeric(value: unknown): value is number {
  if (typeof value !== "number" || Number.isNaN(value)) return false;
  if (!Number.isFinite(value)) throw new Failure("D1001");
  return true;
}

/** Whether JSONata treats a value as true. A list is true if one of its members is; a function is never true. */
export function isTruthy(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  if (typeof value === "string") return value !== "";
  if (typeof value === "number") return isNumeric(value) && value !== 0;
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.some(isTruthy) : Object.keys(value).length > 0;
}

/** The operator `=`. False if a value is undefined. */
export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return left !== undefined;
  return typeof left === "object" && typeof right === "object" && isDeepEqual(left, right);
}

/** The operator `!=`. False if a value is undefined. */
export function isDifferent(left: unknown, right: unknown): boolean {
  return left !== undefined && right !== undefined && !isEqual(left, right);
}

/** Whether two JSON values are deeply equal. The order of members does not matter. */
function isDeepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  tick();
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((member, index) => isDeepEqual(member, right[index]));
  const names = Object.getOwnPropertyNames(left);
  if (names.length !== Object.getOwnPropertyNames(right).length) return false;
  return names.every(
    (name) => Object.hasOwn(right, name) && isDeepEqual(member(left, name), member(right, name)),
  );
}

const member = (value: object, name: string): unknown => (value as Record<string, unknown>)[name];

/** The operator `in`: whether a list contains a value. Objects are compared by identity. */
export function isMember(value: unknown, list: unknown): boolean {
  if (value === undefined || list === undefined) return false;
  return Array.isArray(list) ? list.some((member) => member === value) : list === value;
}

const replacer = (_key: string, value: unknown): unknown => {
  if (typeof value === "function") return "";
  return isNumeric(value) && !Number.isInteger(value) ? roundForPrint(value) : value;
};

/** Numbers are printed with 15 digits, which hides the rounding errors of decimal sums. */
const roundForPrint = (value: number): number => Number(value.toPrecision(15));

/** Prints a defined value as `&` and `$string` do. @throws {Failure} D3001 If a number is not finite. */
export function printText(value: unknown, pretty = false): string {
  if (typeof value === "string") return value;
  if (typeof value === "function") return "";
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Failure("D3001");
    return String(Number.isInteger(value) ? value : roundForPrint(value));
  }
  const whole: unknown = isList(value) && value.outerWrapper ? value[0] : value;
  checkSize(whole, "the text of a value", MAX_TEXT);
  return JSON.stringify(whole, replacer, pretty ? 2 : 0);
}

/** The operator `&`. Undefined is printed as an empty string. @throws {Failure} D3001, too_large */
export function joinText(left: unknown, right: unknown): string {
  const text = (left === undefined ? "" : printText(left)) + (right === undefined ? "" : printText(right));
  checkText(text.length, "&");
  return text;
}
