import { Failure } from "../failure.ts";

/** Built-in functions on points in time, without pictures: timestamps of ISO 8601 alone. */

const TIMESTAMP = /^\d{4}(-[01]\d)?(-[0-3]\d)?(T[0-2]\d:[0-5]\d:[0-5]\d)?(\.\d+)?([+-][0-2]\d:?[0-5]\d|Z)?$/;

export function toMillis(timestamp?: string): number | undefined {
  if (timestamp === undefined) return undefined;
  if (!TIMESTAMP.test(timestamp)) throw new Failure("D3110");
  return Date.parse(timestamp);
}

/** What the interpreter writes of a time that no calendar reaches. */
const BEYOND = "0NaN-NaN-NaNTNaN:NaN:NaN.NaNZ";

/** Years have their last four digits and a bare sign, unlike JavaScript's own. */
export function fromMillis(millis?: number): string | undefined {
  if (millis === undefined) return undefined;
  const date = new Date(millis);
  if (Number.isNaN(date.getTime())) return BEYOND;
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, "0").slice(-4);
  return (year < 0 ? "-" : "") + digits + date.toISOString().replace(/^[+-]?\d+/, "");
}
