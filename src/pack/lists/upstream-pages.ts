/** The upstream's pages: how the gateway requests a page, and how it finds the next one in the response. */
import type { ListValues } from "./envelope.ts";
import { toCursor, cursorParameter, type PageSize, type PagingStyle } from "./styles.ts";
import { findLink, linkParameter } from "./links.ts";

/** How the upstream pages its lists. */
export interface UpstreamPages {
  /** The upstream's pagination; undefined if every list is complete on one page. */
  readonly style: PagingStyle | undefined;
  readonly size: PageSize;
  /** Whether lists have a `Link` header. */
  readonly linkHeader: boolean;
  /** The lower-case name of the header that contains the total. */
  readonly totalHeader: string | undefined;
  /** Returns the query of a page; empty if the upstream has no pages. Page numbers need a start that is a multiple of the size. */
  readonly query: (start: PageStart, items: number) => string;
}

/** The start of a page: the number of items before it, and its cursor. */
export interface PageStart {
  readonly offset: number;
  readonly cursor: string | undefined;
  /** Whether the page ends before the cursor. */
  readonly isBackward?: boolean;
}

/** Creates the function that returns the query of a page. */
export function createPageQuery(style: PagingStyle | undefined, size: PageSize): UpstreamPages["query"] {
  if (!style) return () => "";
  const parameter = encodeURIComponent(style.parameter);
  const sizeParameter = size.parameter === undefined ? undefined : encodeURIComponent(size.parameter);
  const sizeOf = (items: number): string => (sizeParameter === undefined ? "" : `${sizeParameter}=${items}`);
  const join = (position: string, limit: string): string =>
    position === "" || limit === "" ? position + limit : `${position}&${limit}`;
  if (style.kind === "cursor") {
    const before = encodeURIComponent(style.before ?? style.parameter);
    return ({ cursor, isBackward }, items) => {
      const name = isBackward ? before : parameter;
      return join(cursor === undefined ? "" : `${name}=${encodeURIComponent(cursor)}`, sizeOf(items));
    };
  }
  const { kind, first } = style;
  return ({ offset }, items) => {
    const position = first + (kind === "page" ? Math.floor(offset / items) : offset);
    return join(`${parameter}=${position}`, sizeOf(items));
  };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A page of the upstream: its values, its headers and its items. */
export interface ReceivedPage {
  readonly values: ListValues;
  readonly headers: Headers;
  /** Number of items on the page. */
  readonly count: number;
  /** Returns the cursor of the last item, if cursors are members of items. */
  readonly lastItem: () => string | undefined;
  /** Returns the cursor of the first item, if cursors are members of items. */
  readonly firstItem?: () => string | undefined;
}

/** Reads the number of all items. For a list without pages, this is the number of its items. */
export function readTotal(
  { style, totalHeader }: UpstreamPages,
  { values, headers, count }: ReceivedPage,
): number | undefined {
  const [text = ""] = totalHeader === undefined ? [] : [headers[totalHeader] ?? []].flat();
  return values.total ?? (/^\d{1,15}$/.test(text) ? Number(text) : style ? undefined : count);
}

/** The direction from one page to the next one, or to the previous one. */
export type Direction = "next" | "previous";

/** The values of a page that describe one of its neighbours. */
export interface Neighbour {
  /** Whether the neighbour exists. Undefined if the page does not show it. */
  readonly exists: boolean | undefined;
  /** The neighbour's cursor. */
  readonly cursor: string | undefined;
}

/** The values of a list that show whether there is a neighbour. Null means that there is none. */
const NEIGHBOUR_VALUES = {
  next: ["next_page", "next_offset", "next_cursor", "next_link"],
  previous: ["previous_cursor", "previous_link"],
} as const satisfies Record<Direction, readonly (keyof ListValues)[]>;

const RELATIONS = { next: "next", previous: "prev" } as const;

/**
 * Reads whether a page has a neighbour.
 *
 * @param ahead The start of the page, and the number of requested items, if the list is read in this direction.
 */
export function readNeighbour(
  pages: UpstreamPages,
  page: ReceivedPage,
  to: Direction,
  ahead?: { readonly start: PageStart; readonly items: number },
): Neighbour {
  const { style, linkHeader } = pages;
  const { values, headers, count } = page;
  if (!style) return { exists: (readTotal(pages, page) ?? 0) > count, cursor: undefined };
  const link = values[`${to}_link`] ?? (linkHeader ? findLink(headers["link"], RELATIONS[to]) : undefined);
  const said = NEIGHBOUR_VALUES[to].map((name) => values[name]).filter((value) => value !== undefined);
  const isSaid = linkHeader || said.length > 0 ? said.some(Boolean) || link !== undefined : undefined;
  const hasMore = ahead && values.has_more;
  // A list may report "more" about the items after a page, even if it is read backwards.
  const exists = to === "next" ? (hasMore ?? isSaid) : (isSaid ?? hasMore);
  return {
    exists: exists ?? (ahead && countMore(page, style, readTotal(pages, page), ahead)),
    cursor: readCursor(style, page, to, link),
  };
}

/** Returns whether the counts of a page show more items. Items before a cursor are not counted. */
function countMore(
  { values: { pages }, count }: ReceivedPage,
  { kind }: PagingStyle,
  total: number | undefined,
  { start: { offset }, items }: { readonly start: PageStart; readonly items: number },
): boolean | undefined {
  if (kind === "cursor") return undefined;
  if (pages !== undefined && kind === "page") return Math.floor(offset / items) + 1 < pages;
  return total === undefined ? undefined : offset + count < total;
}

function readCursor(
  style: PagingStyle,
  { values, firstItem, lastItem }: ReceivedPage,
  to: Direction,
  link: string | undefined,
): string | undefined {
  if (style.kind !== "cursor") return undefined;
  if (style.item !== undefined) return to === "next" ? lastItem() : firstItem?.();
  const parameter = cursorParameter(style, to === "previous");
  return values[`${to}_cursor`] ?? (link ? toCursor(linkParameter(link, parameter)) : undefined);
}
