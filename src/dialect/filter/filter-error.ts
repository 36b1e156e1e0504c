import { ValidationError } from "../http-error.ts";
import { shortName } from "../query.ts";

/**
 * Rejects a filter. The reason starts with the invalid field or operator. The error has no `field`, because that would be a
 * member of the submitted JSON.
 *
 * @throws {HttpError} 400, always.
 */
export function throwFilterError(name: string, problem: string): never {
  throw new ValidationError(`${shortName(name)} ${problem}`);
}
