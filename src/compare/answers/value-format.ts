/** Compares two different values by their JSON type, meaning, format and distance. */
import { isExactNumber, isObject } from "../../base/index.ts";

type JsonType = "null" | "array" | "object" | "number" | "string" | "boolean";

/** Returns the JSON type of a value from `parseJson`. */
export function jsonType(value: unknown): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (isObject(value)) return "object";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "number";
}

/** Whether two scalars are the same. */
export const areSame = (one: unknown, other: unknown): boolean =>
  one === other || (isExactNumber(one) && isExactNumber(other) && one.rawJSON === other.rawJSON);

/** Matches a date, with or without a time. Longer texts are not times. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(\.\d{1,9})?)?)?(Z|[+-]\d\d:?\d\d)?$/;
const MAX_TIME = 40;

/** Converts a time to milliseconds since the epoch; undefined for any other text. A time without a zone is UTC. */
function timeOf(text: string): number | undefined {
  const match = text.length <= MAX_TIME ? TIME.exec(text) : null;
  if (!match) return undefined;
  const [, fraction = "", zone] = match;
  const written = text.replace(" ", "T").replace(/([+-]\d\d)(\d\d)$/, zone?.includes(":") ? "$&" : "$1:$2");
  const short = fraction.length > 4 ? written.replace(fraction, fraction.slice(0, 4)) : written;
  const time = Date.parse(zone === undefined && short.includes("T") ? `${short}Z` : short);
  return Number.isNaN(time) ? undefined : time;
}

/** Returns the position of a value: a number, or a time in milliseconds. Undefined for all other values. */
function positionOf(value: unknown): number | undefined {
  if (isExactNumber(value)) return Number(value.rawJSON);
  if (typeof value === "number") return value;
  return typeof value === "string" ? timeOf(value) : undefined;
}

/** Returns the number of digits after the decimal point. */
function decimalsOf(value: unknown): number {
  const text = isExactNumber(value) ? value.rawJSON : String(value);
  const [, fraction = "", exponent = "0"] = /^-?\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

/** Whether two numbers are equal after the more precise one is rounded, up or down, to the digits of the other. */
function areRounded(one: unknown, other: unknown): boolean {
  const digits = Math.min(decimalsOf(one), decimalsOf(other));
  const [a, b] = [positionOf(one), positionOf(other)];
  if (a === undefined || b === undefined || decimalsOf(one) === decimalsOf(other)) return false;
  return Math.abs(a - b) < 10 ** -digits;
}

/** Whether two different scalars have the same meaning in two formats: digits, zone, precision, letter case. */
function isOtherFormat(old: unknown, other: unknown): boolean {
  if (typeof old !== "string" || typeof other !== "string") return areRounded(old, other);
  if (old.toLowerCase() === other.toLowerCase()) return true;
  const [time, otherTime] = [timeOf(old), timeOf(other)];
  if (time === undefined || otherTime === undefined) return false;
  return templateOf(old) !== templateOf(other) && Math.floor(time / 1000) === Math.floor(otherTime / 1000);
}

/** Returns the format of a time: `0000-00-00T00:00:00.000Z`, with `+00:00` for all zones of that form. */
const templateOf = (text: string): string => text.replace(/[+-](\d\d:?\d\d)$/, "+$1").replaceAll(/\d/g, "0");

const MAX_PATTERN = 40;

/**
 * Returns the format of a scalar in a few words that do not depend on its value: for a number the digits after the
 * decimal point, for a time its template, for other texts the kinds of letters and punctuation.
 */
export function formatsOf(value: unknown): string[] {
  if (typeof value === "boolean") return [];
  if (typeof value !== "string") return [`decimals ${Math.min(9, decimalsOf(value))}`];
  if (timeOf(value) !== undefined) return [`time ${templateOf(value)}`];
  const signs = value.slice(0, 200).replaceAll(/[\p{L}\p{N}]+/gu, "w");
  return [
    "text",
    ...(/\p{Lu}/u.test(value) ? ["upper case"] : []),
    ...(/\p{Ll}/u.test(value) ? ["lower case"] : []),
    ...(/\p{N}/u.test(value) ? ["digits"] : []),
    `signs ${signs.slice(0, MAX_PATTERN)}`,
  ];
}

/** Returns how two scalars differ if nothing is known about their field. */
export const judgePlainly = (_field: string, old: unknown, other: unknown): "format" | "value" =>
  isOtherFormat(old, other) ? "format" : "value";

/** Returns the distance of two numbers, or of two times in milliseconds; undefined for other values. */
export function distanceOf(one: unknown, other: unknown): number | undefined {
  const distance = Math.abs((positionOf(one) ?? Number.NaN) - (positionOf(other) ?? Number.NaN));
  return Number.isFinite(distance) ? distance : undefined;
}
