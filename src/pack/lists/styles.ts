/** How a dialect pages its lists, as the pack says: its styles, and cursors, which are texts that name a place in a list. */
import type { z } from "zod";
import { isExactNumber } from "../../base/index.ts";
import type { cursorStyle, pageStyle } from "./pagination-definition.ts";

interface NumberedStyle extends z.infer<typeof pageStyle> {
  readonly kind: "page" | "offset";
  /** For the client: whether a number below the first one, or a text, gets a 400 or the first page. */
  readonly invalid?: "reject" | "default";
}

/** A cursor is a member of the last item, `item`, or opaque. */
export interface CursorStyle extends z.infer<typeof cursorStyle> {
  readonly kind: "cursor";
}

/** By page numbers, by offsets, or by cursors. */
export type PagingStyle = NumberedStyle | CursorStyle;

/** The parameter of a cursor in a direction; empty for pages without cursors. */
export const cursorParameter = (style: PagingStyle | undefined, isBackward = false): string => {
  if (style?.kind !== "cursor") return "";
  return (isBackward ? style.before : undefined) ?? style.parameter;
};

/** Number of items of a page. */
export interface PageSize {
  /** The query parameter; undefined: the size is fixed. */
  readonly parameter: string | undefined;
  readonly default: number;
  readonly maximum: number;
  /** For the client: the rule for a number above the maximum: a 400, or a page of the maximum. */
  readonly above: "reject" | "maximum";
  /** The rule for 0, a negative number, and anything that is not an integer: a 400, or a page of the default. */
  readonly invalid: "reject" | "default";
}

/** No list has more pages or items, and every upstream can count to it. */
export const LAST = 999_999_999;

/** Maximum number of characters of a cursor, in both directions. */
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

/** Converts a JSON value to a cursor. A number keeps all its digits. Undefined for other values. */
export function toCursor(value: unknown): string | undefined {
  const text = isExactNumber(value) ? value.rawJSON : value;
  if (typeof text !== "string" && typeof text !== "number") return undefined;
  const cursor = String(text);
  return cursor !== "" && cursor.length <= MAX_CURSOR && cursor.isWellFormed() ? cursor : undefined;
}
