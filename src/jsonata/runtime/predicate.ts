import { checkItems, tick } from "./guard.ts";
import { sequence, type List } from "./sequence.ts";
import { isNumeric, isTruthy } from "./values.ts";

/** Returns a list unchanged, and any other value as a list with one member. */
const toList = (value: unknown): List => (Array.isArray(value) ? value : sequence(value));

/** `[0]`, `[-1]`: selects one member by its index. Negative indexes start from the end. */
export function pickNth(value: unknown, position: number): List {
  const list = toList(value);
  const index = Math.floor(position);
  const found: unknown = list[index < 0 ? list.length + index : index];
  if (found === undefined) return sequence();
  return Array.isArray(found) ? found : sequence(found);
}

/** Returns how often a predicate selects the member at an index. Numbers are indexes, other results are conditions. */
function countMatches(result: unknown, index: number, length: number): number {
  if (typeof result === "boolean") return result ? 1 : 0;
  const positions: readonly unknown[] | undefined = Array.isArray(result)
    ? result
    : isNumeric(result)
      ? [result]
      : undefined;
  if (positions) tick(positions.length >> 4);
  if (!positions?.every((position) => isNumeric(position))) return isTruthy(result) ? 1 : 0;
  return positions.filter((position) => {
    const at = Math.floor(position);
    return (at < 0 ? length + at : at) === index;
  }).length;
}

/** A predicate `[ … ]` after a step: selects members by a condition, or by indexes. */
export function filter(value: unknown, predicate: (item: unknown) => unknown): List {
  const list = toList(value);
  const selected = sequence();
  for (let index = 0; index < list.length; index += 1) {
    tick();
    const item: unknown = list[index];
    const times = countMatches(predicate(item), index, list.length);
    for (let count = 0; count < times; count += 1) selected.push(item);
    checkItems(selected.length, "a predicate");
  }
  return selected;
}
