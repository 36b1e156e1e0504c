import { Failure } from "../failure.ts";
import { callLibrary, checkMillis, dateIn } from "../library.ts";

const TIMESTAMP = /^\d{4}(-[01]\d)?(-[0-3]\d)?(T[0-2]\d:[0-5]\d:[0-5]\d)?(\.\d+)?([+-][0-2]\d:?[0-5]\d|Z)?$/;

/**
 * `$toMillis`: milliseconds since the epoch of a timestamp of ISO 8601. Pictures are left to jsonata.
 *
 * @throws {Failure} D3110, D3136, no_date
 */
export function toMillis(timestamp?: string, picture?: string): unknown {
  if (timestamp === undefined) return undefined;
  if (picture !== undefined) return callLibrary("toMillis", timestamp, picture);
  if (!TIMESTAMP.test(timestamp)) throw new Failure("D3110");
  return checkMillis(Date.parse(timestamp), picture);
}

/**
 * `$fromMillis`: prints a time in ISO 8601. Pictures and time zones are left to jsonata. Unlike in JavaScript, a year is
 * printed with its last four digits, and a minus sign if negative.
 *
 * @throws {Failure} D3130 to D3135 If the picture is invalid, no_date.
 */
export function fromMillis(millis?: number, picture?: string, zone?: string): unknown {
  if (millis === undefined) return undefined;
  if (picture !== undefined || zone !== undefined) return callLibrary("fromMillis", millis, picture, zone);
  const date = dateIn(millis);
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, "0").slice(-4);
  return (year < 0 ? "-" : "") + digits + date.toISOString().replace(/^[+-]?\d+/, "");
}
