/**
 * The consequences of the pagination of both sides: the values that their pages share, and the known facts about
 * their neighbours.
 */
import type { ClientPageSize, PagingStyle } from "./styles.ts";
import type { UpstreamPages } from "./upstream-pages.ts";
import type { LinkRelation } from "./links.ts";
import type { ClientPagination } from "./pagination-definition.ts";

/** The kind of a client's cursor: the upstream's own, a member of an item, or an offset that the gateway encodes. */
type ClientCursor = "upstream" | "item" | "offset";

/** More requests for one page of the client are never made. */
export const MAX_REQUESTS = 100;

/** Both sides, as far as rules about them need it. */
export interface Sides {
  readonly style: PagingStyle | undefined;
  readonly size: ClientPageSize;
  readonly pages: UpstreamPages;
  readonly names: { readonly client: ReadonlySet<string>; readonly upstream: ReadonlySet<string> };
  readonly client: ClientPagination | undefined;
}

export const hasAny = (names: ReadonlySet<string>, wanted: readonly string[]): boolean =>
  wanted.some((name) => names.has(name));

/** Values that need the total of a list. */
export const TOTALS = ["total", "pages", "last_link"] as const;

/** Values that are the same on both sides, if the pages are. */
const SHARED_VALUES: ReadonlySet<string> = new Set(["items", "page", "pages", "total", "list"]);

/** The relations of the client's `Link` header, in its order. */
export function linkRelations(client: ClientPagination | undefined): readonly LinkRelation[] {
  const { link_header: relations = false } = client ?? {};
  if (typeof relations !== "boolean") return relations;
  return relations ? ["first", "prev", "next", "last"] : [];
}

/** Whether the client's `Link` header leads to the next page, or to the previous one. */
export const hasLink = (client: ClientPagination | undefined, to: "next" | "prev"): boolean =>
  linkRelations(client).some((relation) => relation === to || (to === "prev" && relation === "previous"));

export function isDirectPaging({ style, size, pages, names, client }: Sides): boolean {
  const values = [...names.client].filter((name) => name !== "list");
  const areShared = values.every((name) => SHARED_VALUES.has(name) && names.upstream.has(name));
  const hasHeaders =
    linkRelations(client).length > 0 || client?.total_header !== undefined || client?.range_header;
  if (!areShared || hasHeaders) return false;
  if (!style || !pages.style) return !style && !pages.style;
  if (style.kind !== "page" || pages.style.kind !== "page") return false;
  const fits =
    pages.size.parameter === undefined
      ? size.maximum === pages.size.maximum
      : size.maximum <= pages.size.maximum;
  return style.first === pages.style.first && size.parameter === undefined && fits;
}

/** The kind of the clients' cursors. */
export function clientCursor({ style, pages }: Sides): ClientCursor {
  if (style?.kind === "cursor" && style.item !== undefined) return "item";
  return pages.style?.kind === "cursor" ? "upstream" : "offset";
}

export const PREVIOUS = ["previous_cursor", "previous_link"];

/** Whether clients with cursors ask for the page before one, or get its cursor. */
export const asksForPrevious = ({ style, names, client }: Sides): boolean =>
  style?.kind === "cursor" &&
  (style.before !== undefined || hasLink(client, "prev") || hasAny(names.client, PREVIOUS));

/** Whether every page of the client is whole pages of the upstream, which have one size. */
export const isMultiple = ({ size, pages }: Sides): boolean =>
  size.parameter === undefined && size.default % pages.size.maximum === 0;

/** Whether the upstream gives pages before a cursor, that are parts of the client's pages. */
export function canGoBack(sides: Sides): boolean {
  const { pages, names } = sides;
  const { style } = pages;
  if (style?.kind !== "cursor") return false;
  const saysPrevious = pages.linkHeader || hasAny(names.upstream, PREVIOUS);
  const isPossible = style.item === undefined ? saysPrevious : style.before !== undefined;
  return isPossible && (pages.size.parameter !== undefined || isMultiple(sides));
}

const MORE = ["has_more", "next_page", "next_offset", "next_cursor", "next_link"];

/** Whether clients learn if items follow. A complete list must not end early. */
export const needsMore = ({ style, names, client }: Sides): boolean =>
  !style || hasLink(client, "next") || hasAny(names.client, MORE);

/** Whether the upstream says if items follow. */
export const saysMore = ({ pages, names: { upstream } }: Sides): boolean =>
  !pages.style ||
  pages.linkHeader ||
  (pages.style.kind === "cursor" && pages.style.item === undefined) ||
  hasAny(upstream, MORE) ||
  (pages.style.kind !== "cursor" && (pages.totalHeader !== undefined || upstream.has("total"))) ||
  (pages.style.kind === "page" && upstream.has("pages"));
