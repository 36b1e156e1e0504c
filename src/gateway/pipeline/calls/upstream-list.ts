/** v4's lists, page by page. */
import type { ListWalk, ReadWrapped, ReceivedPage, RouteLists } from "../../../pack/index.ts";
import { readValue } from "../../../base/index.ts";
import { InvalidUpstreamResponseError, openListBody, type UpstreamResponse } from "./upstream-response.ts";

/** Takes a page into account. @throws {InvalidUpstreamResponseError} where the list has too many pages */
export function acceptPage(walk: ListWalk, page: ReceivedPage): void {
  try {
    walk.accept(page);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InvalidUpstreamResponseError(`the list can't be read: ${error.message}`);
  }
}

/** A page, and its items. */
export interface ParsedPage extends ReceivedPage {
  readonly items: readonly unknown[];
}

/**
 * Parses a page.
 *
 * @param readWrapped reads the object in the wrapper of an item
 * @throws {InvalidUpstreamResponseError} for anything but a list
 */
export function parsePage(
  response: UpstreamResponse,
  { paging, parseList }: Pick<RouteLists, "paging" | "parseList">,
  readWrapped: ReadWrapped | undefined,
): ParsedPage {
  const { items, ...values } = openListBody(response, parseList, readValue, readWrapped);
  const lastItem = (): string | undefined => paging.upstreamCursor(items.at(-1));
  return { items, values, headers: response.headers, count: items.length, lastItem };
}
