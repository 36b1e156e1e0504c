/** Functions that are asynchronous or slow in the package, or whose errors must contain the size limit. */
import { call, type Callable } from "../call.ts";
import { checkText } from "../guard.ts";
import { CALLER, dateIn, findLibraryFunction } from "../library.ts";
import { sequence, type List } from "../sequence.ts";
import { printText } from "../values.ts";

/** `$string`: prints a value. @param pretty whether to indent the output */
export const string = (value: unknown, pretty?: boolean): string | undefined =>
  value === undefined ? undefined : printText(value, pretty);

/** `$join`: joins strings with a separator. */
export function join(values?: readonly string[], separator = ""): string | undefined {
  if (values === undefined) return undefined;
  const separators = separator.length * Math.max(0, values.length - 1);
  checkText(
    values.reduce((length, value) => length + value.length, separators),
    "$join",
  );
  return values.join(separator);
}

/**
 * `$map`: the results of a function for all members. The function gets as many arguments as it has parameters: value,
 * index, the whole list.
 */
export function map(values: readonly unknown[] | undefined, mapper: Callable): List | undefined {
  if (values === undefined) return undefined;
  const results = sequence();
  for (const [index, value] of values.entries()) {
    const args = [value, index, values].slice(0, Math.max(1, mapper.length));
    const result = call(mapper, args);
    if (result !== undefined) results.push(result);
  }
  return results;
}

/**
 * `$fromMillis`: prints a time in ISO 8601. The package handles pictures and time zones, whose default picture is slow.
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
