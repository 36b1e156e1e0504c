import { Failure } from "../failure.ts";
import { formatTime } from "./format-time.ts";
import { parseTime } from "./parse-time.ts";

const TIMESTAMP = /^\d{4}(-[01]\d)?(-[0-3]\d)?(T[0-2]\d:[0-5]\d:[0-5]\d)?(\.\d+)?([+-][0-2]\d:?[0-5]\d|Z)?$/;

/** `$toMillis`: milliseconds since the epoch of a timestamp, of ISO 8601 or of a picture. @throws {Failure} D3110, D3136 */
export function toMillis(timestamp?: string, picture?: string): number | undefined {
  if (timestamp === undefined) return undefined;
  if (picture !== undefined) return parseTime(timestamp, picture);
  if (!TIMESTAMP.test(timestamp)) throw new Failure("D3110");
  return Date.parse(timestamp);
}

/** The result of the interpreter for a time beyond the range of JavaScript's calendar. */
const BEYOND = "0NaN-NaN-NaNTNaN:NaN:NaN.NaNZ";

/**
 * `$fromMillis`: prints a time, in ISO 8601 or by a picture. Unlike in JavaScript, a year is printed with its last four
 * digits, and a minus sign if negative.
 *
 * @throws {Failure} D3130 to D3135 If the picture is invalid.
 */
export function fromMillis(millis?: number, picture?: string, zone?: string): string | undefined {
  if (millis === undefined) return undefined;
  if (picture !== undefined || zone !== undefined) return formatTime(millis, picture, zone);
  const date = new Date(millis);
  if (Number.isNaN(date.getTime())) return BEYOND;
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, "0").slice(-4);
  return (year < 0 ? "-" : "") + digits + date.toISOString().replace(/^[+-]?\d+/, "");
}
