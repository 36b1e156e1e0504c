/** The objects in the JSON of a response. */
import { isObject } from "../../base/index.ts";

/** Finds all values at some keys, in each item of the arrays on the way. */
export function* valuesAt(value: unknown, keys: readonly string[]): Generator<unknown> {
  const [key, ...rest] = keys;
  if (Array.isArray(value)) for (const item of value) yield* valuesAt(item, keys);
  else if (key === undefined) yield value;
  else if (isObject(value) && Object.hasOwn(value, key)) yield* valuesAt(value[key], rest);
}
