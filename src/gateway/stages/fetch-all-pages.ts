/** The pages of a v4 list, read one after the other or at once. */
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

/** Most pages that are requested at once. */
const MAX_CONCURRENT_REQUESTS = 8;

/** All rows of a v4 list, or the response with which v4 rejected one of its pages. */
type AllPages = { readonly rows: readonly ListRow[] } | { readonly rejected: UpstreamResponse };

/** A row of a list, and the response that has it. */
export interface ListRow {
  readonly row: unknown;
  readonly response: UpstreamResponse;
}

/**
 * Fetches all pages of a v4 list, in pages as large as v4 allows.
 *
 * @param options the most rows of the list, the reader of the wrapper of its items, and how lists are paged and read
 * @throws {InvalidUpstreamResponseError} where the list has more, or is not a list
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
  // A page is parsed at once: after an invalid one no other is requested.
  const fetchPage = async (query: string) => {
    const response = await upstream.call({ ...prepared, path: addQuery(prepared.path, query) });
    return response.success
      ? { ...parsePage(response, lists, readWrapped), response }
      : { rejected: response };
  };
  const rows: ListRow[] = [];

  do {
    // Where the number of rows is known after the first page, the others are fetched at once.
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
