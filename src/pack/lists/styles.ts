/**
 * How a dialect pages its lists, as the pack defines it: its styles and its cursors. A cursor is a text that names a
 * position in a list.
 */
import type { z } from "zod";
import { isExactNumber } from "../../base/index.ts";
import type { cursorStyle, pageStyle } from "./pagination-definition.ts";

interface NumberedStyle extends z.infer<typeof pageStyle> {
  readonly kind: "page" | "offset";
  /** For the client: whether a number below the first page, or a text, causes a 400 or the first page. */
  readonly invalid?: "reject" | "default";
}

/** Cursor pagination. A cursor is a member of the last item (`item`), or opaque. */
export interface CursorStyle extends z.infer<typeof cursorStyle> {
  readonly kind: "cursor";
}

/** A style of pagination: by page numbers, by offsets, or by cursors. */
export type PagingStyle = NumberedStyle | CursorStyle;

/** The parameter for a cursor in a direction; empty for pages without cursors. */
export const cursorParameter = (style: PagingStyle | undefined, isBackward = false): string => {
  if (style?.kind !== "cursor") return "";
  return (isBackward ? style.before : undefined) ?? style.parameter;
};

/** Number of items on a page. */
export interface PageSize {
  /** The query parameter; undefined if the size is fixed. */
  readonly parameter: string | undefined;
  readonly default: number;
  readonly maximum: number;
  /** For the client, the rule for a number above the maximum: a 400, or a page of the maximum size. */
  readonly above: "reject" | "maximum";
  /** The rule for 0, a negative number, or a text that is not an integer: a 400, or a page of the default size. */
  readonly invalid: "reject" | "default";
}

/** The largest number of a page or an item. Every upstream supports it, and no list is longer. */
export const LAST = 999_999_999;

/** Maximum number of characters of a cursor, in both directions. */
export const MAX_CURSOR = 1000;

const MARK = /^(prev|next):/;

/** Marks a cursor of the previous page, if one parameter contains the cursors of both directions. */
export const markPrevious = (cursor: string): string => `prev:${cursor}`;

/** Marks a cursor of the next page, if it could be mistaken for a marked cursor. */
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
