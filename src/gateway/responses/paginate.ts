import {
  type CatalogEntry,
  cursorParameter,
  pageBefore,
  type PageRequest,
  type Paging,
  readOffsetCursor,
  selectRows,
  throwParameterError,
  writeList,
  writeOffsetCursor,
} from "../../pack/index.ts";
import type { AuthorizedRequest } from "../pipeline/authorized-request.ts";
import { requestedFilter } from "../pipeline/stages/build-list-request.ts";

/** Where a page is in rows that the gateway has. Opaque cursors are the gateway's own. @throws {HttpError} 400 */
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
  // The index is behind the item.
  return pageBefore(after === undefined ? index : index - 1, size);
}

/**
 * Filters, orders and pages rows that the gateway has, as the client asks for it.
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
    linkBase: services.translation.linkBase,
    cursorMark: services.translation.cursorMark,
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
