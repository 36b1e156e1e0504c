import { ValidationError } from "../http-error.ts";

/** Longer names are cut, so that an error does not repeat a whole header. */
const maxNameLength = 60;

/**
 * Rejects a filter. The reason starts with the invalid field or operator. The error has no `field`, because that would be a
 * member of the submitted JSON.
 *
 * @throws {HttpError} 400, always.
 */
export function throwFilterError(name: string, problem: string): never {
  const shortName = name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
  throw new ValidationError(`${shortName} ${problem}`);
}
