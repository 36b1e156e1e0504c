import { Failure } from "./failure.ts";
import { tick } from "./guard.ts";
import { sequenceOf } from "./sequence.ts";

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
  return list.toSorted((first, second) => {
    tick();
    for (const { evaluate, descending } of terms) {
      const order = compare(evaluate(first), evaluate(second), descending);
      if (order !== 0) return order;
    }
    return 0;
  });
}
