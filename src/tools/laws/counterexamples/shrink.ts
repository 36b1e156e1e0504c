/** Makes the JSON of a counterexample as small as possible. */
import { isObject } from "../../../dialect/json/parse.ts";
import type { JsonPath } from "./fits-schema.ts";
import { applyEdits, MISSING } from "./schema-values.ts";

/** Smaller values that are tried at most. */
const MAX_TRIES = 250;

/** All places in a value, outer ones first. */
function* placesIn(value: unknown, path: JsonPath = []): Generator<JsonPath> {
  const members = Array.isArray(value)
    ? value.map((each, index) => [index, each] as const).toReversed()
    : isObject(value)
      ? Object.entries(value)
      : [];
  for (const [key] of members) yield [...path, key];
  for (const [key, each] of members) yield* placesIn(each, [...path, key]);
}

const valueAtPath = (value: unknown, path: JsonPath): unknown =>
  path.reduce<unknown>(
    (found, key) => (typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined),
    value,
  );

/** A shorter text; undefined for other values and for the shortest. */
const shorter = (value: unknown): string | undefined =>
  typeof value === "string" && value.length > 1 ? value.slice(0, Math.ceil(value.length / 2)) : undefined;

/**
 * Leaves out members and items, and shortens texts, as long as the same thing is wrong.
 *
 * @param keep Members that stay, such as those of a page around the items
 * @param isSame Whether a smaller value breaks the same field, and no other
 */
export async function shrink(
  value: unknown,
  keep: (path: JsonPath) => boolean,
  isSame: (value: unknown) => Promise<boolean>,
): Promise<unknown> {
  let smallest = value;
  let tries = 0;
  const accepts = async (candidate: unknown): Promise<boolean> => {
    tries += 1;
    if (tries > MAX_TRIES || !(await isSame(candidate))) return false;
    smallest = candidate;
    return true;
  };
  let before: unknown;
  while (before !== smallest) {
    before = smallest;
    for (const path of placesIn(before)) {
      if (valueAtPath(smallest, path) === undefined) continue;
      const without = applyEdits(smallest, [{ path, value: MISSING }]);
      if (!keep(path) && (await accepts(without))) continue;
      const text = shorter(valueAtPath(smallest, path));
      if (text !== undefined) await accepts(applyEdits(smallest, [{ path, value: text }]));
    }
  }
  return smallest;
}
