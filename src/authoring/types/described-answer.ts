/** Answers of an operation of the upstream, generated from its description. */
import { isObject } from "../../base/index.ts";
import type { Operation, Place } from "../../migration/index.ts";
import { ANSWER } from "./check-answer.ts";
import { listSizes, valuesOf, type Hints, type PlaceValues } from "./place-values.ts";

/** A member of an answer. The items of a list are at its place. */
interface Node {
  readonly path: readonly string[];
  readonly place: Place;
  readonly members: ReadonlyMap<string, Node>;
  /** Of a list: those of its items. Undefined for objects alone. */
  readonly values: PlaceValues | undefined;
  readonly isList: boolean;
  readonly isObject: boolean;
  /** Whether its object may be without it. */
  readonly mayBeMissing: boolean;
}

/** A member that is left out. */
export const MISSING = Symbol("missing");

/** One change of the usual answer of an operation: the value at a path, in the first item of lists. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Members of one answer that are generated. */
const MOST_MEMBERS = 5_000;

const NOTHING: Place = {
  required: false,
  types: new Set(["object"]),
  items: new Set(),
  words: undefined,
  limits: {},
};

/** What is known about the places of an operation. */
export interface AnswerHints {
  readonly at: (path: readonly string[]) => Hints;
  readonly fits: (place: Place) => (text: string) => boolean;
}

const without = (types: ReadonlySet<string>, ...names: readonly string[]): ReadonlySet<string> =>
  new Set([...types].filter((type) => !names.includes(type)));

/** The answers that an operation may give. */
export class DescribedAnswer {
  readonly root: Node;
  readonly #hints: AnswerHints;
  #left = MOST_MEMBERS;

  constructor({ answer }: Operation, hints: AnswerHints) {
    this.#hints = hints;
    const names = new Map<string, string[]>();
    for (const name of answer.keys()) {
      const dot = name.lastIndexOf(".");
      if (dot > 0) names.set(name.slice(0, dot), [...(names.get(name.slice(0, dot)) ?? []), name]);
    }
    this.root = this.#nodeAt(ANSWER, answer, names, { path: [], mayBeMissing: false });
  }

  #nodeAt(
    name: string,
    places: Operation["answer"],
    names: ReadonlyMap<string, readonly string[]>,
    { path, mayBeMissing }: Pick<Node, "path" | "mayBeMissing">,
  ): Node {
    const place = places.get(name) ?? NOTHING;
    const inner = names.get(name) ?? [];
    // Where no member of an object is required, the document does not say which ones are: they all are there.
    const saysRequired = inner.some((each) => places.get(each)?.required === true);
    const members = new Map<string, Node>();
    for (const each of inner) {
      this.#left -= 1;
      if (this.#left < 0) break;
      const key = each.slice(name.length + 1);
      const own = { path: [...path, key], mayBeMissing: saysRequired && places.get(each)?.required !== true };
      members.set(key, this.#nodeAt(each, places, names, own));
    }
    const isList = place.types.has("array");
    const isObject = members.size > 0 || (isList ? place.items.has("object") : place.types.has("object"));
    const scalars = without(isList ? place.items : place.types, "object", "array");
    const hasLists = isList && place.items.has("array");
    const values =
      !hasLists && (scalars.size > 0 || (!isObject && !isList) || (isList && !isObject))
        ? valuesOf(place, scalars, this.#hintsAt(path, isList), this.#hints.fits(place))
        : undefined;
    return { path, place, members, values, isList, isObject, mayBeMissing };
  }

  /** What is known about the values of a place. A null in the place of a list is none of its items. */
  #hintsAt(path: readonly string[], isList: boolean): Hints {
    const hints = this.#hints.at(path);
    return isList ? { ...hints, words: hints.words.filter((word) => word !== null) } : hints;
  }

  #itemOf(node: Node): unknown {
    // Of lists in lists the description has no items.
    if (node.isList && node.place.items.has("array")) return [];
    if (!node.isObject) return node.values?.usual ?? null;
    return Object.fromEntries([...node.members].map(([key, member]) => [key, this.#usual(member)]));
  }

  #usual(node: Node): unknown {
    if (!node.isList) return this.#itemOf(node);
    return Array.from({ length: listSizes(node.place)[1] ?? 1 }, () => this.#itemOf(node));
  }

  /** The usual answer, with changes. */
  build(edits: readonly Edit[] = []): unknown {
    let answer = this.#usual(this.root);
    for (const { path, value } of edits) {
      const last = path.at(-1);
      if (last === undefined) {
        answer = value;
        continue;
      }
      const holder = firstAt(answer, path.slice(0, -1));
      if (!isObject(holder)) continue;
      if (value === MISSING) delete holder[last];
      else holder[last] = value;
    }
    return answer;
  }

  /** All changes of one member each. */
  *edits(): Generator<Edit> {
    const pending = [this.root];
    for (let node = pending.pop(); node; node = pending.pop()) {
      yield* this.#editsOf(node);
      pending.push(...[...node.members.values()].toReversed());
    }
  }

  *#editsOf(node: Node): Generator<Edit> {
    const { path, values, isList, isObject: hasMembers, place, mayBeMissing } = node;
    if (mayBeMissing && path.length > 0) yield { path, value: MISSING };
    if (isList)
      for (const size of listSizes(place).filter((_size, index) => index !== 1))
        yield { path, value: Array.from({ length: size }, () => this.#itemOf(node)) };
    const scalars = values === undefined ? [] : [...(hasMembers ? [values.usual] : []), ...values.others];
    for (const value of scalars) yield { path, value: isList ? [value] : value };
    if (isList && place.types.has("null")) yield { path, value: null };
    if (isList && place.types.has("object")) yield { path, value: this.#itemOf(node) };
    if (!isList && hasMembers && path.length > 0 && place.types.has("null")) yield { path, value: null };
  }

  /** All members, the answer itself included. */
  nodes(): Node[] {
    const all = [this.root];
    for (const node of all) all.push(...node.members.values());
    return all;
  }
}

/** The value at a path, in the first item of lists. */
export function firstAt(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return firstAt(value[0], path);
  const [key, ...deeper] = path;
  if (key === undefined) return value;
  return isObject(value) ? firstAt(value[key], deeper) : undefined;
}
