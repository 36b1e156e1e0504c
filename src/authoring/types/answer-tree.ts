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

/** The name of the place of a whole answer. */
export const ANSWER = "answer";

const NOTHING: Place = {
  required: false,
  types: new Set(["object"]),
  items: new Set(),
  words: undefined,
  limits: {},
};

/** Makes the tree of some places, each before its members. @param most Members that are read */
export function answerTree(places: ReadonlyMap<string, Place>, most = Infinity): AnswerNode {
  const root = { name: ANSWER, path: [], place: places.get(ANSWER) ?? NOTHING, members: new Map() };
  const nodes = new Map<string, AnswerNode>([[ANSWER, root]]);
  for (const [name, place] of places) {
    const dot = name.lastIndexOf(".");
    const parent = nodes.get(name.slice(0, Math.max(0, dot)));
    if (!parent || nodes.size > most) continue;
    const key = name.slice(dot + 1);
    const node = { name, path: [...parent.path, key], place, members: new Map() };
    parent.members.set(key, node);
    nodes.set(name, node);
  }
  return root;
}
