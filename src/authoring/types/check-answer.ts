/** Compares an answer with its description. */
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
  /** As text: `string or null`. */
  readonly expected: string;
}

/** Values of one answer that are compared. */
const MOST_VALUES = 20_000;

/** The expected value if a description has no such member. */
export const NO_MEMBER = "no such member";

const FORMATS: ReadonlyMap<unknown, RegExp> = new Map(
  Object.entries({
    "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i,
    date: /^\d{4}-\d\d-\d\d$/,
    uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  }),
);

/** The facts that a limit is compared with. Other limits are for clients that send. */
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

/** The expected value at a place. Undefined if the value is permitted. */
function problemOf(value: unknown, { types, words, limits }: Place, patterns: Patterns): string | undefined {
  if (!isOfType(value, types)) return [...types].join(" or ");
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (isScalar && words && words.size > 0 && !words.has(String(value)))
    return `one of ${[...words].slice(0, 20).join(", ")}`;
  const broken = Object.entries(limits).find(([name, limit]) => isBroken(name, limit, value, patterns));
  return broken?.join(" ");
}

/** Finds values of an answer that its description does not allow, one at each place. */
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
  function checkValue(value: unknown, node: AnswerNode, isItem = false): void {
    left -= 1;
    if (left < 0) return;
    const { name, place } = node;
    const rules = isItem ? { ...place, types: place.items, limits: {} } : place;
    const problem = problemOf(value, rules, patterns);
    if (problem !== undefined) add(name, value, isItem ? `items: ${problem}` : problem);
    else if (isObject(value)) checkMembers(value, node);
    else if (Array.isArray(value) && !isItem) for (const item of value) checkValue(item, node, true);
  }
  const root = tree.get(ANSWER);
  if (root) checkValue(body, root);
  return [...found.values()];
}
