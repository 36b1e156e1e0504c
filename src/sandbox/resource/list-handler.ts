/** Lists contain the visible rows, filtered, sorted and paginated. */

import { type Filterable, type Item, filterableFields } from "../filter/filterable-fields.ts";
import { compileFilter } from "../filter/compile-filter.ts";
import { type FieldError, Problem } from "../http/problem.ts";
import type { Row } from "../store/store-table.ts";
import { canAccess } from "./access-control.ts";
import { buildCollectionCall, homesFor, tableFor } from "./find-rows.ts";
import type { CallContext, Endpoint, EndpointRequest, Resource } from "./resource-declaration.ts";

export function createListHandler(resource: Resource, chain: readonly Resource[]): Endpoint["run"] {
  const filterable = filterableFields(resource.fields);
  const entityGrant = typeof resource.grant === "object" || resource.isVisible !== undefined;
  return function runList(request) {
    const call = buildCollectionCall(resource, chain, request, "read_only");
    const rows = resource.list?.rows?.(call) ?? storedRows(resource, request, call.parents.at(-1));
    const reached =
      entityGrant && request.caller.grants
        ? rows.filter((row) => canAccess(resource, row, "read_only", request))
        : rows;
    return paginateRows(resource, filterable, reached, request);
  };
}

function storedRows(
  resource: Resource,
  { store, caller }: EndpointRequest,
  parents: Row | undefined,
): readonly Row[] {
  const table = tableFor(store, resource);
  const rows = homesFor(resource, caller, parents).flatMap((home) => Array.from(table.inHome(home)));
  return resource.list?.newestFirst ? rows.toReversed() : rows;
}

/** Returns one page of the rows. @throws {Problem} 400 for an invalid page or filter. */
export function paginateRows(
  resource: Resource,
  filterable: Filterable,
  rows: readonly Row[],
  request: EndpointRequest,
): ListSlice {
  const paging = readPaging(request.query);
  const { matches, order } = compileFilter(request.filter, filterable);
  let items: readonly { readonly value: Item }[] = rows;
  if (resource.serialize) items = rows.map((row) => ({ value: serializeRow(resource, row, request) }));
  if (matches) items = items.filter(({ value }) => matches(value));
  if (order) items = order(items);
  return slicePage(
    items.map(({ value }) => value),
    paging,
  );
}

export function serializeRow(resource: Resource, row: Row, { store, caller, at }: CallContext): Item {
  return resource.serialize?.(row, { store, caller, at }) ?? row.value;
}

// Pagination: `page` and `page_size`, and the list envelope (V-008 to V-013).

interface Paging {
  readonly page: number;
  readonly size: number;
}

interface ListSlice {
  readonly data: readonly unknown[];
  readonly page: number;
  readonly pages: number;
  readonly results: number;
}

/**
 * Reads the page parameters. @throws {Problem} 400 that names each parameter that is repeated, out of range or not an
 * integer.
 */
function readPaging(query: URLSearchParams): Paging {
  const errors: FieldError[] = [];
  const page = readInteger(query, "page", 1, Infinity, 1, errors);
  const size = readInteger(query, "page_size", 25, 100, 100, errors);
  if (errors.length > 0) throw new Problem(400, errors);
  return { page, size };
}

/** Returns one page of the items; a page beyond the end is empty. */
function slicePage(items: readonly unknown[], { page, size }: Paging): ListSlice {
  const pages = Math.ceil(items.length / size);
  // A page number beyond 64 bits means the last page.
  const number = page > 2 ** 64 / size ? Math.max(1, pages) : page;
  return {
    data: items.slice((number - 1) * size, number * size),
    page: number,
    pages,
    results: items.length,
  };
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
