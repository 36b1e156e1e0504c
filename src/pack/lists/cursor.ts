/** Cursors: texts that name a place in a list. */
import { isExactNumber } from "../../base/index.ts";

/** In characters. Longer cursors are neither taken nor given. */
export const MAX_CURSOR = 1000;

const MARK = /^(prev|next):/;

/** Marks a cursor of the page before, where one parameter has the cursors of both directions. */
export const markPrevious = (cursor: string): string => `prev:${cursor}`;

/** Marks a cursor of the next page, if it could be taken for a marked one. */
export const markNext = (cursor: string): string => (MARK.test(cursor) ? `next:${cursor}` : cursor);

/** Returns the cursor without its mark, and its direction. */
export function readMark(text: string): { readonly cursor: string; readonly isBackward: boolean } {
  const [mark = "", word] = MARK.exec(text) ?? [];
  return { cursor: text.slice(mark.length), isBackward: word === "prev" };
}

/** Returns a value of JSON as a cursor, a number with all its digits; undefined for whatever can't be one. */
export function toCursor(value: unknown): string | undefined {
  const text = isExactNumber(value) ? value.rawJSON : value;
  if (typeof text !== "string" && typeof text !== "number") return undefined;
  const cursor = String(text);
  return cursor !== "" && cursor.length <= MAX_CURSOR && cursor.isWellFormed() ? cursor : undefined;
}
