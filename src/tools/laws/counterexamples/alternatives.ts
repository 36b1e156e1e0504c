/** A JSON Schema as plain alternatives: without references, `allOf`, `anyOf`, `oneOf`, several types and `nullable`. */
import { isObject } from "../../../dialect/json/parse.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** Finds what a reference names; the result is undefined for one that names nothing. */
export type Resolve = (reference: string) => unknown;

/** Alternatives of one place. Further ones are left out. */
const MAX_ALTERNATIVES = 24;
/** Schemas in each other at one place. */
const MAX_LEVELS = 16;

const schemasIn = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The JSON type of a value. An integer is a number. */
export const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

const textsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");

/** What two schemas of one place say together. */
function merge(one: Schema, other: Schema): Schema {
  const [first, second] = [one["properties"], other["properties"]];
  const properties = isObject(first) && isObject(second) ? mergeMembers(first, second) : (first ?? second);
  const required = [...textsIn(one["required"]), ...textsIn(other["required"])];
  const hasRequired = one["required"] !== undefined || other["required"] !== undefined;
  return {
    ...one,
    ...other,
    ...(properties !== undefined && { properties }),
    ...(hasRequired && { required }),
  };
}

function mergeMembers(one: Schema, other: Schema): Schema {
  const members: Record<string, unknown> = { ...one };
  for (const [name, schema] of Object.entries(other))
    members[name] =
      Object.hasOwn(one, name) && one[name] !== schema ? { allOf: [one[name], schema] } : schema;
  return members;
}

const combine = (all: readonly Schema[], others: readonly Schema[]): Schema[] =>
  all.flatMap((one) => others.map((other) => merge(one, other))).slice(0, MAX_ALTERNATIVES);

/** One alternative for each type of a schema, with the words of that type. */
function splitTypes(schema: Schema): Schema[] {
  const { type, nullable, ...rules } = schema;
  const words = rules["const"] === undefined ? rules["enum"] : [rules["const"]];
  const named = textsIn(type);
  const found = Array.isArray(words) ? [...new Set(words.map(typeOf))] : [];
  const types = named.length > 0 ? named : found;
  const all = nullable === true && !types.includes("null") ? [...types, "null"] : types;
  if (all.length === 0) return [rules];
  return all.flatMap((name): Schema[] => {
    if (name === "null") return [{ type: "null" }];
    if (!Array.isArray(words)) return [{ ...rules, type: name }];
    const own = words.filter((value) => typeOf(value) === (name === "integer" ? "number" : name));
    return own.length > 0 ? [{ ...rules, type: name, enum: own }] : [];
  });
}

/** Reads the alternatives of schemas. The result of each is kept. */
export class Alternatives {
  readonly #resolve: Resolve;
  readonly #known = new WeakMap<object, readonly Schema[]>();

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** The alternatives of a schema, the one that is no null first. A schema that contains itself at its own place ends there. */
  of(schema: unknown): readonly Schema[] {
    if (!isObject(schema)) return [{}];
    const known = this.#known.get(schema);
    if (known) return known;
    const found = this.#read(schema, 0).flatMap(splitTypes);
    const isNull = ({ type }: Schema): boolean => type === "null";
    const unique = [...found.filter((each) => !isNull(each)), ...found.filter(isNull).slice(0, 1)];
    const alternatives = unique.slice(-MAX_ALTERNATIVES);
    this.#known.set(schema, alternatives);
    return alternatives;
  }

  #read(schema: Schema, level: number): Schema[] {
    const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
    if (level > MAX_LEVELS) return [own];
    let all: Schema[] = [own];
    const target = typeof reference === "string" ? this.#resolve(reference) : undefined;
    if (isObject(target)) all = combine(this.#read(target, level + 1), all);
    for (const part of schemasIn(allOf)) all = combine(this.#read(part, level + 1), all);
    for (const group of [anyOf, oneOf]) {
      const parts = schemasIn(group).flatMap((part) => this.#read(part, level + 1));
      if (parts.length > 0) all = combine(parts.slice(0, MAX_ALTERNATIVES), all);
    }
    return all;
  }
}
