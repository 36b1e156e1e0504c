/**
 * The names of a route that the audit counts as numbers instead of texts: names that clients may send (members of the
 * body, parameters of the query, fields of the filter, and enum words), and the possible losses of requests and
 * responses.
 */
import type { Conditions, Filter } from "../filters/condition.ts";
import { isObject, DEFAULT_SEVERITY } from "../../base/index.ts";
import type { Query } from "../paths/query.ts";
import { listFields } from "../filters/filters.ts";
import type { Route } from "./route.ts";
import type { Schema } from "../values/schema-members.ts";
import { isOperand } from "../values/value-kind.ts";

/** Maximum number of names of a route. Members, parameters and fields take precedence over words. */
const MAX_NAMES = 1024;

/** The names that a client sent to a route, limited to the parts of the request that were parsed. */
export interface SentParts {
  readonly query: Query | undefined;
  readonly filter: Filter | undefined;
  /** The object or list in the body, without its wrapper. */
  readonly body: unknown;
}

/** A member, a parameter or a field, and its possible words. */
interface Place {
  /** The number of its name. */
  index: number | undefined;
  /** The numbers of its words. */
  readonly words: Map<string, number>;
  readonly children: Places;
}
type Places = Map<string, Place>;

/** Returns the place below a parent place. Creates it if it is missing. */
function placeIn(places: Places, key: string): Place {
  const place = places.get(key) ?? { index: undefined, words: new Map(), children: new Map() };
  places.set(key, place);
  return place;
}

/** Numbers the names: words are numbered after all other names. */
function createNameList() {
  const names: string[] = [];
  const words: { readonly name: string; readonly place: Place; readonly word: string }[] = [];
  const next = (name: string): number | undefined =>
    names.length < MAX_NAMES ? names.push(name) - 1 : undefined;
  return {
    add(name: string, place: Place, ofPlace: Iterable<unknown>): void {
      place.index ??= next(name);
      for (const word of ofPlace) if (isOperand(word)) words.push({ name, place, word: String(word) });
    },
    /** Returns all names, ordered by their numbers. */
    finish(): readonly string[] {
      for (const { name, place, word } of words) {
        const index = place.words.has(word) ? undefined : next(`${name}=${word}`);
        if (index !== undefined) place.words.set(word, index);
      }
      return names;
    },
  };
}

type NameList = ReturnType<typeof createNameList>;

/** Returns the schemas that apply to the same value as a schema. */
const alternatives = (schema: Schema): Schema[] =>
  ["allOf", "anyOf", "oneOf"].flatMap((key) => {
    const all = schema[key];
    return Array.isArray(all) ? all.filter(isObject) : [];
  });

/** Returns the words of a schema, and of the items of a list. */
const enumWords = (schema: Schema): unknown[] => [
  ...(Array.isArray(schema["enum"]) ? schema["enum"] : []),
  ...(isObject(schema["items"]) ? enumWords(schema["items"]) : []),
  ...alternatives(schema).flatMap(enumWords),
];

/** Adds the members of a body by its schema. Lists add nothing to a name: `body.disks.size`. */
function addMembers(
  schema: Schema,
  name: string,
  places: Places,
  list: NameList,
  valuesOf: (name: string) => Iterable<unknown>,
): void {
  const { properties, items } = schema;
  for (const each of [...(isObject(items) ? [items] : []), ...alternatives(schema)])
    addMembers(each, name, places, list, valuesOf);
  for (const [key, member] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(member)) continue;
    const dotted = name === "" ? key : `${name}.${key}`;
    const place = placeIn(places, key);
    list.add(`body.${dotted}`, place, [...enumWords(member), ...valuesOf(dotted)]);
    addMembers(member, dotted, place.children, list, valuesOf);
  }
}

/** Adds alternative spellings of members, which have the number of the documented spelling. */
function addAliases({ members }: NonNullable<Route["body"]>, places: Places): void {
  for (const { name, rule } of members) {
    const [first = "", ...keys] = name.split(".");
    const place = keys.reduce((found, key) => found?.children.get(key), places.get(first));
    for (const alias of place ? (rule.aliases ?? []) : []) {
      const parents = alias.split(".");
      const last = parents.pop() ?? alias;
      const level = parents.reduce((found, key) => placeIn(found, key).children, places);
      if (place && !level.has(last)) level.set(last, place);
    }
  }
}

/** Sets a bit. Does nothing for an undefined index. */
function setBit(bits: Uint8Array, index: number | undefined): void {
  if (index === undefined) return;
  // Every index of a typed array contains a number.
  (bits[index >> 3] as number) |= 0x80 >> (index & 7);
}

/** Marks the words of a place. */
function markWords(bits: Uint8Array, place: Place, value: unknown): void {
  if (place.words.size === 0) return;
  if (Array.isArray(value)) for (const each of value) markWords(bits, place, each);
  else if (isOperand(value)) setBit(bits, place.words.get(String(value)));
}

/** Marks a place with its words. */
function mark(bits: Uint8Array, place: Place, value: unknown): void {
  setBit(bits, place.index);
  markWords(bits, place, value);
}

function markMembers(value: unknown, places: Places, bits: Uint8Array): void {
  if (Array.isArray(value)) for (const item of value) markMembers(item, places, bits);
  if (!isObject(value)) return;
  for (const key in value) {
    const place = places.get(key);
    if (!place || !Object.hasOwn(value, key)) continue;
    const member = value[key];
    mark(bits, place, member);
    if (place.children.size > 0) markMembers(member, place.children, bits);
  }
}

function markConditions(conditions: Conditions, places: Places, bits: Uint8Array): void {
  for (const condition of conditions)
    if (condition.kind === "field") {
      const place = places.get(condition.field);
      if (place) for (const { value } of condition.tests) mark(bits, place, value);
    } else for (const member of condition.members) markConditions(member, places, bits);
}

/** Compiles the names of the routes of one path. */
function compileNames(routes: readonly Route[]) {
  const list = createNameList();
  const [body, query, filter]: readonly [Places, Places, Places] = [new Map(), new Map(), new Map()];
  for (const route of routes) {
    if (route.body) {
      const { queryFields } = route.resource;
      addMembers(route.body.schema, "", body, list, (name) => queryFields.get(name)?.values ?? []);
      addAliases(route.body, body);
    }
    for (const { name, definition } of route.query.parameters)
      list.add(`query.${name}`, placeIn(query, name), enumWords(definition.schema ?? {}));
    if (route.response !== "list") continue;
    for (const name of route.lists.paging.clientNames) list.add(`query.${name}`, placeIn(query, name), []);
    const isWhole = "catalog" in route.source || route.aggregate !== undefined;
    for (const [name, { values = [] }] of listFields(isWhole, route.resource))
      list.add(`filter.${name}`, placeIn(filter, name), values);
  }
  const names = list.finish();
  return {
    /** The names: `body.label`, `body.plan=small`, `query.page`, `filter.status`, `filter.status=running`. */
    names,
    /** Returns one bit for each name. The first name is the highest bit of the first byte. */
    bitsOf(sent: SentParts): Uint8Array {
      const bits = new Uint8Array(Math.ceil(names.length / 8));
      for (const [name, values] of sent.query ?? []) {
        const place = query.get(name);
        if (place) mark(bits, place, values);
      }
      if (sent.filter) {
        markConditions(sent.filter.conditions, filter, bits);
        for (const { field } of sent.filter.order ?? []) setBit(bits, filter.get(field)?.index);
      }
      if (body.size > 0) markMembers(sent.body, body, bits);
      return bits;
    },
  };
}

/** Calls a compile function for the routes of each path, and returns its results by the names of the routes. */
const byName = <T>(
  routes: readonly Route[],
  compile: (same: readonly Route[]) => T,
): ReadonlyMap<string, T> =>
  new Map([...Map.groupBy(routes, ({ name }) => name)].map(([name, same]) => [name, compile(same)]));

/** Compiles the names of all routes, by the names of the routes. */
export const compileSentNames = (routes: readonly Route[]) => byName(routes, compileNames);

/** Maximum number of losses of a route. Losses of its objects take precedence. */
const MAX_LOSSES = 1024;

function compileLosses(routes: readonly Route[]) {
  const losses = [
    ...routes.flatMap((route) => [...route.losses, ...(route.withoutScopes?.losses ?? [])]),
    // Losses of requests if other calls of the route fail.
    ...routes.flatMap((route) => route.callLosses.map((text) => ({ text, severity: DEFAULT_SEVERITY }))),
  ];
  const unique = [...new Map(losses.map((loss) => [loss.text, loss])).values()].slice(0, MAX_LOSSES);
  const numbers = new Map(unique.map(({ text }, index) => [text, index]));
  return {
    /** Severity and text, separated by a blank: `meaning status: v4 has none`. */
    names: unique.map(({ severity, text }) => `${severity} ${text}`),
    /** Returns one bit for each name, as in {@link compileNames}; undefined if nothing was lost. */
    bitsOf(texts: Iterable<string>): Uint8Array | undefined {
      let bits: Uint8Array | undefined;
      for (const text of texts) {
        const index = numbers.get(text);
        if (index === undefined) continue;
        bits ??= new Uint8Array(Math.ceil(numbers.size / 8));
        setBit(bits, index);
      }
      return bits;
    },
  };
}

/** Compiles the losses of all routes, by the names of the routes. */
export const compileLossNames = (routes: readonly Route[]) => byName(routes, compileLosses);
