import { Failure } from "../failure.ts";
import { tick } from "../guard.ts";
import { isList, sequence } from "../sequence.ts";
import { isDeepEqual } from "../values.ts";

/** `$zip`: lists of the members at the same index, as many as the shortest list has. */
export function zip(...lists: unknown[]): unknown[] {
  const size = Math.min(...lists.map((list) => (Array.isArray(list) ? list.length : 0)));
  return Array.from({ length: size }, (_, index) => lists.map((list) => (list as unknown[])[index]));
}

/** `$reverse`. */
export const reverse = (values?: unknown[]): unknown[] | undefined =>
  values && values.length > 1 ? values.toReversed() : values;

/** `$distinct`: a list without duplicates, compared deeply. */
export function distinct(values: unknown): unknown {
  if (!isList(values) || values.length <= 1) return values;
  const result = values.sequence ? sequence() : [];
  for (const value of values) {
    tick(result.length);
    if (!result.some((other) => isDeepEqual(value, other))) result.push(value);
  }
  return result;
}

/** Returns the default order of `$sort`. @throws {Failure} D3070 Unless all values are strings or all are numbers. */
export function createNaturalOrder(values: readonly unknown[]): (first: unknown, second: unknown) => boolean {
  const ofOneType = (type: string) => values.every((value) => typeof value === type);
  if (!ofOneType("string") && !ofOneType("number")) throw new Failure("D3070");
  return (first, second) => (first as number) > (second as number);
}
