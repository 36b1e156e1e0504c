import { allOf } from "../expression/index.ts";
import { printJson } from "../dialect/json.ts";
import { begins } from "../dialect/json-scan.ts";
import { entryOf } from "../mapping/entry.ts";
import type { Endpoint } from "../mapping/endpoint.ts";
import type { Collected } from "../mapping/route-steps.ts";
import { objectOf, refuseLikeV4 } from "./answer-back.ts";
import { everyPage } from "./every-page.ts";
import { pageOfRows } from "./page-of-rows.ts";
import { plainCall, type Work } from "./work.ts";

/**
 * Answers with a list that v4 mixes with other things and can't filter: the whole of it is read, and what alpha
 * has in it is filtered, ordered and paged here.
 *
 * @throws {Refusal} v4's, in alpha's words; {UnreadableAnswer} where the list is too long
 */
export async function answerCollected(
  endpoint: Endpoint,
  { most, has }: Collected,
  work: Work,
): Promise<string> {
  const { target, rules, notes, catalogs } = work;
  const { route } = target;
  // A page or filter that can't be read is refused before v4 is asked for anything.
  pageOfRows([], work);
  const prepared = plainCall(endpoint, target.parameters);
  notes.equivalent = `${prepared.method} ${prepared.path}`;
  const whole = await everyPage(prepared, most, work);
  if ("refused" in whole) return refuseLikeV4(whole.refused, route, prepared, rules, notes);
  const known = await allOf(whole.rows, (row) => has(objectOf(row)));
  const rows = whole.rows.filter((_row, index) => known[index]);
  const texts = await allOf(rows, (row) => route.read(begins(printJson(row)), { catalogs, with: {} }));
  for (const loss of route.losses) notes.losses.add(loss);
  return pageOfRows(texts.map(entryOf), work);
}
