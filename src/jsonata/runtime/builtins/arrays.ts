import { Failure } from "../failure.ts";
import { tick } from "../guard.ts";
import { isList, sequence } from "../sequence.ts";
import { isDeepEqual } from "../values.ts";

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
