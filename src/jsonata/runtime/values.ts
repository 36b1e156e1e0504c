import { Failure } from "./failure.ts";
import type { List } from "./sequence.ts";

/** Questions about single values: is it a number, does it count as true, are two the same. */

/** A number that JSON holds. @throws {Failure} D1001 for an infinite one. */
export function isNumeric(value: unknown, position = 0): value is number {
  if (typeof value !== "number" || Number.isNaN(value)) return false;
  if (!Number.isFinite(value)) throw new Failure("D1001", position);
  return true;
}

/** What JSONata counts as true: never a function, and a list as soon as one member does. */
export function truth(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  if (typeof value === "string") return value !== "";
  if (typeof value === "number") return isNumeric(value) && value !== 0;
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.some(truth) : Object.keys(value).length > 0;
}

/** `=`, which nothing equals that is missing. */
export function equal(left: unknown, right: unknown): boolean {
  if (left === right) return left !== undefined;
  return typeof left === "object" && typeof right === "object" && same(left, right);
}

/** `!=`, which nothing differs from that is missing. */
export function differ(left: unknown, right: unknown): boolean {
  return left !== undefined && right !== undefined && !equal(left, right);
}

/** Deep equality of JSON values; the order of an object's members does not count. */
export function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((member, index) => same(member, right[index]));
  const names = Object.getOwnPropertyNames(left);
  if (names.length !== Object.getOwnPropertyNames(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && same(member(left, name), member(right, name)));
}

const member = (value: object, name: string): unknown => (value as Record<string, unknown>)[name];

/** `in`: whether a list has a value as a member; objects are never members. */
export function includes(value: unknown, list: unknown): boolean {
  if (value === undefined || list === undefined) return false;
  return Array.isArray(list) ? list.some((member) => member === value) : list === value;
}

const replacer = (_key: string, value: unknown): unknown => {
  if (typeof value === "function") return "";
  return isNumeric(value) && !Number.isInteger(value) ? rounded(value) : value;
};

/** Numbers print with 15 digits: what a sum of decimals is off by stands behind them. */
const rounded = (value: number): number => Number(value.toPrecision(15));

/** The text of a value that is there, as `&` and `$string` print it. */
export function text(value: unknown, pretty = false): string {
  if (typeof value === "string") return value;
  if (typeof value === "function") return "";
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Failure("D3001");
    return String(Number.isInteger(value) ? value : rounded(value));
  }
  const whole: unknown = Array.isArray(value) && (value as List).outerWrapper ? value[0] : value;
  return JSON.stringify(whole, replacer, pretty ? 2 : 0);
}

/** `&`: what is missing has no text. */
export function join(left: unknown, right: unknown, position: number): string {
  try {
    return (left === undefined ? "" : text(left)) + (right === undefined ? "" : text(right));
  } catch (thrown) {
    if (thrown instanceof Failure) thrown.position = position;
    throw thrown;
  }
}

/** Sets a member whatever its name is: `__proto__` too is a member like any other. */
export function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
