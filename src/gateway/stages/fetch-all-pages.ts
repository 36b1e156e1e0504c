/** Reads the pages of a v4 list, sequentially or concurrently. */
import { addQuery, type ReadWrapped, type RouteLists } from "../../pack/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import {
  acceptPage,
  InvalidUpstreamResponseError,
  parsePage,
  type UpstreamResponse,
} from "../calls/upstream-response.ts";
import pMap from "p-map";

/** Maximum number of pages that are requested concurrently. */
const MAX_CONCURRENT_REQUESTS = 8;

/** All rows of a v4 list, or v4's error response for one of its pages. */
type AllPages = { readonly rows: readonly ListRow[] } | { readonly rejected: UpstreamResponse };

/** A row of a list, and the response that contains it. */
export interface ListRow {
  readonly row: unknown;
  readonly response: UpstreamResponse;
}

/**
 * Fetches all pages of a v4 list, in the largest pages that v4 allows.
 *
 * @param options the maximum number of rows, the reader of the wrapper of items, and how lists are paged and read
 * @throws {InvalidUpstreamResponseError} if the list contains more rows, or is not a list
 */
export async function fetchAllPages(
  prepared: PreparedRequest,
  {
    most,
    readWrapped,
    lists,
  }: {
    readonly most: number;
    readonly readWrapped: ReadWrapped | undefined;
    readonly lists: Pick<RouteLists, "paging" | "parseList">;
  },
  { upstream }: AuthorizedRequest,
): Promise<AllPages> {
  const walk = lists.paging.walkAll(most);
  // Each page is parsed immediately: after an invalid page, no further page is requested.
  const fetchPage = async (query: string) => {
    const response = await upstream.call({ ...prepared, path: addQuery(prepared.path, query) });
    return response.success
      ? { ...parsePage(response, lists, readWrapped), response }
      : { rejected: response };
  };
  const rows: ListRow[] = [];

  do {
    // If the number of rows is known after the first page, the remaining pages are fetched concurrently.
    const queries = walk.rest() ?? [walk.query];
    const pages = await pMap(queries, fetchPage, { concurrency: MAX_CONCURRENT_REQUESTS });
    for (const page of pages) {
      if ("rejected" in page) return { rejected: page.rejected };
      acceptPage(walk, page);
      for (const row of page.items) rows.push({ row, response: page.response });
    }
    if (Math.max(walk.total ?? 0, rows.length) > most)
      throw new InvalidUpstreamResponseError(`the list has more than ${most} rows`);
  } while (!walk.isDone);
  return { rows };
}
