/** The parts of a request that affect the comparison of its responses: the order of the list. */
import { isObject, parseJson } from "../../base/index.ts";
import { splitTarget } from "../../gateway/index.ts";
import { type Pack, parseQuery, type Query, type Route } from "../../pack/index.ts";
import type { ComparedRequest } from "./comparison.ts";

/** Returns the parameters of a request. Empty for a query that can't be parsed. */
export function queryOf({ path }: ComparedRequest): Query {
  try {
    return parseQuery(splitTarget(path)[1]);
  } catch {
    return new Map();
  }
}

const MAX_FILTER_DEPTH = 32;

/** Returns the filter of a request; undefined if not found, or if it is not JSON. */
export function filterOf({ filter }: ComparedRequest): unknown {
  if (filter === null) return undefined;
  try {
    return parseJson(filter, { maxDepth: MAX_FILTER_DEPTH });
  } catch {
    return undefined;
  }
}

/** Returns the fields by which a filter in a header orders; undefined if it does not order. */
function orderOfHeader({ grammar }: Pack, filter: unknown): readonly string[] | undefined {
  if (!isObject(filter)) return undefined;
  const names = Object.entries(filter).flatMap(([key, value]) =>
    grammar.operators.get(key) === "order_by" ? [value] : [],
  );
  return names.length === 0 ? undefined : names.filter((name) => typeof name === "string");
}

/** Returns the fields by which a query orders; undefined if it does not order. */
function orderOfQuery({ queryFilter }: Route, query: Query): readonly string[] | undefined {
  try {
    return queryFilter?.parse(query).order?.map(({ field }) => field);
  } catch {
    return undefined;
  }
}

/**
 * Returns the fields by which the request or the route orders the list of the response. Empty: it is ordered, but not
 * by a field.
 *
 * @returns undefined if the order of the list is ignored
 */
export function orderOf(pack: Pack, route: Route, request: ComparedRequest): readonly string[] | undefined {
  if (route.response !== "list") return undefined;
  const asked = orderOfHeader(pack, filterOf(request)) ?? orderOfQuery(route, queryOf(request));
  if (asked) return asked;
  const { order } = route.filterDefaults ?? {};
  if (order && order.length > 0) return order.map(({ field }) => field);
  const { style } = route.lists.paging;
  // Clients page by a member of the last row, so the list is ordered by it.
  return style?.kind === "cursor" && style.item !== undefined ? [style.item] : undefined;
}

/** Whether a request contains a page cursor that only one of the two services understands. */
export function hasOpaqueCursor({ lists }: Pick<Route, "lists">, request: ComparedRequest): boolean {
  const { style } = lists.paging;
  if (style?.kind !== "cursor" || style.item !== undefined) return false;
  const query = queryOf(request);
  return [style.parameter, style.before].some((name) => name !== undefined && query.has(name));
}
