/** The places of an answer as a tree. */
import type { Place } from "../../migration/index.ts";

/** A member of an answer. The items of a list are at its place. */
export interface AnswerNode {
  /** `answer.books.title`. */
  readonly name: string;
  /** The keys that lead to it: `books`, `title`. */
  readonly path: readonly string[];
  readonly place: Place;
  readonly members: Map<string, AnswerNode>;
}

/** All members of an answer by their names, the answer itself first. */
export type AnswerTree = ReadonlyMap<string, AnswerNode>;

/** The name of the place of a whole answer. */
export const ANSWER = "answer";

/** An answer that its document does not describe. */
const OBJECT: Place = {
  required: false,
  types: new Set(["object"]),
  items: new Set(),
  words: undefined,
  limits: {},
};

/** Makes the tree of some places, each before its members. @param most Members that are read */
export function answerTree(places: ReadonlyMap<string, Place>, most = Infinity): AnswerTree {
  const nodes = new Map<string, AnswerNode>();
  for (const [name, place] of [[ANSWER, OBJECT] as const, ...places]) {
    const dot = name.lastIndexOf(".");
    const parent = nodes.get(name.slice(0, Math.max(0, dot)));
    if (name !== ANSWER && (!parent || nodes.size > most)) continue;
    const key = name.slice(dot + 1);
    const path = parent ? [...parent.path, key] : [];
    const node = { name, path, place, members: new Map() };
    parent?.members.set(key, node);
    nodes.set(name, node);
  }
  return nodes;
}
