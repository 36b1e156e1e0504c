import { Failure } from "./failure.ts";
import { tick } from "./guard.ts";
import { sequenceOf } from "./sequence.ts";

/** Whether the second value must come before the first. */
type ShouldSwap<T> = (first: T, second: T) => boolean;

/**
 * Sorts a list. It compares pairs in the same order as JSONata's merge sort, because that order decides the result for
 * keys without an order, such as NaN, and which of several errors is reported.
 */
function mergeSort<T>(list: readonly T[], swaps: ShouldSwap<T>): T[] {
  if (list.length <= 1) return [...list];
  const middle = Math.floor(list.length / 2);
  return merge(mergeSort(list.slice(0, middle), swaps), mergeSort(list.slice(middle), swaps), swaps);
}

function merge<T>(left: readonly T[], right: readonly T[], swaps: ShouldSwap<T>): T[] {
  tick(left.length + right.length);
  const merged: T[] = [];
  let [from, to] = [0, 0];
  while (from < left.length && to < right.length)
    merged.push((swaps(left[from] as T, right[to] as T) ? right[to++] : left[from++]) as T);
  return [...merged, ...left.slice(from), ...right.slice(to)];
}

/** One term of `^( … )`. */
interface SortTerm<T> {
  readonly evaluate: (item: T) => unknown;
  readonly descending: boolean;
}

const isOrdered = (value: unknown): boolean => typeof value === "string" || typeof value === "number";

/** Compares two keys; negative if the first comes first. Undefined comes last in both directions. @throws {Failure} */
function compare(first: unknown, second: unknown, descending: boolean): number {
  if (first === undefined) return second === undefined ? 0 : 1;
  if (second === undefined) return -1;
  if (!isOrdered(first) || !isOrdered(second)) throw new Failure("T2008");
  if (typeof first !== typeof second) throw new Failure("T2007");
  if (first === second) return 0;
  const order = (first as number) < (second as number) ? -1 : 1;
  return descending ? -order : order;
}

/**
 * The order-by step `^( … )`. The keys of a list with one member are not evaluated, and such a list still collapses.
 *
 * @throws {Failure} T2007, T2008 If keys can't be ordered.
 */
export function orderBy<T>(list: T[], terms: readonly SortTerm<T>[]): T[] {
  if (list.length === 0) return list;
  if (list.length === 1) return sequenceOf(list) as T[];
  return mergeSort(list, (first, second) => {
    for (const { evaluate, descending } of terms) {
      const order = compare(evaluate(first), evaluate(second), descending);
      if (order !== 0) return order > 0;
    }
    return false;
  });
}
