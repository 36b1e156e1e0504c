import { tick } from "./guard.ts";
import { sequence, type List } from "./sequence.ts";
import { isNumeric, truth } from "./values.ts";

/** Predicates: `[ ]` behind a step. A single value counts as a list of one. */
const listed = (value: unknown): List => (Array.isArray(value) ? value : sequence(value));

/** `[0]`, `[-1]`: one member by its place, from the end when negative. */
export function nth(value: unknown, place: number): List {
  const list = listed(value);
  const index = Math.floor(place);
  const found: unknown = list[index < 0 ? list.length + index : index];
  if (found === undefined) return sequence();
  return Array.isArray(found) ? found : sequence(found);
}

/** How often a predicate's result keeps the member at an index: numbers are places, all else is a condition. */
export function timesKept(result: unknown, index: number, length: number): number {
  if (typeof result === "boolean") return result ? 1 : 0;
  const places: readonly unknown[] | undefined = Array.isArray(result)
    ? result
    : isNumeric(result)
      ? [result]
      : undefined;
  if (!places?.every((place) => isNumeric(place))) return truth(result) ? 1 : 0;
  return places.filter((place) => {
    const at = Math.floor(place);
    return (at < 0 ? length + at : at) === index;
  }).length;
}

/** `[condition]`, `[places]`. */
export function filter(value: unknown, predicate: (item: unknown) => unknown): List {
  const list = listed(value);
  tick(list.length);
  const kept = sequence();
  for (let index = 0; index < list.length; index += 1) {
    const item: unknown = list[index];
    const times = timesKept(predicate(item), index, list.length);
    for (let count = 0; count < times; count += 1) kept.push(item);
  }
  return kept;
}
