/** Holds a value against a JSON Schema of a document, and names each place that does not fit. */
import { isIP, isIPv4 } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../dialect/json/parse.ts";
import { typeOf, type Resolve, type Schema } from "./alternatives.ts";
import type { BoundedPatterns } from "./bounded-pattern.ts";

/** The keys and indexes that lead to a value. */
export type JsonPath = readonly (string | number)[];

/** A value that does not fit. */
export interface Misfit {
  readonly path: JsonPath;
  /** `undefined`: the member is missing. */
  readonly actual: unknown;
  /** What the schema asks for, such as `string` or `one of "a", "b"`. */
  readonly expected: string;
  /** The schema of the place. */
  readonly schema: Schema;
}

/** How schemas are read. */
export interface SchemaReading {
  readonly resolve: Resolve;
  readonly patterns: BoundedPatterns;
}

/** Schemas in each other at one place: a schema may contain itself. */
const MAX_LEVELS = 64;
/** Misfits of one value that are told apart. */
const MAX_MISFITS = 200;

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  "date-time": (text) =>
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  ip: (text) => isIP(text) > 0,
  ipv4: (text) => isIPv4(text),
  ipv6: (text) => isIP(text) === 6,
  uuid: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
};

function hasType(name: unknown, value: unknown): boolean {
  if (name === "integer") return Number.isInteger(value);
  return name === typeOf(value);
}

const types = (schema: Schema): string[] => {
  const { type, nullable } = schema;
  const named = [type].flat().filter((each): each is string => typeof each === "string");
  return named.length > 0 && nullable === true ? [...named, "null"] : named;
};

/** What a schema asks for, in a few words. */
export function describeSchema(schema: Schema): string {
  const { $ref: reference, enum: words, const: only, format, pattern } = schema;
  if (typeof reference === "string") return reference.split("/").at(-1) ?? reference;
  if (Array.isArray(words)) return `one of ${words.map((word) => JSON.stringify(word)).join(", ")}`;
  if (only !== undefined) return JSON.stringify(only);
  const choices = [schema["anyOf"], schema["oneOf"]].flatMap((all) =>
    Array.isArray(all) ? all.filter(isObject) : [],
  );
  if (choices.length > 0) return [...new Set(choices.map(describeSchema))].join(" or ");
  const named = types(schema).join(" or ") || (isObject(schema["properties"]) ? "object" : "another value");
  const rule = typeof format === "string" ? format : typeof pattern === "string" ? pattern : undefined;
  return rule === undefined ? named : `${named} (${rule})`;
}

const numberAt = (schema: Schema, name: string): number | undefined =>
  typeof schema[name] === "number" ? schema[name] : undefined;

/** A limit of a size that is not kept; undefined if all are. */
function brokenSize(schema: Schema, size: number, least: string, most: string): string | undefined {
  const [low, high] = [numberAt(schema, least), numberAt(schema, most)];
  if (low !== undefined && size < low) return `${least} ${low}`;
  return high !== undefined && size > high ? `${most} ${high}` : undefined;
}

/** An exclusive limit is a number (3.1), or makes the other limit exclusive (3.0). */
function brokenRange(schema: Schema, value: number): string | undefined {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const above = numberAt(schema, exclusiveMinimum === true ? "minimum" : "exclusiveMinimum");
  const below = numberAt(schema, exclusiveMaximum === true ? "maximum" : "exclusiveMaximum");
  if (above !== undefined && value <= above) return `more than ${above}`;
  if (below !== undefined && value >= below) return `less than ${below}`;
  return brokenSize(schema, value, "minimum", "maximum");
}

function brokenText(schema: Schema, text: string, { patterns }: SchemaReading): string | undefined {
  const { format, pattern } = schema;
  const size = brokenSize(schema, Array.from(text).length, "minLength", "maxLength");
  if (size !== undefined) return size;
  if (typeof pattern === "string" && patterns.test(pattern, text) === false) return describeSchema(schema);
  const test = typeof format === "string" && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return test && !test(text) ? describeSchema(schema) : undefined;
}

/** The rule of a schema that a value itself does not keep, without its members; undefined if it keeps all. */
function brokenRule(schema: Schema, value: unknown, reading: SchemaReading): string | undefined {
  const named = types(schema);
  if (named.length > 0 && !named.some((name) => hasType(name, value))) return describeSchema(schema);
  if (value === null && schema["nullable"] === true) return undefined;
  const words = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (Array.isArray(words) && !words.some((word) => isDeepStrictEqual(word, value)))
    return describeSchema(schema);
  if (typeof value === "string") return brokenText(schema, value, reading);
  if (typeof value === "number") return brokenRange(schema, value);
  if (Array.isArray(value)) return brokenSize(schema, value.length, "minItems", "maxItems");
  return isObject(value)
    ? brokenSize(schema, Object.keys(value).length, "minProperties", "maxProperties")
    : undefined;
}

/** The misfits of the alternative that a value is nearest to: the one whose misfits are deepest. */
function nearest(all: readonly (readonly Misfit[])[], own: Misfit): readonly Misfit[] {
  if (all.some((misfits) => misfits.length === 0)) return [];
  const inner = all.filter((misfits) => misfits.every(({ path }) => path.length > own.path.length));
  const [first] = inner.toSorted((one, other) => one.length - other.length);
  return first ?? [own];
}

/** Returns what does not fit; at most a bounded number of places. */
export function misfitsOf(schema: unknown, value: unknown, reading: SchemaReading): readonly Misfit[] {
  return check(schema, value, [], reading, 0);
}

function check(
  given: unknown,
  value: unknown,
  path: JsonPath,
  reading: SchemaReading,
  level: number,
): readonly Misfit[] {
  if (!isObject(given) || level > MAX_LEVELS) return [];
  const schema: Schema = given;
  const own = (expected: string): Misfit => ({ path, actual: value, expected, schema });
  const broken = brokenRule(schema, value, reading);
  if (broken !== undefined) return [own(broken)];
  const inner = (other: unknown): readonly Misfit[] => check(other, value, path, reading, level + 1);
  const found: Misfit[] = [];
  const { $ref: reference, allOf } = schema;
  if (typeof reference === "string") found.push(...inner(reading.resolve(reference)));
  if (value === null && schema["nullable"] === true) return found;
  for (const part of Array.isArray(allOf) ? allOf : []) found.push(...inner(part));
  for (const key of ["anyOf", "oneOf"])
    if (Array.isArray(schema[key]) && schema[key].length > 0)
      found.push(...nearest(schema[key].map(inner), own(describeSchema(schema))));
  if (Array.isArray(value) && isObject(schema["items"]))
    for (const [index, item] of value.entries())
      found.push(...check(schema["items"], item, [...path, index], reading, 0));
  if (isObject(value)) found.push(...checkMembers(schema, value, path, reading));
  return found.slice(0, MAX_MISFITS);
}

function checkMembers(
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
  path: JsonPath,
  reading: SchemaReading,
): Misfit[] {
  const { required, additionalProperties: others } = schema;
  const members = isObject(schema["properties"]) ? schema["properties"] : {};
  const member = (name: string): Schema => {
    const found = Object.hasOwn(members, name) ? members[name] : undefined;
    return isObject(found) ? found : {};
  };
  const missing = (Array.isArray(required) ? required.map(String) : []).filter(
    (name) => !Object.hasOwn(value, name) && member(name)["writeOnly"] !== true,
  );
  const misfits: Misfit[] = missing.map((name) => ({
    path: [...path, name],
    actual: undefined,
    expected: describeSchema(member(name)),
    schema: member(name),
  }));
  for (const [name, each] of Object.entries(value)) {
    const at = [...path, name];
    if (Object.hasOwn(members, name)) misfits.push(...check(members[name], each, at, reading, 0));
    else if (others === false)
      misfits.push({ path: at, actual: each, expected: "no such member", schema: {} });
    else misfits.push(...check(others, each, at, reading, 0));
  }
  return misfits;
}
