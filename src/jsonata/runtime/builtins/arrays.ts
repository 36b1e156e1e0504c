import { Failure } from "../failure.ts";
import { tick } from "../guard.ts";
import { sequence, type List } from "../sequence.ts";
import { same } from "../values.ts";

/** Built-in functions on lists that call no other function. */

/** The list of each place; as long as the shortest. A value that is no list has no places. */
export function zip(...lists: unknown[]): unknown[] {
  const size = Math.min(...lists.map((list) => (Array.isArray(list) ? list.length : 0)));
  return Array.from({ length: size }, (_, index) => lists.map((list) => (list as unknown[])[index]));
}

export const reverse = (values?: unknown[]): unknown[] | undefined =>
  values && values.length > 1 ? values.toReversed() : values;

export function distinct(values: unknown): unknown {
  if (!Array.isArray(values) || values.length <= 1) return values;
  const kept = (values as List).sequence ? sequence() : [];
  for (const value of values) {
    tick(kept.length);
    if (!kept.some((known) => same(value, known))) kept.push(value);
  }
  return kept;
}

/** Strings or numbers in their order, when no function says which. */
export function naturally(values: readonly unknown[]): (first: unknown, second: unknown) => boolean {
  const ofOneType = (type: string) => values.every((value) => typeof value === type);
  if (!ofOneType("string") && !ofOneType("number")) throw new Failure("D3070");
  return (first, second) => (first as number) > (second as number);
}
