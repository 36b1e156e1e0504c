/** The described places of a response as JSON Schema, and the values that it does not allow. */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { setMember } from "../../base/index.ts";
import { prepareRegex, type Regex, RegexLimitError } from "../../jsonata/index.ts";
import type { Operation, Place } from "../../migration/index.ts";
import { keysOfPointer } from "../../pack/index.ts";

export interface Schema extends Readonly<Record<string, unknown>> {
  readonly type?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
}

/** A value that a description does not allow. */
export interface Mismatch {
  /** The place: `answer.books.title`. */
  readonly place: string;
  /** The value. Undefined for a missing member. */
  readonly actual: unknown;
  /** The expected value as text: `string or null`. */
  readonly expected: string;
  /** The keyword of the schema. Undefined if the pack fails. */
  readonly keyword?: string;
}

/** The name of the place of a whole response. */
export const ANSWER = "answer";

/** Maximum number of members of one response that are read, and maximum length of a pattern. */
const [MOST_MEMBERS, MAX_PATTERN] = [5_000, 2_000];
const TYPES = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

/** The formats that are checked. */
export const FORMATS: Readonly<Record<string, RegExp>> = {
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
};

/** Prepares a pattern to run in linear time. Some documents contain patterns that are only valid without the flag `u`. */
function prepare(pattern: string): Regex {
  if (pattern.length > MAX_PATTERN) throw new RangeError("the pattern is too long");
  try {
    return prepareRegex(pattern, "u")();
  } catch {
    return prepareRegex(pattern, "")();
  }
}

const ajv = new Ajv2020({
  code: { regExp: Object.assign(prepare, { code: "linear" }), optimize: false },
  formats: FORMATS,
  allErrors: true,
  verbose: true,
  strict: false,
  validateSchema: false,
  logger: false,
});

/** Whether a pattern can be run in linear time. */
export function isLinear(pattern: string): boolean {
  try {
    return prepare(pattern) !== undefined;
  } catch {
    return false;
  }
}

/** Whether a limit can be checked. A document may contain any value, and a format with the name of an object's method. */
function isUsable(name: string, limit: string | number): boolean {
  if (typeof limit === "number") return name !== "pattern" && name !== "format";
  return name === "format" ? /^[a-z-]+$/.test(limit) : name === "pattern" && isLinear(limit);
}

/** Returns the schema of some types, with the words of their place. */
function typesSchema(given: ReadonlySet<string>, { words = new Set() }: Place): Schema {
  const type = [...given].filter((name) => TYPES.has(name));
  const has = (name: string): boolean => type.length === 0 || given.has(name);
  const typed = [...words].flatMap((word): unknown[] => [
    ...(has("string") ? [word] : []),
    ...(has("boolean") && (word === "true" || word === "false") ? [word === "true"] : []),
    ...((has("number") || has("integer")) && word !== "" && Number.isFinite(Number(word))
      ? [Number(word)]
      : []),
  ]);
  const hasWords = words.size > 0 && !given.has("array") && !given.has("object");
  return { ...(type.length > 0 && { type }), ...(hasWords && { enum: [...typed, null] }) };
}

/** Returns the schema of a place, without its members. */
export const placeSchema = (place: Place): Schema => ({
  ...Object.fromEntries(Object.entries(place.limits).filter(([name, limit]) => isUsable(name, limit))),
  ...typesSchema(place.types, place),
  ...(place.types.has("array") && { items: typesSchema(place.items, place) }),
});

/** Returns the place of the object that contains a member. */
export const parentOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf(".")));

const membersSchema = () => ({ properties: {} as Record<string, unknown>, required: [] as string[] });

/** Returns the schema of a whole response. The items of a list have the same members as the list, by a reference. */
export function answerSchema({ answer }: Operation): Schema {
  const objects = new Set([...answer.keys()].map(parentOf));
  const schemas = new Map<string, Schema>();
  const members = new Map<string, ReturnType<typeof membersSchema>>();
  for (const [name, place] of [...answer].slice(0, MOST_MEMBERS)) {
    const own = placeSchema(place);
    const isClosed = place.limits["additionalProperties"] === "false";
    const ref = objects.has(name) && { $ref: `#/$defs/${members.size}` };
    const schema = { ...own, ...ref, ...(own.items && { items: { ...own.items, ...ref } }) };
    schemas.set(name, schema);
    const parent = members.get(parentOf(name));
    members.set(name, { ...membersSchema(), ...(isClosed && { additionalProperties: false }) });
    if (parent) setMember(parent.properties, name.slice(name.lastIndexOf(".") + 1), schema);
    if (place.required) parent?.required.push(name.slice(name.lastIndexOf(".") + 1));
  }
  return { ...schemas.get(ANSWER), $defs: Object.fromEntries([...members.values()].entries()) };
}

/** Describes an error of Ajv. */
function toMismatch({ keyword, instancePath, params, schema, data }: ErrorObject): Mismatch {
  const { missingProperty: missing, additionalProperty: added } = params;
  const keys = keysOfPointer(instancePath).filter((key) => !/^\d+$/.test(key));
  const place = [ANSWER, ...keys, missing ?? added ?? []].flat().join(".");
  if (missing !== undefined) return { place, actual: undefined, expected: "a value", keyword };
  if (added !== undefined)
    return { place, actual: (data as Schema)[added], expected: "no such member", keyword };
  const values = [schema].flat();
  let expected = `${keyword} ${values.join(", ")}`;
  if (keyword === "type") expected = values.join(" or ");
  if (keyword === "enum") expected = `one of ${values.slice(0, -1).slice(0, 20).join(", ")}`;
  const prefix = /\/\d+$/.test(instancePath) ? "items: " : "";
  return { place, actual: data, expected: prefix + expected, keyword };
}

/** Finds the values that a schema does not allow, at most one for each place. Ajv compiles each schema once. */
export function findMismatches(value: unknown, schema: Schema): Mismatch[] {
  const validate = ajv.compile(schema);
  try {
    validate(value);
  } catch (error) {
    // A text would need too many steps for a pattern.
    if (error instanceof RegexLimitError) return [];
    throw error;
  }
  const found = Map.groupBy((validate.errors ?? []).map(toMismatch), ({ place }) => place);
  return [...found.values()].flatMap(([first]) => first ?? []);
}
