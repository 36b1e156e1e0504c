/** `page` and `page_size`, and the envelope of every list (document 1, Resources and their fields). */

import type { FieldError } from "./problem.ts";
import { Problem } from "./problem.ts";

export interface Paging {
  readonly page: number;
  readonly size: number;
}

export interface Page {
  readonly data: readonly unknown[];
  readonly page: number;
  readonly pages: number;
  readonly results: number;
}

/** @throws {Problem} 400 naming each parameter that is out of bounds, doubled or no integer. */
export function readPaging(query: URLSearchParams): Paging {
  const errors: FieldError[] = [];
  const page = readInteger(query, "page", 1, Infinity, 1, errors);
  const size = readInteger(query, "page_size", 25, 100, 100, errors);
  if (errors.length > 0) throw new Problem(400, errors);
  return { page, size };
}

/** Cuts one page out of all items; beyond the end it is empty. */
export function slicePage(items: readonly unknown[], { page, size }: Paging): Page {
  const pages = Math.ceil(items.length / size);
  // A page number past what can be counted is taken for the last page.
  const shown = page > 2 ** 64 / size ? Math.max(1, pages) : page;
  return { data: items.slice((shown - 1) * size, shown * size), page: shown, pages, results: items.length };
}

function readInteger(
  query: URLSearchParams,
  name: string,
  min: number,
  max: number,
  otherwise: number,
  errors: FieldError[],
): number {
  const given = query.getAll(name);
  if (given.length === 0) return otherwise;
  const value = given.length === 1 && /^\d+$/.test(given[0] ?? "") ? Number(given[0]) : Number.NaN;
  if (value >= min && value <= max) return value;
  const reason = max === Infinity ? `at least ${min}` : `${min} to ${max}`;
  errors.push({ reason: `${name} must be an integer, ${reason}`, field: name });
  return otherwise;
}
