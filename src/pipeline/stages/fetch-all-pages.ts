import pMap from "p-map";
import type { Page } from "../../dialect/envelope.ts";
import { readValue } from "../../dialect/json/scan.ts";
import { openListBody, InvalidUpstreamResponseError } from "./build-response.ts";
import type { UpstreamResponse } from "./call-upstream.ts";
import { MAX_CONCURRENT_REQUESTS, type PreparedRequest, type RouteExecution } from "../route-context.ts";

/** A list of v4 to its last page, or the answer with which v4 refused one of them. */
export type AllPages = { readonly rows: readonly unknown[] } | { readonly refused: UpstreamResponse };

type OnePage = (Page & { readonly items: readonly unknown[] }) | { readonly refused: UpstreamResponse };

/**
 * Reads every page of a v4 list, in pages as large as v4 gives them.
 *
 * @param most how many rows it may have
 * @throws {InvalidUpstreamResponseError} where it has more, or what came is no list
 */
export async function fetchAllPages(
  prepared: PreparedRequest,
  most: number,
  work: RouteExecution,
): Promise<AllPages> {
  const { page: parameter, v4 } = work.pack.dialect;

  async function onePage(number: number): Promise<OnePage> {
    const query = `?${parameter}=${number}&${v4.page_size.parameter}=${v4.page_size.largest}`;
    const answer = await work.call({ ...prepared, path: prepared.path + query });
    if (!answer.success) return { refused: answer };
    return openListBody(answer, work.translation, readValue);
  }

  const first = await onePage(1);
  if ("refused" in first) return first;
  if (first.results > most || first.pages > Math.ceil(most / v4.page_size.largest))
    throw new InvalidUpstreamResponseError(`v4's list has ${first.results} rows, more than ${most}`);
  const others = Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) => index + 2);
  const rest = await pMap(others, onePage, { concurrency: MAX_CONCURRENT_REQUESTS });
  const refused = rest.find((page) => "refused" in page);
  if (refused) return refused;
  return { rows: [first, ...rest].flatMap((page) => ("items" in page ? page.items : [])) };
}
