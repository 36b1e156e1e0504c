import { checkItems, tick } from "./guard.ts";
import { append, sequenceOf, type List } from "./sequence.ts";
import { countMatches } from "./predicate.ts";

/**
 * A result of a path that binds variables with `@$v` or `#$i`, or whose parents are read with `%`. The item is under "@",
 * the variables are under their names.
 */
export type Tuple = Readonly<Record<string, unknown>>;

type Evaluate = (item: unknown, tuple: Tuple) => unknown;

const extendTuple = (parts: Tuple, more: Tuple): Tuple =>
  Object.assign(Object.create(null) as Record<string, unknown>, parts, more);

/** The stream of a path that had no results before its first binding step. Later steps do not run. */
export const EMPTY_STREAM: Tuple[] = [];

/** Turns the results of a path into tuples. @param started Whether the path had steps before. */
export function createTuples(list: List, started: boolean): Tuple[] {
  return started && list.length === 0 ? EMPTY_STREAM : list.map((item) => ({ "@": item }));
}

/** Names of the variables that a step binds: to its result, to the index of the result, and to the parent. */
interface StepBindings {
  readonly focus?: string;
  readonly index?: string;
  readonly parent?: string;
}

/** Applies one step to each tuple. If `focus` binds the result, the item remains the same. @throws {Failure} D1012 */
export function applyTupleStep(
  stream: readonly Tuple[],
  evaluate: Evaluate,
  { focus, index, parent }: StepBindings,
): Tuple[] {
  if (stream === EMPTY_STREAM) return EMPTY_STREAM;
  const found: Tuple[] = [];
  for (const tuple of stream) {
    tick();
    const result = evaluate(tuple["@"], tuple);
    if (result === undefined) continue;
    for (const [position, item] of (Array.isArray(result) ? result : [result]).entries()) {
      const more: Record<string, unknown> = { [focus ?? "@"]: item };
      if (index !== undefined) more[index] = position;
      if (parent !== undefined) more[parent] = tuple["@"];
      found.push(extendTuple(tuple, more));
    }
    checkItems(found.length, "a path");
  }
  return found;
}

/** `#$i` after a predicate or an order: binds the index of each tuple. */
export const numberTuples = (stream: readonly Tuple[], index: string): readonly Tuple[] =>
  stream === EMPTY_STREAM
    ? stream
    : stream.map((tuple, position) => extendTuple(tuple, { [index]: position }));

/** A predicate over a stream of tuples: a condition, or indexes. @throws {Failure} D1012 */
export function filterTuples(stream: readonly Tuple[], predicate: Evaluate): readonly Tuple[] {
  if (stream === EMPTY_STREAM) return stream;
  return stream.flatMap((tuple, index) => {
    tick();
    const times = countMatches(predicate(tuple["@"], tuple), index, stream.length);
    return Array.from({ length: times }, () => tuple);
  });
}

/** Selects one tuple by its index. A negative index counts from the end. */
export function pickNthTuple(stream: readonly Tuple[], position: number): readonly Tuple[] {
  if (stream === EMPTY_STREAM) return stream;
  const index = Math.floor(position);
  const tuple = stream[index < 0 ? stream.length + index : index];
  return tuple ? [tuple] : [];
}

/** Returns the items of a stream without the variables. */
export const valuesOfTuples = (stream: readonly Tuple[]): List =>
  sequenceOf(stream.map((tuple) => tuple["@"]));

/** Merges the tuples of a group into one. Each variable gets all its values. */
export function reduceTuples(data: Tuple | readonly Tuple[]): Tuple {
  if (!Array.isArray(data)) return data as Tuple;
  const [first, ...rest] = data as readonly Tuple[];
  const reduced = { ...first };
  for (const tuple of rest)
    for (const [name, value] of Object.entries(tuple)) {
      const list = reduced[name];
      if (Array.isArray(list)) tick(list.length >> 4);
      reduced[name] = append(list, value);
    }
  return reduced;
}
