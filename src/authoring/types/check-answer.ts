/** Compares a response with its description. */
import { isObject } from "../../base/index.ts";
import { prepareRegex, type Regex, RegexLimitError } from "../../jsonata/index.ts";
import type { Place } from "../../migration/index.ts";
import { ANSWER, type AnswerNode } from "./answer-tree.ts";

/** A value that the description does not allow. */
export interface Mismatch {
  /** The place: `answer.books.title`. */
  readonly place: string;
  /** The value. Undefined for a missing member. */
  readonly actual: unknown;
  /** The expected value as text: `string or null`. */
  readonly expected: string;
}

/** The expected value if a description does not contain the member. */
export const NO_MEMBER = "no such member";

const MAX_PATTERN = 2_000;

/** Prepares a pattern to run in linear time. @returns undefined if it is invalid, or can't run in linear time */
function prepare(pattern: string): Regex | undefined {
  if (pattern.length > MAX_PATTERN) return undefined;
  // Some documents contain patterns that are only valid without the flag `u`.
  for (const flags of ["u", ""])
    try {
      return prepareRegex(new RegExp(pattern, flags).source, flags)();
    } catch {
      continue;
    }
  return undefined;
}

/** Matches patterns in linear time. Patterns that can't be matched so, or once needed too many steps, are not tried. */
export class Patterns {
  readonly #prepared = new Map<string, Regex | undefined>();

  /** The patterns that can't be checked. */
  get unusable(): string[] {
    return [...this.#prepared].flatMap(([pattern, regex]) => (regex ? [] : [pattern]));
  }

  isUsable(pattern: string): boolean {
    if (!this.#prepared.has(pattern)) this.#prepared.set(pattern, prepare(pattern));
    return this.#prepared.get(pattern) !== undefined;
  }

  /** Whether a text does not match a pattern that can be checked. */
  rejects(pattern: string, text: string): boolean {
    try {
      return this.isUsable(pattern) && this.#prepared.get(pattern)?.test(text) === false;
    } catch (error) {
      if (!(error instanceof RegexLimitError)) throw error;
      this.#prepared.set(pattern, undefined);
      return false;
    }
  }
}

const FORMATS: ReadonlyMap<unknown, RegExp> = new Map(
  Object.entries({
    "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i,
    date: /^\d{4}-\d\d-\d\d$/,
    uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  }),
);

/** Returns the number that a limit is compared with. Other limits only apply to requests. */
function measure(name: string, value: unknown): number | undefined {
  if (name.endsWith("Length") && typeof value === "string") return Array.from(value).length;
  if (name.endsWith("Items") && Array.isArray(value)) return value.length;
  return /(?:min|max)imum$/i.test(name) && typeof value === "number" ? value : undefined;
}

function isBroken(name: string, limit: string | number, value: unknown, patterns: Patterns): boolean {
  if (typeof limit === "string") {
    if (typeof value !== "string") return false;
    if (name === "pattern") return patterns.rejects(limit, value);
    return name === "format" && FORMATS.get(limit)?.test(value) === false;
  }
  const measured = measure(name, value);
  if (measured === undefined) return false;
  if (name.startsWith("exclusive") && measured === limit) return true;
  return /^(?:min|exclusiveMin)/.test(name) ? measured < limit : measured > limit;
}

/** Whether a value has one of the types. Without types, any value has. */
export function isOfType(value: unknown, types: ReadonlySet<string>): boolean {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return types.size === 0 || types.has(type) || (types.has("integer") && Number.isInteger(value));
}

/** Returns the expected value at a place. Undefined if the value is permitted. */
function problemOf(value: unknown, { types, words, limits }: Place, patterns: Patterns): string | undefined {
  if (!isOfType(value, types)) return [...types].join(" or ");
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (isScalar && words && words.size > 0 && !words.has(String(value)))
    return `one of ${[...words].slice(0, 20).join(", ")}`;
  const broken = Object.entries(limits).find(([name, limit]) => isBroken(name, limit, value, patterns));
  return broken?.join(" ");
}

/** Whether a value is allowed at a place. */
export const isAllowed = (value: unknown, place: Place, patterns: Patterns): boolean =>
  problemOf(value, place, patterns) === undefined;

/** Finds the values in a response that a description does not allow, at most one for each place. */
export function findMismatches(
  body: unknown,
  described: ReadonlyMap<string, AnswerNode>,
  patterns: Patterns,
): readonly Mismatch[] {
  const found = new Map<string, Mismatch>();
  const add = (place: string, actual: unknown, expected: string): void => {
    if (!found.has(place)) found.set(place, { place, actual, expected });
  };
  function checkMembers(
    value: Readonly<Record<string, unknown>>,
    { name, place, members }: AnswerNode,
  ): void {
    for (const [key, member] of members)
      if (Object.hasOwn(value, key)) checkValue(value[key], member);
      else if (member.place.required) add(member.name, undefined, "a value");
    if (place.limits["additionalProperties"] === "false")
      for (const key of Object.keys(value))
        if (!members.has(key)) add(`${name}.${key}`, value[key], NO_MEMBER);
  }
  function checkValue(value: unknown, node: AnswerNode, isItem = false): void {
    const { name, place } = node;
    const problem = problemOf(value, isItem ? { ...place, types: place.items, limits: {} } : place, patterns);
    if (problem !== undefined) add(name, value, isItem ? `items: ${problem}` : problem);
    else if (isObject(value)) checkMembers(value, node);
    else if (Array.isArray(value) && !isItem) for (const item of value) checkValue(item, node, true);
  }
  const root = described.get(ANSWER);
  if (root) checkValue(body, root);
  return [...found.values()];
}
