/** Answers of an operation of the upstream, generated from its description. */
import { isObject } from "../../base/index.ts";
import type { Operation, Place } from "../../migration/index.ts";
import { ANSWER, answerTree, type AnswerNode, type AnswerTree } from "./answer-tree.ts";
import { listSizes, valuesOf, type Hints, type PlaceValues } from "./place-values.ts";

/** The known facts about a member that its description does not have. */
export type FindHints = (path: readonly string[], place: Place) => Hints;

/** A member that is left out. */
export const MISSING = Symbol("missing");

/** A copy of an answer with another value at a path, in all items of lists. */
export function withValue(answer: unknown, [key, ...deeper]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(answer)) return answer.map((item) => withValue(item, [key, ...deeper], value));
  if (!isObject(answer)) return answer;
  const { [key]: own, ...others } = answer;
  if (deeper.length === 0 && value === MISSING) return others;
  return { ...answer, [key]: withValue(own, deeper, value) };
}

/** One change of the usual answer of an operation: the value at a path, in all items of lists. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Members of one answer that are generated. */
const MOST_MEMBERS = 5_000;

const isList = ({ place }: AnswerNode): boolean => place.types.has("array");

/** The types of a member, or of the items of a list. */
const kindsOf = (node: AnswerNode): ReadonlySet<string> =>
  isList(node) ? node.place.items : node.place.types;

const hasMembers = (node: AnswerNode): boolean => node.members.size > 0 || kindsOf(node).has("object");

/** The answers that an operation may give. */
export class DescribedAnswer {
  readonly tree: AnswerTree;
  /** The scalar values of members, or of the items of lists. */
  readonly #values = new Map<AnswerNode, PlaceValues>();

  constructor({ answer }: Operation, findHints: FindHints) {
    this.tree = answerTree(answer, MOST_MEMBERS);
    for (const node of this.tree.values()) {
      const { place, path } = node;
      const scalars = kindsOf(node).difference(new Set(["object", "array"]));
      const isListOfLists = isList(node) && kindsOf(node).has("array");
      if (!isListOfLists && (scalars.size > 0 || !hasMembers(node)))
        this.#values.set(node, valuesOf(place, scalars, findHints(path, place)));
    }
  }

  /** Whether all values of a member are tried. */
  isFinite(node: AnswerNode): boolean {
    return !isList(node) && !hasMembers(node) && this.#values.get(node)?.isFinite === true;
  }

  /** The usual answer, with changes. */
  build(edits: readonly Edit[] = []): unknown {
    const usual = this.#usual(this.tree.get(ANSWER));
    return edits.reduce((answer, { path, value }) => withValue(answer, path, value), usual);
  }

  /** All changes of one member each. */
  *edits(): Generator<Edit> {
    for (const node of this.tree.values()) {
      // Where no member of an object is required, the document does not say which ones are: they all are there.
      const members = [...node.members.values()];
      const saysRequired = members.some(({ place }) => place.required);
      for (const { path, place } of members)
        if (saysRequired && !place.required) yield { path, value: MISSING };
      for (const value of this.#others(node)) yield { path: node.path, value };
    }
  }

  #usual(node: AnswerNode | undefined): unknown {
    if (!node) return null;
    return isList(node) ? this.#list(node, listSizes(node.place).usual) : this.#item(node);
  }

  #item(node: AnswerNode): unknown {
    // The description has no items for lists in lists.
    if (isList(node) && node.place.items.has("array")) return [];
    if (!hasMembers(node)) return this.#values.get(node)?.usual ?? null;
    return Object.fromEntries([...node.members].map(([key, member]) => [key, this.#usual(member)]));
  }

  #list(node: AnswerNode, size: number): unknown[] {
    return Array.from({ length: size }, () => this.#item(node));
  }

  /** The values that replace the usual one of a member. */
  *#others(node: AnswerNode): Generator<unknown> {
    const { usual, others } = this.#values.get(node) ?? { usual: null, others: [] };
    const { types } = node.place;
    if (isList(node)) for (const size of listSizes(node.place).others) yield this.#list(node, size);
    const scalars = this.#values.has(node) && hasMembers(node) ? [usual, ...others] : others;
    for (const value of scalars) yield isList(node) ? [value] : value;
    if (types.has("null") && (isList(node) || (hasMembers(node) && node.path.length > 0))) yield null;
    if (types.has("object") && isList(node)) yield this.#item(node);
  }
}
