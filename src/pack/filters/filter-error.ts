/** Errors of filters, orders and pages. */
import { ValidationError } from "../errors/http-error.ts";
import { shortName } from "../paths/query.ts";

/**
 * Rejects a filter, or an order. The reason starts with the invalid field or operator. The error has no `field`,
 * because `field` is a member of the submitted JSON.
 *
 * @throws {HttpError} 400, always
 */
export function throwFilterError(name: string, problem: string, rule: ListRule = "filter"): never {
  throw new ValidationError([{ reason: `${shortName(name)} ${problem}`, rule }]);
}

/**
 * The invalid part of a list request, as a rule of `VALIDATION_RULES`. A cursor belongs to `page`, and a search to
 * `filter`.
 */
export type ListRule = "page" | "page_range" | "size" | "size_range" | "filter" | "sort";

/** Rejects the value of a query parameter of a filter, an order or a page. @throws {HttpError} 400, always. */
export function throwParameterError(parameter: string, problem: string, rule: ListRule): never {
  const name = shortName(parameter);
  throw new ValidationError([{ reason: `${name} ${problem}`, parameter: name, rule }]);
}

/** Calls a function, and attaches a query parameter to its errors. The parameter is undefined if the filter is in a header. */
export function forParameter<T>(parameter: string | undefined, use: () => T): T {
  if (parameter === undefined) return use();
  try {
    return use();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const name = shortName(parameter);
    throw new ValidationError(error.details.map((detail) => ({ parameter: name, ...detail })));
  }
}
