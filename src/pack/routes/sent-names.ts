/**
 * The names of a route that the audit counts without its text: names that clients may send (members of its body,
 * parameters of its query, fields of its filter, and enum words), and the possible losses of its requests and
 * responses. Each has a number.
 */
import type { Conditions, Filter } from "../filters/condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import { isObject, DEFAULT_SEVERITY } from "../../base/index.ts";
import type { Query } from "../paths/query.ts";
import { listFields } from "../filters/filters.ts";
import type { Route } from "./route.ts";
import type { Schema } from "../values/schema-members.ts";
import type { Loss } from "../fields/loss.ts";

/** Maximum number of names of a route. Words are left out before members, parameters and fields. */
const MAX_NAMES = 1024;

/** The names that a client sent to a route, as far as the request was parsed. */
export interface SentParts {
  readonly query: Query | undefined;
  readonly filter: Filter | undefined;
  /** The object or list of the body, without its wrapper. */
  readonly body: unknown;
}

/** The names of the routes of one path, from which the body may select one. */
export type SentNames = ReturnType<typeof compileNames>;

/** A member, a parameter or a field, and the words that it may have. */
interface Place {
  /** The number of its name. */
  index: number | undefined;
  readonly words: Map<string, number>;
  readonly children: Map<string, Place>;
}

const createPlace = (): Place => ({ index: undefined, words: new Map(), children: new Map() });

/** Collects the names of a route before they get their numbers. */
class NameList {
  readonly #names = new Map<string, Place>();
  readonly #words = new Map<string, { readonly place: Place; readonly word: string }>();

  add(name: string, place: Place, words: Iterable<unknown>): void {
    this.#names.set(name, place);
    for (const word of words)
      if (isWord(word)) this.#words.set(`${name}=${String(word)}`, { place, word: String(word) });
  }

  /** Numbers the names. @returns All names in the order of their numbers. */
  number(): readonly string[] {
    const names = [...this.#names.keys(), ...this.#words.keys()].slice(0, MAX_NAMES);
    for (const [index, name] of names.entries()) {
      const place = this.#names.get(name);
      if (place) place.index = index;
      const of = this.#words.get(name);
      of?.place.words.set(of.word, index);
    }
    return names;
  }
}

const isWord = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** The place below another one. It is created if it is missing. */
function placeIn(places: Map<string, Place>, key: string): Place {
  const existing = places.get(key);
  if (existing) return existing;
  const created = createPlace();
  places.set(key, created);
  return created;
}

/** Schemas that hold at the same place as a schema. */
const alternatives = (schema: Schema): Schema[] =>
  ["allOf", "anyOf", "oneOf"].flatMap((key) => {
    const all = schema[key];
    return Array.isArray(all) ? all.filter(isObject) : [];
  });

/** The words of a schema, and of the items of a list. */
const wordsOf = (schema: Schema): unknown[] => [
  ...(Array.isArray(schema["enum"]) ? schema["enum"] : []),
  ...(isObject(schema["items"]) ? wordsOf(schema["items"]) : []),
  ...alternatives(schema).flatMap(wordsOf),
];

/** Adds the members of a body by its schema. Lists add nothing to a name: `body.disks.size`. */
function addMembers(
  schema: Schema,
  name: string,
  places: Map<string, Place>,
  list: NameList,
  valuesOf: (name: string) => Iterable<unknown>,
): void {
  const { properties, items } = schema;
  if (isObject(items)) addMembers(items, name, places, list, valuesOf);
  for (const each of alternatives(schema)) addMembers(each, name, places, list, valuesOf);
  if (!isObject(properties)) return;
  for (const [key, member] of Object.entries(properties)) {
    if (!isObject(member)) continue;
    const dotted = name === "" ? key : `${name}.${key}`;
    const place = placeIn(places, key);
    list.add(`body.${dotted}`, place, [...wordsOf(member), ...valuesOf(dotted)]);
    addMembers(member, dotted, place.children, list, valuesOf);
  }
}

/** Adds other spellings of members: they count as the documented one. */
function addAliases({ members }: NonNullable<Route["body"]>, places: Map<string, Place>): void {
  const find = (name: string): Place | undefined => {
    let level: Map<string, Place> | undefined = places;
    let found: Place | undefined;
    for (const key of name.split(".")) {
      found = level?.get(key);
      level = found?.children;
    }
    return found;
  };
  for (const { name, rule } of members) {
    const place = find(name);
    for (const alias of place ? (rule.aliases ?? []) : []) {
      const keys = alias.split(".");
      const last = keys.pop() ?? alias;
      let level = places;
      for (const key of keys) level = placeIn(level, key).children;
      if (place && !level.has(last)) level.set(last, place);
    }
  }
}

/** Sets a bit. Does nothing for an undefined index. */
function setBit(bits: Uint8Array, index: number | undefined): void {
  if (index === undefined) return;
  // A typed array has a number at each of its places.
  (bits[index >> 3] as number) |= 0x80 >> (index & 7);
}

/** Marks the words of a place. */
function setWord(bits: Uint8Array, place: Place, value: unknown): void {
  if (place.words.size === 0) return;
  if (Array.isArray(value)) for (const each of value) setWord(bits, place, each);
  else if (isWord(value)) setBit(bits, place.words.get(String(value)));
}

/** Marks a place with its words. */
function mark(bits: Uint8Array, place: Place, value: unknown): void {
  setBit(bits, place.index);
  setWord(bits, place, value);
}

function markMembers(value: unknown, places: Map<string, Place>, bits: Uint8Array): void {
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

/** A whole object in place of an id has no word. */
const scalarOf = (value: unknown): Scalar | undefined => (isObject(value) ? undefined : (value as Scalar));

function markConditions(conditions: Conditions, places: Map<string, Place>, bits: Uint8Array): void {
  for (const condition of conditions)
    if (condition.kind === "field") {
      const place = places.get(condition.field);
      if (place) for (const { value } of condition.tests) mark(bits, place, scalarOf(value));
    } else for (const member of condition.members) markConditions(member, places, bits);
}

/** Compiles the names of the routes of one path. */
function compileNames(routes: readonly Route[]) {
  const list = new NameList();
  const [body, query, filter] = [
    new Map<string, Place>(),
    new Map<string, Place>(),
    new Map<string, Place>(),
  ];
  for (const route of routes) {
    const valuesOf = (name: string): Iterable<unknown> => route.resource.queryFields.get(name)?.values ?? [];
    if (route.body) {
      addMembers(route.body.schema, "", body, list, valuesOf);
      addAliases(route.body, body);
    }
    for (const { name, definition } of route.query.parameters)
      list.add(`query.${name}`, placeIn(query, name), wordsOf(definition.schema ?? {}));
    if (route.response !== "list") continue;
    for (const name of route.lists.paging.clientNames) list.add(`query.${name}`, placeIn(query, name), []);
    const isWhole = "catalog" in route.source || route.aggregate !== undefined;
    for (const [name, { values = [] }] of listFields(isWhole, route.resource))
      list.add(`filter.${name}`, placeIn(filter, name), values);
  }
  const names = list.number();
  return {
    /** `body.label`, `body.plan=small`, `query.page`, `filter.status`, `filter.status=running`. */
    names,
    /** One bit for each of the names, the first one being the highest of the first byte. */
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

/** Compiles the names of all routes, by the names of the routes. */
export const compileSentNames = (routes: readonly Route[]): ReadonlyMap<string, SentNames> =>
  new Map([...Map.groupBy(routes, ({ name }) => name)].map(([name, same]) => [name, compileNames(same)]));

/** Maximum number of losses of a route. Those of its objects come first. */
const MAX_LOSSES = 1024;

/** The losses of the routes of one path, from which the body may select one. */
export type LossNames = ReturnType<typeof compileLosses>;

/** The losses of requests if other calls of the route fail. */
const fallbackLosses = ({ callLosses }: Route): Loss[] =>
  callLosses.map((text) => ({ text, severity: DEFAULT_SEVERITY }));

function compileLosses(routes: readonly Route[]) {
  const losses = [
    ...routes.flatMap((route) => [...route.losses, ...(route.withoutScopes?.losses ?? [])]),
    ...routes.flatMap((route) => fallbackLosses(route)),
  ];
  const unique = [...new Map(losses.map((loss) => [loss.text, loss])).values()].slice(0, MAX_LOSSES);
  const numbers = new Map(unique.map(({ text }, index) => [text, index]));
  return {
    /** Severity and text, separated by a blank: `meaning status: v4 has none`. */
    names: unique.map(({ severity, text }) => `${severity} ${text}`),
    /** One bit for each of the names, as in {@link SentNames}; undefined if nothing was lost. */
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
export const compileLossNames = (routes: readonly Route[]): ReadonlyMap<string, LossNames> =>
  new Map([...Map.groupBy(routes, ({ name }) => name)].map(([name, same]) => [name, compileLosses(same)]));
