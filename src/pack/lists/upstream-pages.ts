/** The upstream's pages: how the gateway asks for one, and what its response says about the next. */
import type { ListValues } from "./envelope.ts";
import { toCursor } from "./cursor.ts";
import { findLink, linkParameter } from "./links.ts";
import type { PageSize, PagingStyle } from "./styles.ts";

/** How the upstream pages its lists. */
export interface UpstreamPages {
  /** Undefined: every list is complete. */
  readonly style: PagingStyle | undefined;
  readonly size: PageSize;
  /** Whether lists have a `Link` header. */
  readonly linkHeader: boolean;
  /** The lower-case name of the header with the total. */
  readonly totalHeader: string | undefined;
  /** Returns the query of a page; empty if the upstream has no pages. Page numbers need a start that is a multiple of the size. */
  readonly query: (start: PageStart, items: number) => string;
}

/** The start of a page: the items before it, and its cursor. */
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
  /** Number of its items. */
  readonly count: number;
  /** Returns the cursor that its last item is, where cursors are members of items. */
  readonly lastItem: () => string | undefined;
  /** The same of its first item. */
  readonly firstItem?: () => string | undefined;
}

/** What a page says about the rest of its list. */
export interface PageEnd {
  readonly total: number | undefined;
  /** Whether items follow; undefined: it does not say. */
  readonly hasMore: boolean | undefined;
  /** The cursor of the next page. */
  readonly cursor: string | undefined;
}

function readTotal(header: string | readonly string[] | undefined): number | undefined {
  const [text = ""] = [header ?? []].flat();
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Reads what a page says about the rest of its list. @param start of the page @param items that were asked for */
export function readPageEnd(
  pages: UpstreamPages,
  page: ReceivedPage,
  start: PageStart,
  items: number,
): PageEnd {
  const { style, linkHeader, totalHeader } = pages;
  const { values, headers, count } = page;
  const total = values.total ?? (totalHeader === undefined ? undefined : readTotal(headers[totalHeader]));
  if (!style)
    return { total: total ?? count, hasMore: total !== undefined && total > count, cursor: undefined };
  const link = values.next_link ?? (linkHeader ? findLink(headers["link"], "next") : undefined);
  const next = [values.next_page, values.next_offset, values.next_cursor, values.next_link];
  const says = next.filter((value) => value !== undefined);
  const isLinked = linkHeader || says.length > 0;
  const cursor = style.kind === "cursor" ? findCursor(style, page, link ?? undefined) : undefined;
  if (style.kind === "cursor" && style.item === undefined)
    return { total, hasMore: values.has_more ?? (cursor !== undefined || Boolean(link)), cursor };
  const counted = countMore(page, style, total, start, items);
  const hasMore = values.has_more ?? (isLinked ? says.some(Boolean) || link !== undefined : counted);
  return { total, hasMore, cursor };
}

/** What the counts of a page say. Items before a cursor are not counted. */
function countMore(
  { values: { pages }, count }: ReceivedPage,
  { kind }: PagingStyle,
  total: number | undefined,
  { offset }: PageStart,
  items: number,
): boolean | undefined {
  if (kind === "cursor") return undefined;
  if (pages !== undefined && kind === "page") return Math.floor(offset / items) + 1 < pages;
  return total === undefined ? undefined : offset + count < total;
}

function findCursor(
  style: Extract<PagingStyle, { readonly kind: "cursor" }>,
  { values, lastItem }: ReceivedPage,
  link: string | null | undefined,
): string | undefined {
  if (style.item !== undefined) return lastItem();
  return values.next_cursor ?? (link ? toCursor(linkParameter(link, style.parameter)) : undefined);
}

/** What a page of an upstream with cursors says about the list before it. */
export interface PageBegin {
  /** Whether items precede; undefined: it does not say. */
  readonly hasPrevious: boolean | undefined;
  /** The cursor of the page before. */
  readonly cursor: string | undefined;
}

/** Reads what a page says about the list before it. @param isBackward whether it was asked for as a page before a cursor */
export function readPageBegin(
  { style, linkHeader }: UpstreamPages,
  { values, headers, firstItem }: ReceivedPage,
  isBackward: boolean,
): PageBegin {
  if (style?.kind !== "cursor") return { hasPrevious: undefined, cursor: undefined };
  const link = values.previous_link ?? (linkHeader ? findLink(headers["link"], "prev") : undefined);
  const inLink = link ? toCursor(linkParameter(link, style.before ?? style.parameter)) : undefined;
  const isLinked = linkHeader || values.previous_cursor !== undefined || values.previous_link !== undefined;
  const linked = values.previous_cursor ?? inLink;
  const said = isLinked ? linked !== undefined || Boolean(link) : undefined;
  return {
    hasPrevious: said ?? (isBackward ? values.has_more : undefined),
    cursor: style.item === undefined ? linked : firstItem?.(),
  };
}

/** Reads the cursor of the next page. */
export function readNextCursor({ style, linkHeader }: UpstreamPages, page: ReceivedPage): string | undefined {
  if (style?.kind !== "cursor") return undefined;
  const { values, headers } = page;
  return findCursor(
    style,
    page,
    values.next_link ?? (linkHeader ? findLink(headers["link"], "next") : undefined),
  );
}
