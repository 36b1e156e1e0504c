/** Answers of an operation of the upstream, generated from its description. */
import { isObject } from "../../base/index.ts";
import type { Operation, Place } from "../../migration/index.ts";
import { answerTree, type AnswerNode } from "./answer-tree.ts";
import { listSizes, valuesOf, type Hints, type PlaceValues } from "./place-values.ts";

/** A member of an answer with the values that it may have. */
export interface DescribedNode {
  readonly path: readonly string[];
  readonly place: Place;
  readonly members: ReadonlyMap<string, DescribedNode>;
  /** Of a list: those of its items. Undefined for objects alone. */
  readonly values: PlaceValues | undefined;
  readonly isList: boolean;
  readonly isObject: boolean;
  /** Whether its object may be without it. */
  readonly mayBeMissing: boolean;
}

/** The known facts about a member that its description does not have. */
export type FindHints = (path: readonly string[], place: Place) => Hints;

/** A member that is left out. */
export const MISSING = Symbol("missing");

/** One change of the usual answer of an operation: the value at a path, in the first item of lists. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Members of one answer that are generated. */
const MOST_MEMBERS = 5_000;

function describe(
  { path, place, members: inner }: AnswerNode,
  mayBeMissing: boolean,
  findHints: FindHints,
): DescribedNode {
  // Where no member of an object is required, the document does not say which ones are: they all are there.
  const saysRequired = [...inner.values()].some((member) => member.place.required);
  const members = new Map(
    [...inner].map(([key, member]) => [
      key,
      describe(member, saysRequired && !member.place.required, findHints),
    ]),
  );
  const isList = place.types.has("array");
  const kinds = isList ? place.items : place.types;
  const hasObject = members.size > 0 || kinds.has("object");
  const scalars = kinds.difference(new Set(["object", "array"]));
  const hasValues = !(isList && kinds.has("array")) && (scalars.size > 0 || !hasObject);
  const values = hasValues ? valuesOf(place, scalars, findHints(path, place)) : undefined;
  return { path, place, members, values, isList, isObject: hasObject, mayBeMissing };
}

function itemOf(node: DescribedNode): unknown {
  // Of lists in lists the description has no items.
  if (node.isList && node.place.items.has("array")) return [];
  if (!node.isObject) return node.values?.usual ?? null;
  return Object.fromEntries([...node.members].map(([key, member]) => [key, usualOf(member)]));
}

const listOf = (node: DescribedNode, size: number): unknown[] =>
  Array.from({ length: size }, () => itemOf(node));

const usualOf = (node: DescribedNode): unknown =>
  node.isList ? listOf(node, listSizes(node.place).usual) : itemOf(node);

/** The values that replace the usual one of a member. */
function* othersOf(node: DescribedNode): Generator<unknown> {
  const { path, values, isList, isObject: hasMembers, place, mayBeMissing } = node;
  if (mayBeMissing && path.length > 0) yield MISSING;
  if (isList) for (const size of listSizes(place).others) yield listOf(node, size);
  const scalars = values === undefined ? [] : [...(hasMembers ? [values.usual] : []), ...values.others];
  for (const value of scalars) yield isList ? [value] : value;
  if ((isList || (hasMembers && path.length > 0)) && place.types.has("null")) yield null;
  if (isList && place.types.has("object")) yield itemOf(node);
}

/** The answers that an operation may give. */
export class DescribedAnswer {
  /** All members, the answer itself first. */
  readonly nodes: readonly DescribedNode[];
  readonly #root: DescribedNode;

  constructor({ answer }: Operation, findHints: FindHints) {
    this.#root = describe(answerTree(answer, MOST_MEMBERS), false, findHints);
    const nodes = [this.#root];
    for (const node of nodes) nodes.push(...node.members.values());
    this.nodes = nodes;
  }

  /** The usual answer, with changes. */
  build(edits: readonly Edit[] = []): unknown {
    let answer = usualOf(this.#root);
    for (const { path, value } of edits) {
      const last = path.at(-1);
      const holder = firstAt(answer, path.slice(0, -1));
      if (last === undefined) answer = value;
      else if (isObject(holder) && value === MISSING) delete holder[last];
      else if (isObject(holder)) holder[last] = value;
    }
    return answer;
  }

  /** All changes of one member each. */
  *edits(): Generator<Edit> {
    for (const node of this.nodes) for (const value of othersOf(node)) yield { path: node.path, value };
  }
}

/** The value at a path, in the first item of lists. */
function firstAt(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return firstAt(value[0], path);
  const [key, ...deeper] = path;
  if (key === undefined) return value;
  return isObject(value) ? firstAt(value[key], deeper) : undefined;
}
