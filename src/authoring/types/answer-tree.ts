/** The places of an answer as a tree. */
import { isObject } from "../../base/index.ts";
import type { Operation, Place } from "../../migration/index.ts";

/** A member of an answer. The items of a list are at its place. */
export interface AnswerNode {
  /** `answer.books.title`. */
  readonly name: string;
  /** The keys that lead to it: `books`, `title`. */
  readonly path: readonly string[];
  readonly place: Place;
  readonly members: Map<string, AnswerNode>;
  /** Whether other values than the usual one are tried. */
  readonly isTried: boolean;
}

/** The name of the place of a whole answer. */
export const ANSWER = "answer";

/** Members of one answer that are read. */
const MOST_MEMBERS = 5_000;
/** Members of one answer that have other values than their usual one. */
export const MOST_TRIED = 800;

/** An answer that its document does not describe. */
const OBJECT: Place = {
  required: false,
  types: new Set(["object"]),
  items: new Set(),
  words: undefined,
  limits: {},
};

/** All members of an answer by their names, the answer itself first. */
export function answerTree({ answer }: Operation): ReadonlyMap<string, AnswerNode> {
  const nodes = new Map<string, AnswerNode>();
  for (const [name, place] of [[ANSWER, OBJECT] as const, ...answer]) {
    const dot = name.lastIndexOf(".");
    const parent = nodes.get(name.slice(0, Math.max(0, dot)));
    if (name !== ANSWER && (!parent || nodes.size > MOST_MEMBERS)) continue;
    const key = name.slice(dot + 1);
    const path = parent ? [...parent.path, key] : [];
    const node = { name, path, place, members: new Map(), isTried: nodes.size < MOST_TRIED };
    parent?.members.set(key, node);
    nodes.set(name, node);
  }
  return nodes;
}

/** A copy of an answer with another value at a path, in all items of lists. @param value Undefined leaves the member out */
export function withValue(answer: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...deeper] = path;
  if (key === undefined) return value;
  if (Array.isArray(answer)) return answer.map((item) => withValue(item, path, value));
  return isObject(answer) ? { ...answer, [key]: withValue(answer[key], deeper, value) } : answer;
}
