import { HttpError } from "../http-error.ts";

/** Longer than any name of a field or operator: a reason is for reading, and doesn't give back a whole header. */
const longestName = 60;

/**
 * Says no to a filter. The reason names the field or operator at fault; there is no `field`, since that
 * means a member of the submitted JSON (document 2, Errors).
 *
 * @throws {HttpError} always, 400.
 */
export function throwFilterError(name: string, problem: string): never {
  const shown = name.length > longestName ? `${name.slice(0, longestName)}…` : name;
  throw new HttpError(400, `${shown} ${problem}`);
}
