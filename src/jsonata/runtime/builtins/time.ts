import { Failure } from "../failure.ts";
import { dateIn, formatTime } from "./format-time.ts";
import { parseTime } from "./parse-time.ts";

const TIMESTAMP = /^\d{4}(-[01]\d)?(-[0-3]\d)?(T[0-2]\d:[0-5]\d:[0-5]\d)?(\.\d+)?([+-][0-2]\d:?[0-5]\d|Z)?$/;

/**
 * Checks the result of `$toMillis`. JSONata itself gives no number for a text such as `2020-13-01`.
 *
 * @throws {Failure} D3110, or no_date with a picture
 */
export function checkMillis(millis: number | undefined, picture: string | undefined): number | undefined {
  if (Number.isNaN(millis)) throw new Failure(picture === undefined ? "D3110" : "no_date");
  return millis;
}

/** `$toMillis`: milliseconds since the epoch of a timestamp, of ISO 8601 or of a picture. @throws {Failure} D3110, D3136, no_date */
export function toMillis(timestamp?: string, picture?: string): number | undefined {
  if (timestamp === undefined) return undefined;
  if (picture !== undefined) return checkMillis(parseTime(timestamp, picture), picture);
  if (!TIMESTAMP.test(timestamp)) throw new Failure("D3110");
  return checkMillis(Date.parse(timestamp), picture);
}

/**
 * `$fromMillis`: prints a time, in ISO 8601 or by a picture. Unlike in JavaScript, a year is printed with its last four
 * digits, and a minus sign if negative.
 *
 * @throws {Failure} D3130 to D3135 If the picture is invalid, no_date.
 */
export function fromMillis(millis?: number, picture?: string, zone?: string): string | undefined {
  if (millis === undefined) return undefined;
  if (picture !== undefined || zone !== undefined) return formatTime(millis, picture, zone);
  const { date } = dateIn(millis);
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, "0").slice(-4);
  return (year < 0 ? "-" : "") + digits + date.toISOString().replace(/^[+-]?\d+/, "");
}
