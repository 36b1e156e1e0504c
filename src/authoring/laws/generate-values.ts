/** Generated values for the laws of packs. */
import * as fc from "fast-check";
import { isObject } from "../../base/index.ts";

/** How values are generated. The same seed generates the same values. */
export interface Generation {
  readonly seed: number;
  /** Number of values of each member and of each object. */
  readonly runs: number;
}

export type Schema = Readonly<Record<string, unknown>>;

/** Names, quotes, non-ASCII letters, and texts that look like other types. */
export const WORDS = [
  "a",
  "Emma",
  "it's",
  "é",
  "a b",
  "0",
  "true",
  "null",
  '"',
  "\\",
  "2026-01-02T03:04:05",
  "日本",
];

/** Returns whole numbers within the limits of a schema, each times a factor. */
function numbersOf({ minimum = 0, maximum = 1000 }: Schema, most: number, factor = 1): fc.Arbitrary<number> {
  const min = Math.ceil(Number(minimum) * factor);
  return fc.integer({ min, max: Math.max(min, Math.floor(Math.min(Number(maximum), most) * factor)) });
}

/** Returns values that a schema usually allows; undefined if the schema is not specific enough. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> | undefined {
  const { type, enum: values, items, properties, minLength = 0, maxLength = 24 } = schema;
  if (Array.isArray(values)) return fc.constantFrom(...(values as unknown[]));
  if (Array.isArray(type)) {
    const kinds = type.flatMap((kind) => valuesOf({ ...schema, type: kind as unknown }) ?? []);
    return kinds.length > 0 ? fc.oneof(...kinds) : undefined;
  }
  if (type === "boolean") return fc.boolean();
  if (type === "null") return fc.constant(null);
  if (type === "integer") return numbersOf(schema, 2 ** 31 - 1);
  if (type === "number") return numbersOf(schema, 1e6, 100).map((cents) => cents / 100);
  if (type === "string")
    return fc
      .constantFrom(...WORDS)
      .map((word) => word.padEnd(Number(minLength), "x").slice(0, Number(maxLength)));
  const item = type === "array" && isObject(items) ? valuesOf(items) : undefined;
  if (item) return fc.array(item, { minLength: 1, maxLength: 3 });
  if (type !== "object" || !isObject(properties)) return undefined;
  const members = Object.entries(properties).map(
    ([name, member]) => [name, (isObject(member) && valuesOf(member)) || fc.constant(null)] as const,
  );
  return fc.record(Object.fromEntries(members));
}

/** Returns a sample of values. */
export const sample = <T>(values: fc.Arbitrary<T>, { seed, runs }: Generation): T[] =>
  fc.sample(values, { seed, numRuns: runs });
