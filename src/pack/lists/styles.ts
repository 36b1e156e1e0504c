/** How a dialect pages its lists, as the pack says. */

/** By page numbers, by offsets, or by cursors. */
export type PagingStyle =
  | {
      readonly kind: "page" | "offset";
      readonly parameter: string;
      readonly first: number;
      /** Of the client: what happens to a number below the first, and to a text: a 400, or the first page. */
      readonly invalid?: "reject" | "default";
    }
  | {
      readonly kind: "cursor";
      readonly parameter: string;
      /** The cursor is this member of the last item; undefined: it is opaque. */
      readonly item: string | undefined;
      /** The parameter of the page before a cursor; undefined: `parameter`, if there are such cursors. */
      readonly before: string | undefined;
    };

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
}

/** Number of items of a page that a client chooses. */
export interface ClientPageSize extends PageSize {
  /** The rule for a number above the maximum: a 400, or a page of the maximum. */
  readonly above: "reject" | "maximum";
  /** The rule for 0, a negative number, and anything that is not an integer: a 400, or a page of the default. */
  readonly invalid: "reject" | "default";
}

/** No list has more pages or items, and every upstream can count to it. */
export const LAST = 999_999_999;
