/** Builds the v4 request for one page of a list: alpha's page and filter, translated. */
import {
  addQuery,
  compileGetter,
  completeFilter,
  cursorParameter,
  fieldNames,
  type Filter,
  type FilterField,
  type FilterFields,
  type Grammar,
  HttpError,
  type PageRequest,
  parseFilter,
  type SentFilter,
  throwFilterError,
  throwParameterError,
  translateFilter,
} from "../../pack/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { AlphaRequest } from "../request/request.ts";
import { throwTranslatedError } from "../calls/translate-error.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import { writingOf } from "../calls/request-scope.ts";
import { acceptPage, parsePage } from "../calls/upstream-response.ts";

const NO_FILTER: Filter = { conditions: [] };

/**
 * Decodes a header. Node decodes header bytes as Latin-1, but clients write JSON in UTF-8. Bytes that are not UTF-8 are
 * not changed.
 */
function decodeHeader(line: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(line, "latin1"));
  } catch {
    return line;
  }
}

/**
 * Returns the filter of a request, completed with the defaults of its list; undefined if not found.
 *
 * @throws {HttpError} 400 for an invalid filter
 */
export function requestedFilter({
  request,
  query,
  match,
  services,
  report,
}: AuthorizedRequest): Filter | undefined {
  const { queryFilter, filterDefaults } = match.route;
  const filter = queryFilter ? queryFilter.parse(query) : filterInHeader(request, services.pack.grammar);
  report.sentFilter = filter;
  return filterDefaults ? completeFilter(filter ?? NO_FILTER, filterDefaults) : filter;
}

/** Returns the filter in the header of a request. @throws {HttpError} 400 for an invalid filter, and for two header lines */
export function filterInHeader(request: AlphaRequest, grammar: Grammar): Filter | undefined {
  const lines = request.headers[grammar.header?.toLowerCase() ?? ""] ?? [];
  if (lines.length > 1) throw new HttpError(400, `There is more than one ${grammar.header} header.`);
  const [line] = lines;
  return line === undefined || line.trim() === "" ? undefined : parseFilter(decodeHeader(line), grammar);
}

/** Builds the request for the first upstream page of the client's page, with the client's filter. */
export async function buildListRequest(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<PreparedRequest> {
  const { paging } = authorized.match.route.lists;
  // An invalid page is rejected before v4 is called for the boundary of a filter.
  const page = paging.readPage(authorized.query);
  const filter = await buildFilter(prepared, authorized);
  const list = { ...prepared, filter: filter.header };
  const pathOf = (query: string): string => addQuery(addQuery(prepared.path, query), filter.query);
  // If pages are the same on both sides, page numbers and totals stay unchanged (L-25).
  if (paging.isDirect) {
    const query = paging.upstream.query({ offset: page.start, cursor: undefined }, page.size);
    return { ...list, path: pathOf(query) };
  }
  const request = await withUpstreamCursor(page, authorized);
  const walk = paging.walk(request);
  return { ...list, path: pathOf(walk.query), page: { pathOf, request, walk } };
}

/** Translates the client's filter. */
async function buildFilter(prepared: PreparedRequest, authorized: AuthorizedRequest): Promise<SentFilter> {
  const { match, services } = authorized;
  const { where, fillWhere, unfiltered, filterFields } = match.route;
  const { grammar } = services.pack;
  const filter = requestedFilter(authorized) ?? NO_FILTER;
  const declared = filterFields(services.catalogs);
  const fields = await resolveFilterBoundaries(filter, declared, prepared, authorized, grammar);
  const condition = fillWhere ? fillWhere(prepared.values) : where;
  return translateFilter(filter, fields, grammar, condition, unfiltered);
}

/** Translates the client's cursor if both sides use the same member as cursor. Otherwise, the gateway searches the item. */
async function withUpstreamCursor(page: PageRequest, authorized: AuthorizedRequest): Promise<PageRequest> {
  const { match } = authorized;
  const { translateCursor } = match.route;
  const { style, upstreamGoesBack } = match.route.lists.paging;
  if (page.after === undefined || !translateCursor || (page.isBackward && !upstreamGoesBack)) return page;
  const cursor = await translateCursor(page.after, writingOf(authorized, undefined));
  if (cursor === undefined)
    throwParameterError(cursorParameter(style, page.isBackward), "is not a cursor of this list.", "page");
  return { start: 0, size: page.size, cursor, ...(page.isBackward && { isBackward: true }) };
}

/** Maximum number of pages in which a boundary is searched. */
const MOST_PAGES = 10;

/**
 * Resolves the boundaries of a filter. Some fields are true for all objects up to one, and false after it. The number
 * of that object is read from v4, newest first.
 *
 * @returns the fields, with the value of their boundary
 * @throws {HttpError} 400 for a filter that v4 can't express, before v4 is called
 */
async function resolveFilterBoundaries(
  filter: Filter,
  fields: FilterFields,
  list: PreparedRequest,
  authorized: AuthorizedRequest,
  grammar: Grammar,
): Promise<FilterFields> {
  const used = new Set(fieldNames(filter.conditions));
  const bounded = [...fields].filter(
    ([name, { boundaryField }]) => boundaryField !== undefined && used.has(name),
  );
  if (bounded.length === 0) return fields;
  translateFilter(filter, fields, grammar);
  const resolved = await Promise.all(
    bounded.map(async ([name, field]) => {
      const boundary = await findBoundary(name, field, list, authorized, grammar);
      return [name, { ...field, boundary }] as const;
    }),
  );
  return new Map([...fields, ...resolved]);
}

/** Returns the number of the newest object for which a field is true. 0 if not found. */
async function findBoundary(
  name: string,
  { v4, boundaryField = "" }: FilterField,
  list: PreparedRequest,
  authorized: AuthorizedRequest,
  grammar: Grammar,
): Promise<number> {
  const { match, upstream } = authorized;
  const { paging } = match.route.lists;
  const newestFirst = grammar.writer.order([{ field: boundaryField, descending: true }]);
  if (!newestFirst) throwFilterError(name, "cannot be filtered by.");
  // All objects are included, even those that the upstream only returns on request.
  const sent = grammar.writer.write({ ...Object.fromEntries(match.route.unfiltered), ...newestFirst });
  const [holds, numberOf] = [compileGetter(v4), compileGetter(boundaryField)];
  const walk = paging.walkAll(MOST_PAGES * paging.upstream.size.maximum);
  do {
    const path = addQuery(addQuery(list.path, walk.query), sent.query);
    const response = await upstream.call({ ...list, path, filter: sent.header });
    if (!response.success) throwTranslatedError(response, match.route, list, authorized);
    const page = parsePage(response, authorized.match.route.lists, match.route.readWrapped);
    acceptPage(walk, page);
    const newest = page.items.find((item) => holds(item) === true);
    if (newest !== undefined) return Number(numberOf(newest));
  } while (!walk.isDone);
  if (!walk.hasMore) return 0;
  return throwFilterError(name, "cannot be filtered by: it is false for all of the newest objects.");
}
