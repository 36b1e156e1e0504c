/** Cursors: texts that name a place in a list. */
import { isExactNumber } from "../json/parse.ts";

/** In characters. Longer cursors are neither taken nor given. */
export const MAX_CURSOR = 1000;

/** Returns a value of JSON as a cursor, a number with all its digits; undefined for whatever can't be one. */
export function toCursor(value: unknown): string | undefined {
  const text = isExactNumber(value) ? value.rawJSON : value;
  if (typeof text !== "string" && typeof text !== "number") return undefined;
  const cursor = String(text);
  return cursor !== "" && cursor.length <= MAX_CURSOR && cursor.isWellFormed() ? cursor : undefined;
}
