/** Lists that the upstream reads by a POST: parameters of its query, and its filter, become members of a JSON body. */
import { isObject, parseJson } from "../../dialect/json/parse.ts";
import { formatParameter, parseQuery } from "../../dialect/query.ts";
import type { SourceLocation } from "../load/source-location.ts";
import type { JsonObject } from "../translation-context.ts";

/** The request of a page of a list. */
export interface ListRequest {
  /** With query. */
  readonly path: string;
  /** Value of the filter header, which is JSON. */
  readonly filter: string | undefined;
}

/** The same request with a body. */
interface SearchRequest extends ListRequest {
  readonly body: JsonObject;
}

/** Returns the name of a parameter of a shape, such as `$name`; undefined for a constant. */
const parameterOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.startsWith("$") ? value.slice(1) : undefined;

function parametersOf(shape: unknown): string[] {
  const name = parameterOf(shape);
  if (name !== undefined) return [name];
  return isObject(shape) ? Object.values(shape).flatMap(parametersOf) : [];
}

/** Fills a shape. Members without a value are left out, and so are objects without members. */
function fill(shape: unknown, values: ReadonlyMap<string, unknown>): unknown {
  const name = parameterOf(shape);
  if (name !== undefined) return values.get(name);
  if (!isObject(shape)) return shape;
  const members = Object.entries(shape).flatMap(([key, member]) => {
    const value = fill(member, values);
    return value === undefined ? [] : [[key, value] as const];
  });
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

const FILTER = "filter";
const COUNT = /^\d{1,15}$/;

/**
 * Compiles a function that moves parameters to the body.
 *
 * @param shape The body, with `$` names of parameters; `$filter` is the JSON of the filter header.
 * @param numbers Parameters whose values are numbers.
 */
export function compileSearch(
  shape: JsonObject,
  numbers: readonly string[],
  location: SourceLocation,
): (request: ListRequest) => SearchRequest {
  const names = new Set(parametersOf(shape));
  if (names.size === 0) location.report('needs a value from the query, such as "$filter" or "$page"');
  return ({ path, filter }) => {
    const question = path.indexOf("?");
    const query = parseQuery(question < 0 ? "" : path.slice(question + 1));
    const values = new Map<string, unknown>();
    const others: string[] = [];
    for (const [name, texts] of query) {
      if (names.has(name)) {
        const typed = texts.map((text) => (numbers.includes(name) && COUNT.test(text) ? Number(text) : text));
        values.set(name, typed.length === 1 ? typed[0] : typed);
      } else others.push(...texts.map((text) => formatParameter(name, text)));
    }
    const isMoved = filter !== undefined && names.has(FILTER);
    if (isMoved) values.set(FILTER, parseJson(filter));
    const bare = question < 0 ? path : path.slice(0, question);
    const body = fill(shape, values);
    return {
      path: others.length === 0 ? bare : `${bare}?${others.join("&")}`,
      filter: isMoved ? undefined : filter,
      body: isObject(body) ? body : {},
    };
  };
}
