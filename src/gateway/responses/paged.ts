/** Routes that respond with a page of a list whose pages differ from v4's: rows of one or more v4 pages. */
import { cursorParameter, type Paging, type ReadContext, throwParameterError } from "../../pack/index.ts";
import type { AuthorizedRequest, ResponseKind } from "../request/authorized-request.ts";
import { buildUpstreamRequest } from "../stages/build-request.ts";
import { callAfter, readEachValues } from "../stages/call-after.ts";
import { callUpstream } from "../stages/call-upstream.ts";
import { throwTranslatedError } from "../calls/translate-error.ts";
import type { ListPage, PreparedRequest } from "../calls/prepared-request.ts";
import { readingOf } from "../calls/request-scope.ts";
import {
  acceptPage,
  InvalidUpstreamResponseError,
  type UpstreamResponse,
} from "../calls/upstream-response.ts";
import { applyTokenScopes } from "./token-scopes.ts";
import { findRow, type TranslatedPage, translatePage } from "./translate-page.ts";

/** Alpha's rows, and the parts of v4's pages that contain them. */
type Parts = readonly TranslatedPage[];

function pageOf({ page, path }: PreparedRequest): ListPage {
  if (!page) throw new Error(`${path} is not a page of a list`);
  return page;
}

/**
 * Returns the cursor of a row.
 *
 * @throws {InvalidUpstreamResponseError} if it has none: clients would treat its page as the last one
 */
function cursorOf(row: unknown, { clientCursor }: Paging): string {
  const cursor = clientCursor(row);
  if (cursor === undefined) throw new InvalidUpstreamResponseError("a row of the page has no valid cursor");
  return cursor;
}

/**
 * Reads the next v4 page. Until the item of a cursor is found, no rows are used.
 *
 * @returns undefined if the page before the item starts in an earlier v4 page, which must be read again
 */
async function translateNextPage(
  response: UpstreamResponse,
  { walk, request }: ListPage,
  common: ReadContext,
  { match: { route } }: AuthorizedRequest,
): Promise<TranslatedPage | undefined> {
  const reading = { ...common, response };
  const { paging } = route.lists;
  if (walk.isSearching) {
    const isRow = (row: unknown): boolean => paging.clientCursor(row) === request.after;
    const { index } = await findRow(response, route, { ...reading, lost: undefined }, isRow);
    if (index >= 0 && !walk.found(index)) return undefined;
  }
  const { separator } = route.listWriter.items;
  const range = { from: walk.from, to: walk.to, separator };
  const page = await translatePage(response, route, reading, range);
  const { values, count } = page;
  acceptPage(walk, {
    values,
    headers: response.headers,
    count,
    firstItem: () => paging.upstreamCursor(page.firstUpstream()),
    lastItem: () => paging.upstreamCursor(page.lastUpstream()),
  });
  return page;
}

export const pagedKind: ResponseKind<Parts> = {
  buildRequest: buildUpstreamRequest,
  async callUpstream(prepared, authorized) {
    const { match, upstream } = authorized;
    const page = pageOf(prepared);
    const parts: TranslatedPage[] = [];
    for (let result = await callUpstream(prepared, authorized); ;) {
      const reading = readingOf(result, prepared, authorized);
      const part = await translateNextPage(result.response, page, reading, authorized);
      if (part) parts.push(part);
      if (part && page.walk.isDone) return page.walk.isBackward ? parts.toReversed() : parts;
      const response = await upstream.call({ ...prepared, path: page.pathOf(page.walk.query) });
      if (!response.success) throwTranslatedError(response, match.route, prepared, authorized);
      // The calls for the page's rows. The calls of the first page were for other rows.
      result = await callAfter(response, prepared, await readEachValues(prepared, authorized), authorized);
    }
  },
  buildResponse(parts, prepared, authorized) {
    const { match, services, request: client, report } = authorized;
    const { route } = match;
    const { request, walk } = pageOf(prepared);
    const { paging } = route.lists;
    if (walk.isSearching)
      throwParameterError(
        cursorParameter(paging.style, request.isBackward),
        "names none of the items that can be found.",
        "page",
      );
    if (!paging.style && walk.hasMore)
      throw new InvalidUpstreamResponseError(`the list has more than ${request.size} rows`);
    if (paging.hasTotal && walk.total === undefined)
      throw new InvalidUpstreamResponseError("the total of the list is missing");
    const filled = parts.filter(({ taken }) => taken > 0);
    const { values, headers } = paging.describePage({
      request,
      start: walk.start,
      count: filled.reduce((sum, { taken }) => sum + taken, 0),
      total: walk.total,
      hasMore: walk.hasMore,
      cursor: walk.cursor,
      hasPrevious: walk.hasPrevious,
      previousCursor: walk.previousCursor,
      firstItem: () => cursorOf(filled[0]?.firstClient(), paging),
      lastItem: () => cursorOf(filled.at(-1)?.lastClient(), paging),
      linkBase: services.style.linkBase,
      cursorMark: services.style.cursorMark,
      path: client.path,
      query: client.query,
    });
    report.listHeaders = headers;
    const { around, items } = route.listWriter;
    const [open, close] = around(values);
    const separator = Buffer.from(items.separator);
    const rows = filled.flatMap(({ rows: bytes }, index) => (index === 0 ? [bytes] : [separator, bytes]));
    const [first, last] = rows.length > 0 ? [open + items.open, items.close + close] : [open, close];
    const body = Buffer.concat([Buffer.from(first), ...rows, Buffer.from(last)]);
    return route.tokens ? applyTokenScopes(body, route.tokens, authorized) : body;
  },
};
