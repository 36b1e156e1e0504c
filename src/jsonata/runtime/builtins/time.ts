import { Failure } from "../failure.ts";

// Time functions without pictures: ISO 8601 timestamps only.

const TIMESTAMP = /^\d{4}(-[01]\d)?(-[0-3]\d)?(T[0-2]\d:[0-5]\d:[0-5]\d)?(\.\d+)?([+-][0-2]\d:?[0-5]\d|Z)?$/;

/** `$toMillis`: milliseconds since the epoch of a timestamp. @throws {Failure} D3110 */
export function toMillis(timestamp?: string): number | undefined {
  if (timestamp === undefined) return undefined;
  if (!TIMESTAMP.test(timestamp)) throw new Failure("D3110");
  return Date.parse(timestamp);
}

/** The result of the interpreter for a time beyond the range of JavaScript's calendar. */
const BEYOND = "0NaN-NaN-NaNTNaN:NaN:NaN.NaNZ";

/** `$fromMillis`. Unlike in JavaScript, a year is printed with its last four digits, and a minus sign if negative. */
export function fromMillis(millis?: number): string | undefined {
  if (millis === undefined) return undefined;
  const date = new Date(millis);
  if (Number.isNaN(date.getTime())) return BEYOND;
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, "0").slice(-4);
  return (year < 0 ? "-" : "") + digits + date.toISOString().replace(/^[+-]?\d+/, "");
}
