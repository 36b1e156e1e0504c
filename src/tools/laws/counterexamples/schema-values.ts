/** Values that a schema allows: one plain value, and changes of it that try each place. */
import { isObject } from "../../../dialect/json/parse.ts";
import type { Alternatives, Schema } from "./alternatives.ts";
import { misfitsOf, type JsonPath, type SchemaReading } from "./fits-schema.ts";

/** A value that stands for a missing member. */
export const MISSING = Symbol("missing");

/** A change of one place. */
export interface Edit {
  readonly path: JsonPath;
  readonly value: unknown;
}

/** Changes that belong together: a member of an alternative, after the alternative. */
export type Edits = readonly Edit[];

/** Objects and lists in each other. */
const MAX_DEPTH = 8;
/** Values of one response, so that a wide and deep description stays small. */
const MAX_VALUES = 4000;
/** Changes of one response. */
const MAX_EDITS = 20_000;
/** Characters of the longest text. */
const MAX_LENGTH = 5000;
/** The length of a long text that has no limit. */
const LONG_LENGTH = 300;
/** A word that no description has. */
const UNKNOWN_WORD = "unknown_word";

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  "date-time": ["2026-01-02T03:04:05", "2026-01-02T03:04:05Z"],
  date: ["2026-01-02"],
  uuid: ["0b4c1f9e-5f5d-4c5b-9d3c-6a5f3c2b1a00"],
  ipv4: ["192.0.2.1"],
  ip: ["192.0.2.1", "2001:db8::1"],
  ipv6: ["2001:db8::1"],
  email: ["emma@example.com"],
  uri: ["https://example.com/a"],
  hostname: ["www.example.com"],
};

/** Texts that patterns may match. */
const TEXTS = ["a", "abc", "a-b", "a_b", "A1", "1", "12", "123", "1.2", "v1", "#ffffff", "", "2026-01-02"];

const numberOf = (schema: Schema, name: string): number | undefined => {
  const value = schema[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
};

/** Writes into the places of a value, whose parents it creates. Other values stay as they are. */
export function applyEdits(base: unknown, edits: Edits): unknown {
  return edits.reduce((value, { path, value: next }) => setAt(value, path, next), base);
}

function setAt(value: unknown, path: JsonPath, next: unknown): unknown {
  const [key, ...deeper] = path;
  if (key === undefined) return structuredClone(next);
  if (typeof key === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    if (next === MISSING && deeper.length === 0) list.splice(key, 1);
    else list[key] = setAt(list[key], deeper, next);
    return list;
  }
  const object = isObject(value) ? value : {};
  if (next === MISSING && deeper.length === 0)
    return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
  return { ...object, [key]: setAt(object[key], deeper, next) };
}

/** Generates values of the schemas of one document. */
export class SchemaValues {
  readonly #alternatives: Alternatives;
  readonly #reading: SchemaReading;

  constructor(alternatives: Alternatives, reading: SchemaReading) {
    this.#alternatives = alternatives;
    this.#reading = reading;
  }

  /** A plain value: with all members, each with its example or its first word. */
  plain(schema: unknown): unknown {
    return this.#plain(this.#alternatives.of(schema)[0] ?? {}, [], { left: MAX_VALUES });
  }

  /** The members of the alternatives of a place that a schema has at dotted names; empty if it has none. */
  at(schema: unknown, path: readonly string[]): readonly Schema[] {
    return path.reduce<readonly Schema[]>(
      (all, name) =>
        all.flatMap(({ properties }) =>
          isObject(properties) && Object.hasOwn(properties, name)
            ? this.#alternatives.of(properties[name])
            : [],
        ),
      this.#alternatives.of(schema),
    );
  }

  #plain(schema: Schema, parents: readonly unknown[], budget: { left: number }): unknown {
    budget.left -= 1;
    const { type, enum: words, properties, items } = schema;
    if (Array.isArray(words)) return words[0];
    if (isObject(properties) && (type === "object" || type === undefined)) {
      if (parents.includes(properties) || parents.length > MAX_DEPTH) return {};
      const members = Object.entries(properties).filter(([, member]) => this.#isShown(member));
      return Object.fromEntries(
        members.flatMap(([name, member]) => {
          const [first = {}] = this.#alternatives.of(member);
          const isRepeated = parents.includes(first["properties"]) || properties === first["properties"];
          const isLeftOut = budget.left <= 0 || (isRepeated && !isRequired(schema, name));
          return isLeftOut ? [] : [[name, this.#plain(first, [...parents, properties], budget)]];
        }),
      );
    }
    const given = this.#exampleOf(schema);
    if (given !== undefined) return given;
    if (type === "array" || (type === undefined && isObject(items))) {
      const [first = {}] = this.#alternatives.of(items);
      const isRepeated = parents.includes(first["properties"]) || parents.length > MAX_DEPTH;
      return isRepeated || budget.left <= 0 ? [] : [this.#plain(first, [...parents, schema], budget)];
    }
    if (type === "null") return null;
    if (type === "boolean") return true;
    if (type === "integer" || type === "number") return this.#numbers(schema)[0];
    return type === "object" ? {} : this.#texts(schema)[0];
  }

  /** Members that only requests have are in no response. */
  #isShown = (member: unknown): boolean => isObject(member) && member["writeOnly"] !== true;

  /** An example of a single value that fits. */
  #exampleOf(schema: Schema): unknown {
    const { example, examples, default: given } = schema;
    const all = [example, ...(Array.isArray(examples) ? examples : []), given];
    return all.find(
      (value) =>
        value !== undefined &&
        value !== null &&
        (typeof value !== "object" ||
          (Array.isArray(value) && value.every((each) => typeof each !== "object"))) &&
        misfitsOf(schema, value, this.#reading).length === 0,
    );
  }

  #numbers(schema: Schema): number[] {
    const isWhole = schema["type"] === "integer";
    const above = numberOf(schema, "exclusiveMinimum");
    const below = numberOf(schema, "exclusiveMaximum");
    const least = numberOf(schema, "minimum") ?? (above === undefined ? undefined : above + 1);
    const most = numberOf(schema, "maximum") ?? (below === undefined ? undefined : below - 1);
    const all = [1, least, most, 0, ...(isWhole ? [7, 2 ** 31] : [2.5])].filter(
      (value) => value !== undefined,
    );
    const step = numberOf(schema, "multipleOf");
    const fitting = all.filter(
      (value) =>
        misfitsOf(schema, value, this.#reading).length === 0 && (step === undefined || value % step === 0),
    );
    return fitting.length > 0 ? [...new Set(fitting)] : [least ?? most ?? 1];
  }

  #texts(schema: Schema): string[] {
    const { format, pattern } = schema;
    const most = Math.min(numberOf(schema, "maxLength") ?? LONG_LENGTH, MAX_LENGTH);
    const least = Math.min(numberOf(schema, "minLength") ?? 0, MAX_LENGTH);
    const named = typeof format === "string" && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    if (named) return [...named];
    const example = this.#exampleOf(schema);
    const all = [
      ...(typeof example === "string" ? [example] : []),
      ...TEXTS.map((text) => text.padEnd(least, "a")),
      "x".repeat(most),
    ];
    const fitting = all.filter((text) => misfitsOf(schema, text, this.#reading).length === 0);
    if (fitting.length === 0) return [typeof example === "string" ? example : "a".padEnd(least, "a")];
    if (typeof pattern === "string") return fitting;
    // One of the usual ones, the empty and the longest one, and those that look like other types.
    return [
      ...new Set([
        fitting[0] ?? "",
        ...["", "1", "é"].filter((text) => fitting.includes(text)),
        fitting.at(-1) ?? "",
      ]),
    ];
  }

  /**
   * Yields changes of a plain value that try each place: each word and an unknown one, null where it is allowed, a member
   * that may be missing, empty and long values, and all alternatives. At most a bounded number.
   */
  *edits(schema: unknown, path: JsonPath = []): Generator<Edits> {
    let count = 0;
    for (const edits of this.#editsAt(schema, path, [])) {
      if (count >= MAX_EDITS) return;
      count += 1;
      yield edits;
    }
  }

  *#editsAt(schema: unknown, path: JsonPath, parents: readonly unknown[]): Generator<Edits> {
    if (parents.length > MAX_DEPTH) return;
    for (const [index, alternative] of this.#alternatives.of(schema).entries()) {
      const value = this.#plain(alternative, parents, { left: MAX_VALUES });
      const before: Edits = index === 0 ? [] : [{ path, value }];
      if (index > 0) yield before;
      for (const variant of this.#variants(alternative)) yield [{ path, value: variant }];
      for (const inner of this.#editsInside(alternative, path, parents)) yield [...before, ...inner];
    }
  }

  *#editsInside(alternative: Schema, path: JsonPath, parents: readonly unknown[]): Generator<Edits> {
    const { properties, items } = alternative;
    if (isObject(properties) && !parents.includes(properties))
      for (const [name, member] of Object.entries(properties)) {
        if (!this.#isShown(member)) continue;
        const at = [...path, name];
        const mayMiss = Array.isArray(alternative["required"]) && !isRequired(alternative, name);
        if (mayMiss) yield [{ path: at, value: MISSING }];
        yield* this.#editsAt(member, at, [...parents, properties]);
      }
    if (isObject(items)) {
      const [first = {}] = this.#alternatives.of(items);
      if (parents.includes(first["properties"])) return;
      const one = this.#plain(first, parents, { left: MAX_VALUES });
      const sizes = [[], [one, one]].filter(
        (value) => misfitsOf({ ...alternative, items: {} }, value, this.#reading).length === 0,
      );
      for (const value of sizes) yield [{ path, value }];
      yield* this.#editsAt(items, [...path, 0], [...parents, alternative]);
    }
  }

  /** Values of a place without members. */
  #variants(schema: Schema): readonly unknown[] {
    const { type, enum: words } = schema;
    if (Array.isArray(words)) {
      const unknown = type === "string" ? [UNKNOWN_WORD] : [];
      return [...words, ...(schema["const"] === undefined ? unknown : [])];
    }
    if (type === "boolean") return [true, false];
    if (type === "integer" || type === "number") return this.#numbers(schema);
    return type === "string" ? this.#texts(schema) : [];
  }
}

/** Whether an object always has a member. A description without a list of required members does not say that any may be missing. */
export const isRequired = ({ required }: Schema, name: string): boolean =>
  Array.isArray(required) && required.includes(name);
