import type { Conditions, Filter } from "../dialect/filter/filter.ts";
import { translateFilter, type FilterField, type FilterFields } from "../dialect/filter/translate.ts";
import { printJson } from "../dialect/json.ts";
import { takeValue } from "../dialect/json-scan.ts";
import { Refusal } from "../dialect/refusal.ts";
import { getter } from "../mapping/paths.ts";
import { openList, refuseLikeV4 } from "./answer-back.ts";
import type { Prepared, Work } from "./work.ts";

/** How far back the mark is looked for. */
const MOST_PAGES = 10;

const namesIn = (conditions: Conditions): string[] =>
  conditions.flatMap((each) => (each.kind === "field" ? [each.field] : each.members.flatMap(namesIn)));

/** The number of the newest object for which the field holds; 0 where it holds for none. */
async function markOf(
  name: string,
  { v4, mark = "" }: FilterField,
  list: Prepared,
  work: Work,
): Promise<number> {
  const { dialect, grammar } = work.pack;
  const { parameter, largest } = dialect.v4.page_size;
  const filter = printJson({ [grammar.v4.order_by]: mark, [grammar.v4.order]: "desc" });
  const [holds, number] = [getter(v4), getter(mark)];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const path = `${list.path}?${dialect.page}=${page}&${parameter}=${largest}`;
    const answer = await work.call({ ...list, path, filter });
    if (!answer.success) refuseLikeV4(answer, work.target.route, list, work.rules, work.notes);
    const found = openList(answer, work.rules, takeValue);
    const newest = found.items.find((item) => holds(item) === true);
    if (newest !== undefined) return Number(number(newest));
    if (page >= found.pages) return 0;
  }
  throw new Refusal(400, `${name} cannot be filtered by: what it divides lies too far back.`);
}

/**
 * Finds the marks that a filter needs: of a field which holds for everything up to one object and for nothing
 * after it, the number of that object. v4's own list is asked for it, the newest first.
 *
 * @returns the fields, those with a mark ready to be translated
 * @throws {Refusal} 400 for a filter that can't be said in v4, before anything is asked
 */
export async function findMarks(
  filter: Filter,
  fields: FilterFields,
  list: Prepared,
  work: Work,
): Promise<FilterFields> {
  const used = new Set(namesIn(filter.conditions));
  const marked = [...fields].filter(([name, { mark }]) => mark !== undefined && used.has(name));
  if (marked.length === 0) return fields;
  translateFilter(filter, fields, work.pack.grammar);
  const found = await Promise.all(
    marked.map(
      async ([name, field]) => [name, { ...field, at: await markOf(name, field, list, work) }] as const,
    ),
  );
  return new Map([...fields, ...found]);
}
