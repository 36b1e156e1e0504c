/** Generated values for the laws of packs. */
import { isObject } from "../../base/index.ts";

/** A generator of numbers from 0 to 1. The same seed gives the same numbers (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Random = ReturnType<typeof createRandom>;
export type Schema = Readonly<Record<string, unknown>>;

export const pick = <T>(values: readonly T[], random: Random): T | undefined =>
  values[Math.floor(random() * values.length)];

export const between = (least: number, most: number, random: Random): number =>
  Math.floor(least + random() * (most - least + 1));

/** Names, quotes, letters outside of ASCII, and texts that look like other types. */
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

/** A value that a schema allows in most cases; undefined where the schema does not say enough. */
export function generateValue(schema: Schema, random: Random): unknown {
  const {
    type,
    enum: values,
    items,
    properties,
    minimum = 0,
    maximum = 1000,
    minLength = 0,
    maxLength = 24,
  } = schema;
  if (Array.isArray(values)) return pick(values, random);
  const kind = Array.isArray(type) ? pick(type, random) : type;
  if (kind === "boolean") return random() < 0.5;
  if (kind === "null") return null;
  if (kind === "integer") return between(Number(minimum), Math.min(Number(maximum), 2 ** 31 - 1), random);
  if (kind === "number")
    return between(Number(minimum) * 100, Math.min(Number(maximum), 1e6) * 100, random) / 100;
  if (kind === "string")
    return (pick(WORDS, random) ?? "").padEnd(Number(minLength), "x").slice(0, Number(maxLength));
  if (kind === "array" && isObject(items))
    return Array.from({ length: between(1, 3, random) }, () => generateValue(items, random));
  if (kind === "object" && isObject(properties))
    return Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [
        name,
        isObject(each) ? generateValue(each, random) : null,
      ]),
    );
  return undefined;
}
