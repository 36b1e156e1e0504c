/** Holds an answer against what a description says about it. */
import { isObject } from "../../base/index.ts";
import type { Place } from "../../migration/index.ts";
import { ANSWER, type AnswerNode, type AnswerTree } from "./answer-tree.ts";
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

/** Values of one answer that are compared. */
const MOST_VALUES = 20_000;

/** What is expected where a description has no such member. */
export const NO_MEMBER = "no such member";

const FORMATS: ReadonlyMap<unknown, RegExp> = new Map(
  Object.entries({
    "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i,
    date: /^\d{4}-\d\d-\d\d$/,
    uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  }),
);

/** What a limit is compared with. Others are for clients that send. */
function measure(name: string, value: unknown): number | undefined {
  if (name.endsWith("Length") && typeof value === "string") return Array.from(value).length;
  if (name.endsWith("Items") && Array.isArray(value)) return value.length;
  return /(?:min|max)imum$/i.test(name) && typeof value === "number" ? value : undefined;
}

function isBroken(name: string, limit: string | number, value: unknown, patterns: Patterns): boolean {
  if (typeof limit === "string") {
    if (typeof value !== "string") return false;
    if (name === "pattern") return patterns.test(limit, value) === false;
    return name === "format" && FORMATS.get(limit)?.test(value) === false;
  }
  const measured = measure(name, value);
  if (measured === undefined) return false;
  if (name.startsWith("exclusive") && measured === limit) return true;
  return /^(?:min|exclusiveMin)/.test(name) ? measured < limit : measured > limit;
}

function isOfType(value: unknown, types: ReadonlySet<string>): boolean {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return types.size === 0 || types.has(type) || (types.has("integer") && Number.isInteger(value));
}

/** What is expected instead of a value at a place; undefined if it may be there. */
function problemOf(value: unknown, { types, words, limits }: Place, patterns: Patterns): string | undefined {
  if (!isOfType(value, types)) return [...types].join(" or ");
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (isScalar && words && words.size > 0 && !words.has(String(value)))
    return `one of ${[...words].slice(0, 20).join(", ")}`;
  const broken = Object.entries(limits).find(([name, limit]) => isBroken(name, limit, value, patterns));
  return broken?.join(" ");
}

/** Finds what a description does not allow in an answer, one of each place. */
export function findMismatches(body: unknown, tree: AnswerTree, patterns: Patterns): readonly Mismatch[] {
  const found = new Map<string, Mismatch>();
  let left = MOST_VALUES;
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
  function checkItem(item: unknown, node: AnswerNode): void {
    const { place, name } = node;
    const words = typeof item === "object" ? undefined : place.words;
    const problem = problemOf(item, { ...place, types: place.items, words, limits: {} }, patterns);
    if (problem !== undefined) add(name, item, `items: ${problem}`);
    else if (isObject(item)) checkMembers(item, node);
  }
  function checkValue(value: unknown, node: AnswerNode): void {
    left -= 1;
    if (left < 0) return;
    const problem = problemOf(value, node.place, patterns);
    if (problem !== undefined) add(node.name, value, problem);
    else if (Array.isArray(value)) for (const item of value) checkItem(item, node);
    else if (isObject(value)) checkMembers(value, node);
  }
  const root = tree.get(ANSWER);
  if (root) checkValue(body, root);
  return [...found.values()];
}
