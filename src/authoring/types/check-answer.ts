/** Holds an answer against what a description says about it. */
import { isObject } from "../../base/index.ts";
import type { Place } from "../../migration/index.ts";
import type { Patterns } from "./pattern.ts";

/** A value that the description does not allow. */
export interface Mismatch {
  /** `answer.books.title`. */
  readonly place: string;
  /** Undefined for a member that is missing. */
  readonly actual: unknown;
  /** In words: `string or null`. */
  readonly expected: string;
}

/** The type of an answer: its places, and the members of each. */
export interface AnswerType {
  readonly places: ReadonlyMap<string, Place>;
  readonly members: ReadonlyMap<string, readonly string[]>;
}

/** Values of one answer that are compared. */
const MOST_VALUES = 20_000;

/** The name of the place of a whole answer. */
export const ANSWER = "answer";

/** Finds the members of each place. */
export function createAnswerType(places: ReadonlyMap<string, Place>): AnswerType {
  const members = new Map<string, string[]>();
  for (const name of places.keys()) {
    const dot = name.lastIndexOf(".");
    if (dot < 0) continue;
    const parent = name.slice(0, dot);
    members.set(parent, [...(members.get(parent) ?? []), name.slice(dot + 1)]);
  }
  return { places, members };
}

const typeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
};

const isOfType = (value: unknown, types: ReadonlySet<string>): boolean =>
  types.size === 0 ||
  types.has(typeOf(value)) ||
  (typeof value === "number" && types.has("integer") && Number.isInteger(value));

const inWords = (values: Iterable<string>): string => [...values].join(" or ");

const FORMATS: ReadonlyMap<unknown, RegExp> = new Map(
  Object.entries({
    "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i,
    date: /^\d{4}-\d\d-\d\d$/,
    uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  }),
);

/** How a value can break a limit. Others are for clients that send. */
const LIMITS: Readonly<Record<string, (value: unknown, limit: number) => boolean>> = {
  minimum: (value, limit) => typeof value === "number" && value < limit,
  maximum: (value, limit) => typeof value === "number" && value > limit,
  exclusiveMinimum: (value, limit) => typeof value === "number" && value <= limit,
  exclusiveMaximum: (value, limit) => typeof value === "number" && value >= limit,
  minLength: (value, limit) => typeof value === "string" && Array.from(value).length < limit,
  maxLength: (value, limit) => typeof value === "string" && Array.from(value).length > limit,
  minItems: (value, limit) => Array.isArray(value) && value.length < limit,
  maxItems: (value, limit) => Array.isArray(value) && value.length > limit,
};

/** The limit that a value breaks. */
function brokenLimit(value: unknown, { limits }: Place, patterns: Patterns): string | undefined {
  for (const [name, limit] of Object.entries(limits)) {
    if (typeof limit === "number" && LIMITS[name]?.(value, limit) === true) return `${name} ${limit}`;
    if (typeof value !== "string" || typeof limit !== "string") continue;
    if (name === "pattern" && patterns.test(limit, value) === false) return `pattern ${limit}`;
    if (name === "format" && FORMATS.get(limit)?.test(value) === false) return `format ${limit}`;
  }
  return undefined;
}

/** What is expected instead of a value at a place; undefined if it may be there. */
function problemOf(value: unknown, place: Place, patterns: Patterns): string | undefined {
  if (!isOfType(value, place.types)) return inWords(place.types);
  const isText = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (isText && place.words && place.words.size > 0 && !place.words.has(String(value)))
    return `one of ${[...place.words].slice(0, 20).join(", ")}`;
  return brokenLimit(value, place, patterns);
}

/** Finds what a description does not allow in an answer, one of each place. */
export function findMismatches(
  body: unknown,
  { places, members }: AnswerType,
  patterns: Patterns,
): readonly Mismatch[] {
  const found = new Map<string, Mismatch>();
  let left = MOST_VALUES;
  const add = (place: string, actual: unknown, expected: string): void => {
    if (!found.has(place)) found.set(place, { place, actual, expected });
  };
  function checkMembers(value: Readonly<Record<string, unknown>>, name: string): void {
    for (const member of members.get(name) ?? []) {
      const below = `${name}.${member}`;
      if (Object.hasOwn(value, member)) checkValue(value[member], below);
      else if (places.get(below)?.required === true) add(below, undefined, "a value");
    }
    const isClosed = places.get(name)?.limits["additionalProperties"] === "false";
    for (const member of isClosed ? Object.keys(value) : [])
      if (!places.has(`${name}.${member}`)) add(`${name}.${member}`, value[member], "no such member");
  }
  function checkItem(item: unknown, place: Place, name: string): void {
    const words = isObject(item) || Array.isArray(item) ? undefined : place.words;
    const problem = problemOf(item, { ...place, types: place.items, words, limits: {} }, patterns);
    if (problem !== undefined) add(name, item, `items: ${problem}`);
    else if (isObject(item)) checkMembers(item, name);
  }
  function checkValue(value: unknown, name: string): void {
    const place = places.get(name);
    left -= 1;
    if (!place || left < 0) return;
    const problem = problemOf(value, place, patterns);
    if (problem !== undefined) add(name, value, problem);
    else if (Array.isArray(value)) for (const item of value) checkItem(item, place, name);
    else if (isObject(value)) checkMembers(value, name);
  }
  checkValue(body, ANSWER);
  return [...found.values()];
}
