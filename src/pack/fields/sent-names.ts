/**
 * What the audit counts of a route without its text: the names that clients may send (members of its body, parameters of its
 * query, fields of its filter, and enum words), and what its requests and responses may lose. Each has a number.
 */
import type { Conditions, Filter, Scalar } from "../filters/condition.ts";
import { isObject, DEFAULT_SEVERITY } from "../../base/index.ts";
import type { Query } from "../routes/query.ts";
import { listFields } from "../filters/filters.ts";
import type { Route } from "../routes/route.ts";
import { parentPaths } from "./member-paths.ts";
import type { Schema } from "./schema-members.ts";
import type { Loss } from "./loss.ts";

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

/** What a name ends with, after the equals sign: a word that a member, a parameter or a field may have. */
type Word = string | number | boolean;

const isWord = (value: unknown): value is Word =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** Collects the names of the routes of one path. */
class NameList {
  /** Members, parameters and fields. */
  readonly places = new Set<string>();
  readonly words = new Set<string>();
  /** The places that have words. */
  readonly withWords = new Set<string>();
  /** Other spellings of members, each with the documented one. */
  readonly spellings = new Map<string, string>();

  add(name: string, words: Iterable<unknown>): void {
    this.places.add(name);
    for (const word of words) {
      if (!isWord(word)) continue;
      this.words.add(`${name}=${String(word)}`);
      this.withWords.add(name);
    }
  }
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
  list: NameList,
  valuesOf: (name: string) => Iterable<unknown>,
): void {
  const { properties, items } = schema;
  for (const each of [...(isObject(items) ? [items] : []), ...alternatives(schema)])
    addMembers(each, name, list, valuesOf);
  for (const [key, member] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(member)) continue;
    const dotted = name === "" ? key : `${name}.${key}`;
    list.add(`body.${dotted}`, [...wordsOf(member), ...valuesOf(dotted)]);
    addMembers(member, dotted, list, valuesOf);
  }
}

/** Adds other spellings of members: they count as the documented one. */
function addAliases({ members }: NonNullable<Route["body"]>, { places, spellings }: NameList): void {
  for (const { name, rule } of members)
    for (const alias of places.has(`body.${name}`) ? (rule.aliases ?? []) : [])
      if (!places.has(`body.${alias}`)) spellings.set(`body.${alias}`, `body.${name}`);
}

/** A whole object in place of an id has no word. */
const scalarOf = (value: unknown): Scalar | undefined => (isObject(value) ? undefined : (value as Scalar));

/** Sets a bit; an undefined index has none. */
export function setBit(bits: Uint8Array, index: number | undefined): void {
  if (index === undefined) return;
  // A typed array has a number at each of its places.
  (bits[index >> 3] as number) |= 0x80 >> (index & 7);
}

/** Marks the names of one request. */
class SentMarks {
  readonly bits: Uint8Array;
  readonly #list: NameList;
  readonly #numbers: ReadonlyMap<string, number>;
  /** Objects in which other spellings of members are. */
  readonly #parents: ReadonlySet<string>;

  constructor(list: NameList, numbers: ReadonlyMap<string, number>, parents: ReadonlySet<string>) {
    this.bits = new Uint8Array(Math.ceil(numbers.size / 8));
    this.#list = list;
    this.#numbers = numbers;
    this.#parents = parents;
  }

  /** Marks a name with its words. */
  mark(name: string, value: unknown): void {
    setBit(this.bits, this.#numbers.get(name));
    if (this.#list.withWords.has(name)) this.#markWords(name, value);
  }

  #markWords(name: string, value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.#markWords(name, each);
    else if (isWord(value)) setBit(this.bits, this.#numbers.get(`${name}=${String(value)}`));
  }

  markMembers(value: unknown, name: string): void {
    if (Array.isArray(value)) for (const item of value) this.markMembers(item, name);
    if (!isObject(value)) return;
    for (const key in value) {
      // The dots of a name are between members.
      if (key.includes(".") || !Object.hasOwn(value, key)) continue;
      const sent = `${name}.${key}`;
      const documented = this.#list.spellings.get(sent) ?? sent;
      const isPlace = this.#list.places.has(documented);
      if (isPlace) this.mark(documented, value[key]);
      if (isPlace || this.#parents.has(documented)) this.markMembers(value[key], documented);
    }
  }

  markConditions(conditions: Conditions): void {
    for (const condition of conditions)
      if (condition.kind === "field")
        for (const { value } of condition.tests) this.mark(`filter.${condition.field}`, scalarOf(value));
      else for (const member of condition.members) this.markConditions(member);
  }
}

/** Compiles the names of the routes of one path. */
function compileNames(routes: readonly Route[]) {
  const list = new NameList();
  for (const route of routes) {
    const valuesOf = (name: string): Iterable<unknown> => route.resource.queryFields.get(name)?.values ?? [];
    if (route.body) {
      addMembers(route.body.schema, "", list, valuesOf);
      addAliases(route.body, list);
    }
    for (const { name, definition } of route.query.parameters)
      list.add(`query.${name}`, wordsOf(definition.schema ?? {}));
    if (route.response !== "list") continue;
    for (const name of route.lists.paging.clientNames) list.add(`query.${name}`, []);
    const isWhole = "catalog" in route.source || route.aggregate !== undefined;
    for (const [name, { values = [] }] of listFields(isWhole, route.resource))
      list.add(`filter.${name}`, values);
  }
  const names = [...list.places, ...list.words].slice(0, MAX_NAMES);
  const numbers = new Map(names.map((name, index) => [name, index]));
  const parents = new Set(parentPaths(list.spellings.keys()));
  return {
    /** `body.label`, `body.plan=small`, `query.page`, `filter.status`, `filter.status=running`. */
    names: names as readonly string[],
    /** One bit for each of the names, the first one being the highest of the first byte. */
    bitsOf({ query, filter, body }: SentParts): Uint8Array {
      const marks = new SentMarks(list, numbers, parents);
      for (const [name, values] of query ?? []) marks.mark(`query.${name}`, values);
      if (filter) {
        marks.markConditions(filter.conditions);
        for (const { field } of filter.order ?? []) marks.mark(`filter.${field}`, undefined);
      }
      marks.markMembers(body, "body");
      return marks.bits;
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
