/** Lists that the gateway has read completely, and pages itself: catalogs, and lists that v4 can't filter. */
import {
  addQuery,
  type Aggregation,
  type Catalog,
  type CatalogEntry,
  createCatalogEntry,
  cursorParameter,
  HttpError,
  pageBefore,
  type PageRequest,
  type Paging,
  readOffsetCursor,
  type Route,
  selectRows,
  throwParameterError,
  writeList,
  writeOffsetCursor,
} from "../../pack/index.ts";
import type { AuthorizedRequest, ResponseKind } from "../request/authorized-request.ts";
import { requestedFilter } from "../stages/build-list-request.ts";
import { InvalidUpstreamResponseError, parseObject } from "../calls/upstream-response.ts";
import { mapMaybe, thenMaybe } from "../../jsonata/index.ts";
import { cursorAt, printJson } from "../../base/index.ts";
import { endpointOf } from "../stages/build-request.ts";
import { fetchAllPages, type ListRow } from "../stages/fetch-all-pages.ts";
import { throwTranslatedError } from "../calls/translate-error.ts";
import { requestWithoutBody } from "../calls/prepared-request.ts";
import { readingOf, scopeOf } from "../calls/request-scope.ts";

/** Finds the position of a page in rows in memory. Opaque cursors are the gateway's own. @throws {HttpError} 400 */
function findPage(
  rows: readonly CatalogEntry[],
  page: PageRequest,
  paging: Paging,
): Pick<PageRequest, "start" | "size"> {
  const { size, cursor, after, isBackward } = page;
  const value = cursor ?? after;
  if (value === undefined) return page;
  const index =
    after === undefined
      ? readOffsetCursor(value)
      : rows.findIndex(({ object }) => paging.clientCursor(object) === value) + 1 || undefined;
  if (index === undefined)
    throwParameterError(cursorParameter(paging.style, isBackward), "is not a cursor of this list.", "page");
  if (!isBackward) return { start: index, size };
  // The index is after the item.
  return pageBefore(after === undefined ? index : index - 1, size);
}

/**
 * Filters, orders and pages rows in memory, as the client requests.
 *
 * @throws {HttpError} 400 for an invalid page or filter
 */
export function paginate(rows: readonly CatalogEntry[], authorized: AuthorizedRequest): string {
  const { request, query, match, services, report } = authorized;
  const { paging } = match.route.lists;
  const page = paging.readPageInMemory(query);
  const selected = selectRequested(rows, authorized);
  const { start, size } = findPage(selected, page, paging);
  const end = start + size;
  const items = selected.slice(start, end);
  const { values, headers } = paging.describePage({
    request: page,
    start,
    count: items.length,
    total: selected.length,
    hasMore: end < selected.length,
    cursor: writeOffsetCursor(end),
    hasPrevious: start > 0,
    previousCursor: writeOffsetCursor(start),
    firstItem: () => paging.clientCursor(items[0]?.object),
    lastItem: () => paging.clientCursor(items.at(-1)?.object),
    linkBase: services.style.linkBase,
    cursorMark: services.style.cursorMark,
    path: request.path,
    query: request.query,
  });
  report.listHeaders = headers;
  for (const { losses = [] } of items) for (const loss of losses) report.losses.add(loss);
  const texts = items.map(({ text }) => text);
  return writeList(texts, values, match.route.listWriter);
}

function selectRequested(
  rows: readonly CatalogEntry[],
  authorized: AuthorizedRequest,
): readonly CatalogEntry[] {
  const filter = requestedFilter(authorized);
  const { match, services } = authorized;
  return filter ? selectRows(rows, filter, match.route.selectFields(services.catalogs)) : rows;
}

/** Rejects an invalid page or filter, before v4 is called. @throws {HttpError} 400 */
export function checkPage(authorized: AuthorizedRequest): void {
  authorized.match.route.lists.paging.readPageInMemory(authorized.query);
  selectRequested([], authorized);
}

function catalogOf({ name, source }: Route): Catalog {
  if (!("catalog" in source)) throw new Error(`${name} has no catalog`);
  return source.catalog;
}

/** Finds the entry with the requested id. @throws {HttpError} 404 for an unknown id */
function findEntry(
  catalog: Catalog,
  rows: readonly CatalogEntry[],
  { match, services, report }: AuthorizedRequest,
): string {
  const { catalogs } = services;
  const [requestedId = ""] = Object.values(match.parameters);
  const id = catalog.v4Id(requestedId, catalogs);
  // A list that the pack fixes is sorted by its ids, even before v4 has returned the catalog.
  const index = catalogs.list(catalog.name) ? -1 : (catalog.fixedIds?.indexOf(id ?? "") ?? -1);
  const entry = rows[index] ?? (id === undefined ? undefined : catalogs.find(catalog.name, id));
  // Other entries are only cached because objects refer to them: alpha's list does not contain them.
  if (!entry || !rows.includes(entry)) throw new HttpError(404, "Not found");
  for (const loss of entry.losses ?? []) report.losses.add(loss);
  return entry.text;
}

/**
 * Routes that respond with a list or an object from the catalog cache, without a v4 call. A list that the pack fixes is
 * served from the pack until v4 has returned the catalog (T-6.1).
 */
export const catalogKind: ResponseKind<readonly CatalogEntry[]> = {
  buildRequest({ match, services }) {
    const [first] = catalogOf(match.route).calls;
    const path = `${services.pack.dialect.upstream.base_path}${first?.path ?? ""}`;
    const { parameters: values } = match;
    return { method: "GET", path, values, gatewayFields: new Set<string>(), clientSent: () => false };
  },
  async callUpstream(_prepared, { match, services }) {
    const catalog = catalogOf(match.route);
    const rows = services.catalogs.list(catalog.name) ?? (await catalog.fixedList());
    if (!rows) throw new InvalidUpstreamResponseError(`the catalog ${catalog.name} has not been read yet`);
    return rows;
  },
  buildResponse(rows, _prepared, authorized) {
    const { route } = authorized.match;
    return route.response === "list"
      ? paginate(rows, authorized)
      : findEntry(catalogOf(route), rows, authorized);
  },
};

function aggregationOf({ name, aggregate }: Route): Aggregation {
  if (!aggregate) throw new Error(`${name} is not an aggregated list`);
  return aggregate;
}

/**
 * Routes whose v4 list also contains other objects and can't be filtered: all its pages are read, then filtered and
 * paged here.
 */
export const aggregatedKind: ResponseKind<readonly ListRow[]> = {
  buildRequest(authorized) {
    const { route, parameters } = authorized.match;
    // An invalid page or filter is rejected before v4 is called.
    checkPage(authorized);
    const prepared = requestWithoutBody(endpointOf(route), parameters);
    const { writer } = authorized.services.pack.grammar;
    const { query, header } = writer.write(Object.fromEntries(route.unfiltered));
    return { ...prepared, path: addQuery(prepared.path, query), filter: header };
  },
  async callUpstream(prepared, authorized) {
    const { match } = authorized;
    const { readWrapped, lists } = match.route;
    const most = aggregationOf(match.route).maxRows;
    const list = await fetchAllPages(prepared, { most, readWrapped, lists }, authorized);
    if ("rejected" in list) return throwTranslatedError(list.rejected, match.route, prepared, authorized);
    return list.rows;
  },
  async buildResponse(rows, prepared, authorized) {
    const { match } = authorized;
    const { includesRow } = aggregationOf(match.route);
    const isIncluded = await mapMaybe(rows, ({ row, response }) =>
      includesRow(parseObject(row), scopeOf(prepared, authorized, { response, calls: {} })),
    );
    const included = rows.filter((_row, index) => isIncluded[index]);
    const entries = await mapMaybe(included, ({ row, response }) => {
      const lost = new Set<string>();
      const reading = { ...readingOf({ response, calls: {} }, prepared, authorized), lost };
      return thenMaybe(match.route.read(cursorAt(printJson(row)), reading), (text) =>
        createCatalogEntry(text, lost),
      );
    });
    return paginate(entries, authorized);
  },
};
