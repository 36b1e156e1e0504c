/**
 * The pagination of both sides, and the facts that follow from it: the values that both share, and what pages contain
 * about their neighbours.
 */
import { namesIn, type Shape } from "../values/shape.ts";
import { LAST, type PageSize, type PagingStyle } from "./styles.ts";
import { createPageQuery, type UpstreamPages } from "./upstream-pages.ts";
import type { LinkRelation } from "./links.ts";
import type { ClientPagination, UpstreamPagination } from "./pagination-definition.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";

/** Maximum number of requests for one page of the client. */
export const MAX_REQUESTS = 100;

/** Number of items on an upstream page if the pack defines none. */
const UNPAGED = 1000;

/** Maximum number of items that are read for one page of the client, if the pack does not define it. */
const MAX_ITEMS = 1000;

/** Both sides, and the facts that follow from them. */
export type Sides = ReturnType<typeof compileSides>;

type Names = ReadonlySet<string>;

export const hasAny = (names: Names, wanted: readonly string[]): boolean =>
  wanted.some((name) => names.has(name));

/** Values that require the total of a list. */
export const TOTALS = ["total", "pages", "last_link"] as const;

/** Values about the previous page. */
export const PREVIOUS = ["previous_cursor", "previous_link"];

/** Values that show whether items follow. */
const MORE = ["has_more", "next_page", "next_offset", "next_cursor", "next_link"];

/** Values that are equal on both sides if the pages are equal. */
const SHARED_VALUES: Names = new Set(["items", "page", "pages", "total", "list"]);

type Pagination = ClientPagination | UpstreamPagination;

function styleOf(pagination: Pagination | undefined, location: SourceLocation): PagingStyle | undefined {
  if (!pagination) return undefined;
  const { page, offset, cursor } = pagination;
  if ([page, offset, cursor].filter(Boolean).length !== 1)
    location.report({
      message: 'one of "page", "offset" and "cursor" says how lists are paged',
      hint: "page: { parameter: page }",
    });
  if (page) return { kind: "page", ...page };
  return offset ? { kind: "offset", ...offset } : cursor && { kind: "cursor", ...cursor };
}

/** Returns the size of a side's pages. @param otherwise the size if the side has no pages */
export function sizeOf(pagination: Pagination | undefined, otherwise: number): PageSize {
  const size = pagination?.size ?? otherwise;
  const rules = { above: "reject", invalid: "reject" } as const;
  return typeof size === "number"
    ? { parameter: undefined, default: size, maximum: size, ...rules }
    : { default: size.maximum, ...rules, ...size };
}

/** Returns the relations of the client's `Link` header, in order. */
function linkRelations({
  link_header: relations = false,
}: Partial<ClientPagination>): readonly LinkRelation[] {
  if (typeof relations !== "boolean") return relations;
  return relations ? ["first", "prev", "next", "last"] : [];
}

/** Whether every page of the client is one page of the upstream that contains all values which the client needs. */
function isDirectPaging(
  style: PagingStyle | undefined,
  size: PageSize,
  pages: UpstreamPages,
  names: { readonly client: Names; readonly upstream: Names },
): boolean {
  const values = [...names.client].filter((name) => name !== "list");
  if (!values.every((name) => SHARED_VALUES.has(name) && names.upstream.has(name))) return false;
  if (!style || !pages.style) return !style && !pages.style;
  if (style.kind !== "page" || pages.style.kind !== "page") return false;
  const fits =
    pages.size.parameter === undefined
      ? size.maximum === pages.size.maximum
      : size.maximum <= pages.size.maximum;
  return style.first === pages.style.first && size.parameter === undefined && fits;
}

/** Whether the upstream's responses show if items follow. */
const saysMore = ({ style, linkHeader, totalHeader }: UpstreamPages, names: Names): boolean => {
  if (!style || linkHeader || hasAny(names, MORE)) return true;
  if (style.kind === "cursor") return style.item === undefined;
  return totalHeader !== undefined || names.has("total") || (style.kind === "page" && names.has("pages"));
};

/** Compiles the pagination of both sides. @param shapes the shapes of their lists */
export function compileSides(
  { client: { pagination: client }, upstream: { pagination: upstream } }: DialectDefinition,
  shapes: Readonly<Record<"client" | "upstream", Shape>>,
  location: SourceLocation,
) {
  const valueNames = (shape: Shape): Names => new Set(namesIn(shape).map(({ name }) => name));
  const names = { client: valueNames(shapes.client), upstream: valueNames(shapes.upstream) };
  const style = styleOf(client, location.at("client", "pagination"));
  const upstreamStyle = styleOf(upstream, location.at("upstream", "pagination"));
  const upstreamSize = sizeOf(upstream, UNPAGED);
  const pages: UpstreamPages = {
    style: upstreamStyle,
    size: upstreamSize,
    query: createPageQuery(upstreamStyle, upstreamSize),
    linkHeader: upstream?.link_header ?? false,
    totalHeader: upstream?.total_header?.toLowerCase(),
  };
  const reach =
    upstream?.max_items ?? (pages.style ? Math.min(MAX_ITEMS, MAX_REQUESTS * upstreamSize.maximum) : LAST);
  const size = sizeOf(client, reach);
  const relations = style ? linkRelations(client ?? {}) : [];
  const linksTo = (to: "next" | "prev"): boolean =>
    relations.some((relation) => relation === to || (to === "prev" && relation === "previous"));
  const hasHeaders =
    relations.length > 0 || client?.total_header !== undefined || client?.range_header !== undefined;
  const isDirect = !hasHeaders && isDirectPaging(style, size, pages, names);
  const isItem = style?.kind === "cursor" && style.item !== undefined;
  const ofUpstream = upstreamStyle?.kind === "cursor" ? "upstream" : "offset";
  const cursor: "item" | "upstream" | "offset" = isItem ? "item" : ofUpstream;
  /** Whether every page of the client consists of whole pages of the upstream, which have one size. */
  const isMultiple = size.parameter === undefined && size.default % upstreamSize.maximum === 0;
  /** Whether the upstream returns pages before a cursor that are parts of the client's pages. */
  const upstreamGoesBack =
    upstreamStyle?.kind === "cursor" &&
    (upstreamStyle.item === undefined
      ? pages.linkHeader || hasAny(names.upstream, PREVIOUS)
      : upstreamStyle.before !== undefined) &&
    (upstreamSize.parameter !== undefined || isMultiple);
  const asksForPrevious =
    style?.kind === "cursor" &&
    (style.before !== undefined || linksTo("prev") || hasAny(names.client, PREVIOUS));
  /** Whether clients are informed if items follow. A complete list must not end early. */
  const needsMore = !style || linksTo("next") || hasAny(names.client, MORE);
  return {
    style,
    size,
    pages,
    /** The names of the values in both lists. */
    names,
    /** The client's pagination as the pack defines it. */
    client,
    /** Maximum number of items before a page, if the upstream uses cursors. Later pages are rejected. */
    reach,
    relations,
    linksTo,
    isDirect,
    /** The kind of the client's cursor: the upstream's own, a member of an item, or an offset that the gateway encodes. */
    cursor,
    isMultiple,
    upstreamGoesBack,
    /** Whether there are cursors of the previous page. */
    goesBack: asksForPrevious && (cursor !== "upstream" || upstreamGoesBack),
    /** Whether one more item is read, because nothing else shows whether items follow. */
    peeks: !isDirect && needsMore && !saysMore(pages, names.upstream),
  };
}
