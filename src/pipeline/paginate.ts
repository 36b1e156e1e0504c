import { writeEnvelope } from "../dialect/envelope.ts";
import { selectRows } from "../dialect/filter/select.ts";
import type { CatalogEntry } from "../mapping/translation-context.ts";
import { requestedFilter, requestedPage } from "./stages/translate-query.ts";
import type { RouteExecution } from "./route-context.ts";

/**
 * The page that a client asks for, of rows that the gateway has at hand: filtered, ordered and cut here.
 *
 * @throws {Refusal} 400 for a page or filter that can't be read, rows or no rows
 */
export function paginate(
  rows: readonly CatalogEntry[],
  { request, match: target, pack }: RouteExecution,
): string {
  const { dialect, grammar } = pack;
  const { page_size: size, envelope } = dialect.alpha;
  const page = requestedPage(request, dialect.page);
  const filter = requestedFilter(request, grammar);
  const selected = filter ? selectRows(rows, filter, target.route.selectFields) : rows;
  const totals = { page, pages: Math.ceil(selected.length / size), results: selected.length };
  const shown = selected.slice((page - 1) * size, page * size).map(({ text }) => text);
  return writeEnvelope(shown, totals, target.route.list, envelope);
}
