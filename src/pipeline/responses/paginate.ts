import { writeList } from "../../dialect/envelope.ts";
import { selectRows } from "../../dialect/filter/select.ts";
import type { CatalogEntry } from "../../mapping/translation-context.ts";
import type { AuthorizedRequest } from "../authorized-request.ts";
import { requestedFilter, requestedPage } from "../stages/build-list-request.ts";

/**
 * Filters, orders and pages rows that the gateway has, as the client asks for it.
 *
 * @throws {HttpError} 400 for an invalid page or filter, also without rows
 */
export function paginate(
  rows: readonly CatalogEntry[],
  { request, match, services }: AuthorizedRequest,
): string {
  const { paging, grammar, listWriter } = services.pack;
  const { size } = paging;
  const page = requestedPage(request, paging.parameter);
  const filter = grammar && requestedFilter(request, grammar);
  const selected = filter ? selectRows(rows, filter, match.route.selectFields) : rows;
  const totals = { page, pages: Math.ceil(selected.length / size), total: selected.length };
  const texts = selected.slice((page - 1) * size, page * size).map(({ text }) => text);
  return writeList(texts, totals, listWriter(match.route.list));
}
