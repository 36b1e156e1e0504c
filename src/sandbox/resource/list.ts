/** A list: the rows that the caller may see, filtered, ordered, one page of them. */

import { compileFilter } from "../filter/compile.ts";
import type { Filterable, Item } from "../filter/filterable.ts";
import { filterableFields } from "../filter/filterable.ts";
import type { Page } from "../http/paging.ts";
import { pageOf, readPaging } from "../http/paging.ts";
import type { Row } from "../store/table.ts";
import { callOnCollection } from "./call.ts";
import type { Resource, View } from "./declaration.ts";
import type { Arrived, Endpoint } from "./endpoints.ts";
import { mayReach } from "./grants.ts";
import { homesOf, tableOf } from "./locate.ts";

export function list(resource: Resource, line: readonly Resource[]): Endpoint["run"] {
  const filterable = filterableFields(resource.fields);
  const entityGrant = typeof resource.grant === "object" || resource.visible !== undefined;
  return function runList(arrived) {
    const call = callOnCollection(resource, line, arrived, "read_only");
    const rows = resource.list?.rows?.(call) ?? stored(resource, arrived, call.above.at(-1));
    const reached =
      entityGrant && arrived.caller.grants
        ? rows.filter((row) => mayReach(resource, row, "read_only", arrived))
        : rows;
    return pageOfRows(resource, filterable, reached, arrived);
  };
}

function stored(
  resource: Resource,
  { world, caller }: Arrived,
  above: Row | undefined,
): readonly Row<object>[] {
  const table = tableOf(world, resource);
  const rows = homesOf(resource, caller, above).flatMap((home) => Array.from(table.of(home)));
  return resource.list?.newestFirst ? rows.toReversed() : rows;
}

/** @throws {Problem} 400 for a page or a filter that is none. */
export function pageOfRows(
  resource: Resource,
  filterable: Filterable,
  rows: readonly Row<object>[],
  arrived: Arrived,
): Page {
  const paging = readPaging(arrived.query);
  const { matches, order } = compileFilter(arrived.filter, filterable);
  let items = rows as readonly { readonly value: Item }[];
  if (resource.present) items = rows.map((row) => ({ value: shown(resource, row, arrived) }));
  if (matches) items = items.filter(({ value }) => matches(value));
  if (order) items = order(items);
  return pageOf(
    items.map(({ value }) => value),
    paging,
  );
}

export function shown(resource: Resource, row: Row<object>, { world, caller, at }: View): Item {
  return (resource.present?.(row, { world, caller, at }) ?? row.value) as Item;
}
