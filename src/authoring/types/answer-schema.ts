/** The described places of a response as JSON Schema. */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { setMember } from "../../base/index.ts";
import { prepareRegex, type Regex, RegexLimitError } from "../../jsonata/index.ts";
import type { Operation, Place } from "../../migration/index.ts";
import { keysOfPointer } from "../../pack/index.ts";

/** The rules for a value, without those for the members of an object. */
export interface Schema extends Readonly<Record<string, unknown>> {
  readonly type?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
}

/** A value that the description does not allow. */
export interface Mismatch {
  /** The place: `answer.books.title`. */
  readonly place: string;
  /** The value. Undefined for a missing member. */
  readonly actual: unknown;
  /** The expected value as text: `string or null`. */
  readonly expected: string;
  /** The keyword of the schema. Undefined: the pack fails. */
  readonly rule?: string;
}

/** Finds the values that a description does not allow, at most one for each place. */
export type FindMismatches = (value: unknown) => readonly Mismatch[];

/** The name of the place of a whole response. */
export const ANSWER = "answer";
/** The expected value if a description does not contain the member. */
const NO_MEMBER = "no such member";

/** Maximum number of members of one response that are read, and maximum length of a pattern. */
const [MOST_MEMBERS, MAX_PATTERN] = [5_000, 2_000];
const TYPES = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

/** The formats that are checked. */
export const FORMATS: ReadonlyMap<unknown, RegExp> = new Map([
  ["date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i],
  ["date", /^\d{4}-\d\d-\d\d$/],
  ["uuid", /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i],
]);

/** Prepares a pattern to run in linear time. Some documents contain patterns that are only valid without the flag `u`. */
function prepare(pattern: string): Regex {
  if (pattern.length > MAX_PATTERN) throw new RangeError("it is too long");
  try {
    return prepareRegex(pattern, "u")();
  } catch {
    return prepareRegex(pattern, "")();
  }
}

/** Returns the schema of some types, with the words of their place. */
function typesSchema(given: ReadonlySet<string>, { words = new Set() }: Place): Schema {
  const type = [...given].filter((name) => TYPES.has(name));
  const typed = [...words].map((word) => {
    if (given.has("string")) return word;
    return word === "true" || word === "false" ? word === "true" : Number(word);
  });
  const hasWords = words.size > 0 && !given.has("array") && !given.has("object");
  return { ...(type.length > 0 && { type }), ...(hasWords && { enum: [...typed, null] }) };
}

/** Describes an error of Ajv. */
function toMismatch({ keyword, instancePath, params, schema, data }: ErrorObject): Mismatch {
  const { missingProperty: missing, additionalProperty: added } = params;
  const keys = keysOfPointer(instancePath).filter((key) => !/^\d+$/.test(key));
  const place = [ANSWER, ...keys, missing ?? added ?? []].flat().join(".");
  if (missing !== undefined) return { place, actual: undefined, expected: "a value" };
  if (added !== undefined) return { place, actual: (data as Schema)[added], expected: NO_MEMBER };
  const values = [schema].flat();
  let expected = `${keyword} ${values.join(", ")}`;
  if (keyword === "type") expected = values.join(" or ");
  if (keyword === "enum") expected = `one of ${values.slice(0, -1).slice(0, 20).join(", ")}`;
  return {
    place,
    actual: data,
    rule: keyword,
    expected: /\/\d+$/.test(instancePath) ? `items: ${expected}` : expected,
  };
}

/** Returns the place of the object that contains a member. */
export const parentOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf(".")));

/** Creates the schemas of places, and compares values with them. */
export class Schemas {
  /** Patterns that can't be run in linear time, or once needed too many steps. */
  readonly unusable = new Set<string>();
  readonly #ajv = new Ajv2020({
    code: { regExp: Object.assign(prepare, { code: "linear" }), optimize: false },
    allErrors: true,
    verbose: true,
    strict: false,
    validateSchema: false,
    logger: false,
  });

  constructor() {
    this.#ajv.removeKeyword("format").addKeyword({
      keyword: "format",
      type: "string",
      validate: (format: string, text: string) => FORMATS.get(format)?.test(text) !== false,
    });
  }

  /** Whether a limit can be checked. A document may contain any value for it. */
  #isUsable(name: string, limit: string | number): boolean {
    if (name !== "pattern" || typeof limit === "number")
      return (name === "format") === (typeof limit === "string");
    try {
      prepare(limit);
    } catch {
      this.unusable.add(limit);
    }
    return !this.unusable.has(limit);
  }

  /** Returns the schema of a place, without its members. */
  ofPlace(place: Place): Schema {
    const limits = Object.entries(place.limits).filter(([name, limit]) => this.#isUsable(name, limit));
    return {
      ...Object.fromEntries(limits),
      ...typesSchema(place.types, place),
      ...(place.types.has("array") && { items: typesSchema(place.items, place) }),
      ...(place.limits["additionalProperties"] === "false" && { additionalProperties: false }),
    };
  }

  /** Returns the schema of a whole response. The items of a list have the same members as the list. */
  ofAnswer({ answer }: Operation): Schema {
    const schemas = new Map<string, Schema & ReturnType<typeof noMembers>>();
    for (const [name, place] of [...answer].slice(0, MOST_MEMBERS)) {
      const own = this.ofPlace(place);
      const members = noMembers();
      const schema = { ...own, ...members, items: { ...own.items, ...members } };
      schemas.set(name, schema);
      const parent = schemas.get(parentOf(name));
      const key = name.slice(name.lastIndexOf(".") + 1);
      if (parent) setMember(parent.properties, key, schema);
      if (place.required) parent?.required.push(key);
    }
    return schemas.get(ANSWER) ?? {};
  }

  compile(schema: Schema): FindMismatches {
    const validate = this.#ajv.compile(schema);
    return (value) => {
      try {
        validate(value);
      } catch (error) {
        // The text needs too many steps for a pattern.
        if (error instanceof RegexLimitError) return [];
        throw error;
      }
      const found = Map.groupBy((validate.errors ?? []).map(toMismatch), ({ place }) => place);
      return [...found.values()].flatMap(([first]) => first ?? []);
    };
  }
}

const noMembers = () => ({ properties: {} as Record<string, unknown>, required: [] as string[] });
