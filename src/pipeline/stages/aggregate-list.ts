import { mapMaybe } from "../../jsonata/index.ts";
import { printJson } from "../../dialect/json/parse.ts";
import { cursorAt } from "../../dialect/json/scan.ts";
import { createCatalogEntry } from "../../mapping/compile/catalog.ts";
import type { Endpoint } from "../../mapping/compile/endpoint.ts";
import type { Aggregation } from "../../mapping/compile/route-steps.ts";
import { parseObject, throwTranslatedError } from "./build-response.ts";
import { fetchAllPages } from "./fetch-all-pages.ts";
import { paginate } from "../paginate.ts";
import { requestWithoutBody, type RouteExecution } from "../route-context.ts";

/**
 * Answers with a list that v4 mixes with other things and can't filter: the whole of it is read, and what alpha
 * has in it is filtered, ordered and paged here.
 *
 * @throws {Refusal} v4's, in alpha's words; {UnreadableAnswer} where the list is too long
 */
export async function aggregateList(
  endpoint: Endpoint,
  { maxRows, includesRow }: Aggregation,
  work: RouteExecution,
): Promise<string> {
  const { match: target, translation: rules, context: notes, catalogs } = work;
  const { route } = target;
  // A page or filter that can't be read is refused before v4 is asked for anything.
  paginate([], work);
  const prepared = requestWithoutBody(endpoint, target.parameters);
  notes.upstreamEquivalent = `${prepared.method} ${prepared.path}`;
  const whole = await fetchAllPages(prepared, maxRows, work);
  if ("refused" in whole) return throwTranslatedError(whole.refused, route, prepared, rules, notes);
  const known = await mapMaybe(whole.rows, (row) => includesRow(parseObject(row)));
  const rows = whole.rows.filter((_row, index) => known[index]);
  const texts = await mapMaybe(rows, (row) =>
    route.read(cursorAt(printJson(row)), { catalogs, related: {} }),
  );
  for (const loss of route.losses) notes.losses.add(loss);
  return paginate(texts.map(createCatalogEntry), work);
}
