/** Converts a JSON Schema to the places that it describes. */
import { isObject } from "../../base/index.ts";
import type { Place } from "./surface.ts";

/** A document or a pack can't be compared: it is too large, too deep, or not a document of this kind. */
export class UnreadableDocumentError extends Error {
  override readonly name = "UnreadableDocumentError";
  readonly code = "AG_OPENAPI_UNREADABLE";
}

/** Maximum number of schemas that are read in one document. Each use of a shared schema is counted. */
const MAX_SCHEMAS = 2_000_000;
/** Maximum nesting of objects, lists and alternatives. */
const MAX_LEVELS = 64;

/** Counts the schemas of a document. A few references can expand to more schemas than fit into memory. */
export class SchemaBudget {
  #left = MAX_SCHEMAS;

  /** Counts one schema. @throws {UnreadableDocumentError} */
  spend(): void {
    this.#left -= 1;
    if (this.#left < 0)
      throw new UnreadableDocumentError(
        `It describes more than ${MAX_SCHEMAS} schemas, with those that references repeat.`,
      );
  }
}

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that limit a value. */
const LIMITS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "multipleOf",
  "pattern",
  "format",
] as const;

/** Returns the objects of a list. Empty for other values. */
export const objectsIn = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Options for reading a document. */
interface Reading {
  readonly budget: SchemaBudget;
  /** Resolves a reference. Undefined for a document without references. */
  readonly resolve?: ((reference: string) => unknown) | undefined;
  /** Members to omit: those that only occur in responses, or only in requests. */
  readonly skip: "readOnly" | "writeOnly";
}

/** The rules of a schema, merged with its alternatives and references. */
interface Flat {
  types: Set<string> | undefined;
  items: Set<string> | undefined;
  words: Set<string> | undefined;
  limits: Record<string, string | number>;
  required: Set<string>;
  members: Map<string, Schema[]>;
}

/** Returns the types of a schema. Undefined if it defines none. */
function typesOf(schema: Schema): Set<string> | undefined {
  const { type, nullable } = schema;
  const named = [type].flat().filter((each): each is string => typeof each === "string");
  if (named.length > 0) return new Set([...named, ...(nullable === true ? ["null"] : [])]);
  if (isObject(schema["properties"])) return undefined;
  const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (!Array.isArray(values)) return undefined;
  return new Set(
    values.map((value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)),
  );
}

/** Returns the words of a schema; null is not a word. */
function wordsOfSchema(schema: Schema): Set<string> | undefined {
  const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (!Array.isArray(values)) return undefined;
  return new Set(values.filter((value) => value !== null && typeof value !== "object").map(String));
}

/** Merges the rules of two schemas of a place. A missing rule changes nothing. */
const union = (one: Set<string> | undefined, other: Set<string> | undefined): Set<string> | undefined =>
  one && other ? new Set([...one, ...other]) : (one ?? other);

/** Merges the words of two schemas: any word is allowed if one schema defines types but no words. */
function joinWords(one: Flat, other: Flat): Set<string> | undefined {
  const isAny = [one, other].some(({ types, words }) => types !== undefined && words === undefined);
  return isAny ? undefined : union(one.words, other.words);
}

const isNull = ({ types, members }: Flat): boolean =>
  types?.size === 1 && types.has("null") && members.size === 0;

/**
 * Merges alternatives. A member is required if all alternatives require it. Words are limited if all alternatives list
 * words.
 */
function joinAlternatives(all: readonly Flat[]): Flat {
  const [first, ...others] = all.filter((flat) => !isNull(flat));
  const isNullable = all.some(isNull);
  if (!first) return flatOf({ type: "null" });
  const joined = others.reduce<Flat>(
    (one, other) => ({
      types: union(one.types, other.types),
      items: union(one.items, other.items),
      words: joinWords(one, other),
      limits: { ...other.limits, ...one.limits },
      required: one.required.intersection(other.required),
      members: addMembers(new Map(one.members), other.members),
    }),
    first,
  );
  return { ...joined, types: joined.types && isNullable ? new Set([...joined.types, "null"]) : joined.types };
}

function addMembers(target: Map<string, Schema[]>, added: Flat["members"]): Map<string, Schema[]> {
  for (const [name, schemas] of added) target.set(name, [...(target.get(name) ?? []), ...schemas]);
  return target;
}

/** Adds further rules for the same place. */
function addRules(flat: Flat, rules: Flat): void {
  flat.types ??= rules.types;
  flat.items ??= rules.items;
  flat.words ??= rules.words;
  flat.limits = { ...rules.limits, ...flat.limits };
  for (const name of rules.required) flat.required.add(name);
  addMembers(flat.members, rules.members);
}

const limitsOf = (schema: Schema): Record<string, string | number> => ({
  ...Object.fromEntries(
    LIMITS.flatMap((name) => {
      const value = schema[name];
      return typeof value === "string" || typeof value === "number" ? [[name, value]] : [];
    }),
  ),
  ...(schema["uniqueItems"] === true && { uniqueItems: "true" }),
  ...(schema["additionalProperties"] === false && { additionalProperties: "false" }),
});

/** Returns the rules of a schema itself. */
const flatOf = (schema: Schema): Flat => ({
  types: typesOf(schema),
  items: undefined,
  words: wordsOfSchema(schema),
  limits: limitsOf(schema),
  required: new Set(Array.isArray(schema["required"]) ? schema["required"].map(String) : []),
  members: new Map(),
});

/** @throws {UnreadableDocumentError} */
function flatten(given: Schema, reading: Reading, path: readonly Schema[]): Flat {
  reading.budget.spend();
  if (path.length > MAX_LEVELS)
    throw new UnreadableDocumentError(`Its schemas are nested more than ${MAX_LEVELS} levels deep.`);
  const reference = given["$ref"];
  // All other references have been replaced by their targets.
  if (typeof reference === "string" && !reading.resolve)
    throw new UnreadableDocumentError(`The reference ${reference} leads to itself.`);
  const target = typeof reference === "string" ? reading.resolve?.(reference) : undefined;
  const flat = flatOf(given);
  const inner = [...path, given];
  const follow = (schema: Schema): Flat[] =>
    inner.includes(schema) ? [] : [flatten(schema, reading, inner)];
  for (const [name, member] of isObject(given["properties"]) ? Object.entries(given["properties"]) : [])
    if (isObject(member)) flat.members.set(name, [member]);
  // The items of a list have the same place as the list: `body.disks.size`.
  if (isObject(given["items"]))
    for (const { types, words, members, required } of follow(given["items"])) {
      flat.items = types;
      flat.words ??= words;
      addMembers(flat.members, members);
      for (const name of required) flat.required.add(name);
    }
  if (isObject(target)) for (const rules of follow(target)) addRules(flat, rules);
  for (const rules of objectsIn(given["allOf"]).flatMap(follow)) addRules(flat, rules);
  for (const key of ["anyOf", "oneOf"]) {
    const alternatives = objectsIn(given[key]).flatMap(follow);
    if (alternatives.length > 0) addRules(flat, joinAlternatives(alternatives));
  }
  return flat;
}

/** The map that receives the places of a schema. */
interface Target extends Reading {
  readonly places: Map<string, Place>;
}

/** Adds the members of a schema below a name. A schema that contains itself is only read once. */
function addMembersAt(name: string, flat: Flat, target: Target, path: readonly Schema[]): void {
  for (const [key, schemas] of flat.members) {
    const own = schemas.filter((schema) => schema[target.skip] !== true);
    if (own.length === 0) continue;
    const member = joinAlternatives(own.map((schema) => flatten(schema, target, path)));
    const place = `${name}.${key}`;
    target.places.set(place, placeOf(member, flat.required.has(key)));
    if (!own.some((schema) => path.includes(schema))) addMembersAt(place, member, target, [...path, ...own]);
  }
}

const placeOf = ({ types, items, words, limits }: Flat, required: boolean): Place => ({
  required,
  types: types ?? new Set(),
  items: items ?? new Set(),
  words,
  limits,
});

/**
 * Adds the place of a schema, `body` or `answer`, and those of its members.
 *
 * @throws {UnreadableDocumentError} If it is too deep, or expands to too many schemas.
 */
export function addPlaces(name: string, schema: unknown, required: boolean, target: Target): void {
  if (!isObject(schema)) return;
  const flat = flatten(schema, target, []);
  target.places.set(name, placeOf(flat, required));
  addMembersAt(name, flat, target, [schema]);
}

/** Returns the place of one value whose members have no effect. @throws {UnreadableDocumentError} */
export const readPlace = (schema: unknown, required: boolean, reading: Reading): Place =>
  placeOf(flatten(isObject(schema) ? schema : {}, reading, []), required);
