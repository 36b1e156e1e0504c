/** Lists that the upstream reads with a POST: parameters of its query, and its filter, become members of a JSON body. */
import { isObject, parseJson, type SourceLocation, suggestionFor } from "../../base/index.ts";
import { formatParameter, parseQuery, type ValueType } from "../paths/query.ts";
import type { JsonObject } from "../translation-context.ts";
import { convertText } from "./parameter.ts";

/** The request for a page of a list. */
export interface ListRequest {
  /** The path with its query. */
  readonly path: string;
  /** The value of the filter header, which is JSON. */
  readonly filter: string | undefined;
}

/** The same request with a body. */
export interface SearchRequest extends ListRequest {
  readonly body: JsonObject;
}

/** Returns the name of a parameter of a shape, such as `$name`; undefined for a constant. */
const parameterOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.startsWith("$") ? value.slice(1) : undefined;

function parametersOf(shape: unknown): string[] {
  const name = parameterOf(shape);
  if (name !== undefined) return [name];
  return typeof shape === "object" && shape !== null ? Object.values(shape).flatMap(parametersOf) : [];
}

/** The values of a request by their names. */
interface SearchValues {
  /** The values for members: one value, or a list. */
  readonly members: ReadonlyMap<string, unknown>;
  /** The values for lists: each value separately. */
  readonly items: ReadonlyMap<string, readonly unknown[]>;
}

/** Fills an item of an array. A name is replaced by all its values. An item is omitted if its names have no value. */
function fillItem(item: unknown, values: SearchValues): readonly unknown[] {
  const name = parameterOf(item);
  if (name !== undefined) return values.items.get(name) ?? [values.members.get(name) ?? []].flat();
  const names = parametersOf(item);
  return names.length > 0 && !names.some((each) => values.members.has(each)) ? [] : [fill(item, values)];
}

/** Fills a shape. Members without a value are omitted, and so are empty objects and arrays. */
function fill(shape: unknown, values: SearchValues): unknown {
  const name = parameterOf(shape);
  if (name !== undefined) return values.members.get(name);
  if (Array.isArray(shape)) {
    const items = shape.flatMap((item) => fillItem(item, values));
    return items.length > 0 || shape.length === 0 ? items : undefined;
  }
  if (!isObject(shape)) return shape;
  const members = Object.entries(shape).map(([key, member]) => [key, fill(member, values)] as const);
  const filled = members.filter(([, value]) => value !== undefined);
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}

const FILTER = "filter";

/** The known facts about the parameters of the upstream's query. */
export interface SearchParameters {
  /** All names that a request may contain, and `filter` if the upstream's filter is JSON. */
  readonly names: readonly string[];
  /** The types of their values, if these are not texts. */
  readonly types: ReadonlyMap<string, readonly ValueType[]>;
  /** Parameters that may have several values and are always lists; each with the separator of values in one text. */
  readonly lists: ReadonlyMap<string, "repeat" | "comma">;
  /** Names of filters whose text may contain several values, separated by commas. In brackets, they become a list. */
  readonly separated: ReadonlySet<string>;
}

/** Reports names of a shape for which no request has a value, and names in keys, which would be sent unchanged. */
function reportUnknownNames(shape: unknown, known: readonly string[], location: SourceLocation): void {
  const name = parameterOf(shape);
  if (name !== undefined && !known.includes(name))
    location.report({
      message: `the upstream's query has no parameter "${name}"`,
      hint: suggestionFor(
        `$${name}`,
        known.map((each) => `$${each}`),
      ),
    });
  if (Array.isArray(shape))
    shape.forEach((item, index) => reportUnknownNames(item, known, location.at(index)));
  if (!isObject(shape)) return;
  for (const [key, member] of Object.entries(shape)) {
    if (parameterOf(key) !== undefined)
      location.at(key).reportKey({
        message: `"${key}" is a key: only values of "search" come from the query`,
        hint: "name the member as the upstream does",
      });
    reportUnknownNames(member, known, location.at(key));
  }
}

/**
 * Compiles a function that moves parameters to the body.
 *
 * @param shape The body, with `$` names of parameters; `$filter` is the JSON of the filter header.
 */
export function compileSearch(
  shape: JsonObject,
  { names: known, types, lists, separated }: SearchParameters,
  location: SourceLocation,
): (request: ListRequest) => SearchRequest {
  const names = new Set(parametersOf(shape));
  if (names.size === 0) location.report('needs a value from the query, such as "$filter" or "$page"');
  reportUnknownNames(shape, known, location);
  return ({ path, filter }) => {
    const question = path.indexOf("?");
    const query = parseQuery(question < 0 ? "" : path.slice(question + 1));
    const values = new Map<string, unknown>();
    const items = new Map<string, readonly unknown[]>();
    const others: string[] = [];
    for (const [name, texts] of query) {
      if (names.has(name)) {
        const separation = lists.get(name);
        const convert = (text: string): unknown => convertText(text, types.get(name) ?? []);
        const parts = texts.flatMap((text) => text.split(","));
        const typed = (separation === "comma" ? parts : texts).map(convert);
        values.set(name, typed.length === 1 && separation === undefined ? typed[0] : typed);
        items.set(name, separated.has(name) ? parts.map(convert) : typed);
      } else others.push(...texts.map((text) => formatParameter(name, text)));
    }
    const isMoved = filter !== undefined && names.has(FILTER);
    if (isMoved) values.set(FILTER, parseJson(filter));
    const bare = question < 0 ? path : path.slice(0, question);
    const body = fill(shape, { members: values, items });
    return {
      path: others.length === 0 ? bare : `${bare}?${others.join("&")}`,
      filter: isMoved ? undefined : filter,
      body: isObject(body) ? body : {},
    };
  };
}
