import { ValidationError } from "../errors/http-error.ts";
import type { ListRule } from "../routes/parameter-error.ts";
import { shortName } from "../routes/query.ts";

/**
 * Rejects a filter, or an order. The reason starts with the invalid field or operator. The error has no `field`, because that would be a
 * member of the submitted JSON.
 *
 * @throws {HttpError} 400, always.
 */
export function throwFilterError(name: string, problem: string, rule: ListRule = "filter"): never {
  throw new ValidationError([{ reason: `${shortName(name)} ${problem}`, rule }]);
}

/** Rejects an order by several fields. @throws {HttpError} 400, always. */
export function throwSeveralOrders(): never {
  throw new ValidationError([{ reason: "A list can be ordered by one field only.", rule: "sort" }]);
}
