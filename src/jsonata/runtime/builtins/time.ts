import { CALLER, dateIn, findLibraryFunction } from "../library.ts";

/**
 * `$fromMillis`: prints a time in ISO 8601. Pictures and time zones are left to the package, whose default picture is slow.
 * Unlike in JavaScript, a year is printed with its last four digits, and a minus sign if negative.
 *
 * @throws {Failure} D3130 to D3135 If the picture is invalid, no_date.
 */
export function fromMillis(millis?: number, picture?: string, zone?: string): unknown {
  if (millis === undefined) return undefined;
  if (picture !== undefined || zone !== undefined)
    return findLibraryFunction("fromMillis").implementation.call(CALLER, millis, picture, zone);
  const date = dateIn(millis);
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, "0").slice(-4);
  return (year < 0 ? "-" : "") + digits + date.toISOString().replace(/^[+-]?\d+/, "");
}
