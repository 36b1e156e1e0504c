/** The pagination of both sides, and what follows from it: the values that pages share, and what is known of neighbours. */
import { namesIn, type Shape } from "../values/shape.ts";
import { LAST, type PageSize, type PagingStyle } from "./styles.ts";
import { createPageQuery, type UpstreamPages } from "./upstream-pages.ts";
import type { LinkRelation } from "./links.ts";
import type { ClientPagination, UpstreamPagination } from "./pagination-definition.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";

/** More requests for one page of the client are never made. */
export const MAX_REQUESTS = 100;

/** Number of items of an upstream's page if the pack gives none. */
const UNPAGED = 1000;

/** How many items are read at most for one page of the client, where the pack does not say it. */
const MAX_ITEMS = 1000;

/** Both sides, and the consequences. */
export type Sides = ReturnType<typeof compileSides>;

type Names = ReadonlySet<string>;

export const hasAny = (names: Names, wanted: readonly string[]): boolean =>
  wanted.some((name) => names.has(name));

/** Values that need the total of a list. */
export const TOTALS = ["total", "pages", "last_link"] as const;

/** Values about the page before. */
export const PREVIOUS = ["previous_cursor", "previous_link"];

/** Values that say whether items follow. */
const MORE = ["has_more", "next_page", "next_offset", "next_cursor", "next_link"];

/** Values that are the same on both sides, if the pages are. */
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

/** The size of a side's pages. @param otherwise where the side has no pages */
export function sizeOf(pagination: Pagination | undefined, otherwise: number): PageSize {
  const size = pagination?.size ?? otherwise;
  const rules = { above: "reject", invalid: "reject" } as const;
  return typeof size === "number"
    ? { parameter: undefined, default: size, maximum: size, ...rules }
    : { default: size.maximum, ...rules, ...size };
}

/** The relations of the client's `Link` header, in its order. */
function linkRelations({
  link_header: relations = false,
}: Partial<ClientPagination>): readonly LinkRelation[] {
  if (typeof relations !== "boolean") return relations;
  return relations ? ["first", "prev", "next", "last"] : [];
}

/** Whether every page of the client is one page of the upstream with all values that the client gets. */
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

/** Whether the upstream says if items follow. */
const saysMore = ({ style, linkHeader, totalHeader }: UpstreamPages, names: Names): boolean => {
  if (!style || linkHeader || hasAny(names, MORE)) return true;
  if (style.kind === "cursor") return style.item === undefined;
  return totalHeader !== undefined || names.has("total") || (style.kind === "page" && names.has("pages"));
};

/** Compiles the pagination of both sides. @param shapes of their lists */
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
  /** Whether every page of the client is whole pages of the upstream, which have one size. */
  const isMultiple = size.parameter === undefined && size.default % upstreamSize.maximum === 0;
  /** Whether the upstream gives pages before a cursor that are parts of the client's pages. */
  const upstreamGoesBack =
    upstreamStyle?.kind === "cursor" &&
    (upstreamStyle.item === undefined
      ? pages.linkHeader || hasAny(names.upstream, PREVIOUS)
      : upstreamStyle.before !== undefined) &&
    (upstreamSize.parameter !== undefined || isMultiple);
  const asksForPrevious =
    style?.kind === "cursor" &&
    (style.before !== undefined || linksTo("prev") || hasAny(names.client, PREVIOUS));
  /** Whether clients learn if items follow. A complete list must not end early. */
  const needsMore = !style || linksTo("next") || hasAny(names.client, MORE);
  return {
    style,
    size,
    pages,
    /** The names of the values of both lists. */
    names,
    /** The client's pagination as the pack says it. */
    client,
    /** Pages that start after this number of items are rejected, if the upstream has cursors. */
    reach,
    relations,
    linksTo,
    isDirect,
    /** The kind of the client's cursor: the upstream's own, a member of an item, or an offset that the gateway encodes. */
    cursor,
    isMultiple,
    upstreamGoesBack,
    /** Whether there are cursors of the page before. */
    goesBack: asksForPrevious && (cursor !== "upstream" || upstreamGoesBack),
    /** Whether one more item is read, because nothing else says whether items follow. */
    peeks: !isDirect && needsMore && !saysMore(pages, names.upstream),
  };
}
