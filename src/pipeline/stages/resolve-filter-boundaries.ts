import type { Conditions, Filter } from "../../dialect/filter/condition.ts";
import { translateFilter, type FilterField, type FilterFields } from "../../dialect/filter/translate.ts";
import { printJson } from "../../dialect/json/parse.ts";
import { readValue } from "../../dialect/json/scan.ts";
import { HttpError } from "../../dialect/http-error.ts";
import { compileGetter } from "../../mapping/compile/member-paths.ts";
import { openListBody, throwTranslatedError } from "./build-response.ts";
import type { PreparedRequest, RouteExecution } from "../route-context.ts";

/** How far back the mark is looked for. */
const MOST_PAGES = 10;

const namesIn = (conditions: Conditions): string[] =>
  conditions.flatMap((each) => (each.kind === "field" ? [each.field] : each.members.flatMap(namesIn)));

/** The number of the newest object for which the field holds; 0 where it holds for none. */
async function markOf(
  name: string,
  { v4, mark = "" }: FilterField,
  list: PreparedRequest,
  work: RouteExecution,
): Promise<number> {
  const { dialect, grammar } = work.pack;
  const { parameter, largest } = dialect.v4.page_size;
  const filter = printJson({ [grammar.v4.order_by]: mark, [grammar.v4.order]: "desc" });
  const [holds, number] = [compileGetter(v4), compileGetter(mark)];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const path = `${list.path}?${dialect.page}=${page}&${parameter}=${largest}`;
    const answer = await work.call({ ...list, path, filter });
    if (!answer.success) throwTranslatedError(answer, work.match.route, list, work.translation, work.context);
    const found = openListBody(answer, work.translation, readValue);
    const newest = found.items.find((item) => holds(item) === true);
    if (newest !== undefined) return Number(number(newest));
    if (page >= found.pages) return 0;
  }
  throw new HttpError(400, `${name} cannot be filtered by: what it divides lies too far back.`);
}

/**
 * Finds the marks that a filter needs: of a field which holds for everything up to one object and for nothing
 * after it, the number of that object. v4's own list is asked for it, the newest first.
 *
 * @returns the fields, those with a mark ready to be translated
 * @throws {HttpError} 400 for a filter that can't be said in v4, before anything is asked
 */
export async function resolveFilterBoundaries(
  filter: Filter,
  fields: FilterFields,
  list: PreparedRequest,
  work: RouteExecution,
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
