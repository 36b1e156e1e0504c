/** The places of a response as a tree. */
import { isObject } from "../../base/index.ts";
import type { Operation, Place } from "../../migration/index.ts";

/** A member of a response. Items of a list have the same place as the list. */
export interface AnswerNode {
  /** The name of the place: `answer.books.title`. */
  readonly name: string;
  /** The keys that lead to the place: `books`, `title`. */
  readonly path: readonly string[];
  readonly place: Place;
  readonly members: Map<string, AnswerNode>;
}

/** The name of the place of a whole response. */
export const ANSWER = "answer";

/** Maximum number of members of one response that are read. */
const MOST_MEMBERS = 5_000;

/** The place of a response that its document does not describe. */
const OBJECT: Place = {
  required: false,
  types: new Set(["object"]),
  items: new Set(),
  words: undefined,
  limits: {},
};

/** Returns all members of a response by their names, the response itself first. */
export function answerTree({ answer }: Operation): ReadonlyMap<string, AnswerNode> {
  const nodes = new Map<string, AnswerNode>();
  for (const [name, place] of [[ANSWER, OBJECT] as const, ...answer]) {
    const dot = name.lastIndexOf(".");
    const parent = nodes.get(name.slice(0, Math.max(0, dot)));
    if (name !== ANSWER && (!parent || nodes.size > MOST_MEMBERS)) continue;
    const key = name.slice(dot + 1);
    const node = { name, path: parent ? [...parent.path, key] : [], place, members: new Map() };
    parent?.members.set(key, node);
    nodes.set(name, node);
  }
  return nodes;
}

/** Returns a copy of a response with a new value at a path, in all items of lists. @param value undefined removes the member */
export function withValue(answer: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...deeper] = path;
  if (key === undefined) return value;
  if (Array.isArray(answer)) return answer.map((item) => withValue(item, path, value));
  return isObject(answer) ? { ...answer, [key]: withValue(answer[key], deeper, value) } : answer;
}

/** Returns the values at a path, in all items of lists. */
export function valuesAt(part: unknown, path: readonly string[]): unknown[] {
  const [key, ...deeper] = path;
  if (key === undefined) return [part];
  if (Array.isArray(part)) return part.flatMap((item) => valuesAt(item, path));
  return isObject(part) && Object.hasOwn(part, key) ? valuesAt(part[key], deeper) : [];
}
