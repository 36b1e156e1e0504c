/** A list: the rows that the caller may see, filtered, ordered, one page of them. */

import { compileFilter } from "../filter/compile.ts";
import type { Filterable, Item } from "../filter/filterable.ts";
import { filterableFields } from "../filter/filterable.ts";
import type { Page } from "../http/paging.ts";
import { slicePage, readPaging } from "../http/paging.ts";
import type { Row } from "../store/table.ts";
import { buildCollectionCall } from "./call.ts";
import type { Resource, CallContext } from "./declaration.ts";
import type { EndpointRequest, Endpoint } from "./endpoints.ts";
import { canAccess } from "./grants.ts";
import { homesFor, tableFor } from "./locate.ts";

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
): readonly Row<object>[] {
  const table = tableFor(store, resource);
  const rows = homesFor(resource, caller, parents).flatMap((home) => Array.from(table.inHome(home)));
  return resource.list?.newestFirst ? rows.toReversed() : rows;
}

/** @throws {Problem} 400 for a page or a filter that is none. */
export function paginateRows(
  resource: Resource,
  filterable: Filterable,
  rows: readonly Row<object>[],
  request: EndpointRequest,
): Page {
  const paging = readPaging(request.query);
  const { matches, order } = compileFilter(request.filter, filterable);
  let items = rows as readonly { readonly value: Item }[];
  if (resource.serialize) items = rows.map((row) => ({ value: serializeRow(resource, row, request) }));
  if (matches) items = items.filter(({ value }) => matches(value));
  if (order) items = order(items);
  return slicePage(
    items.map(({ value }) => value),
    paging,
  );
}

export function serializeRow(resource: Resource, row: Row<object>, { store, caller, at }: CallContext): Item {
  return (resource.serialize?.(row, { store, caller, at }) ?? row.value) as Item;
}
