/** How both dialects page their lists, compiled. */
import { toCursor, LAST, type ClientPageSize, type PageSize, type PagingStyle } from "./styles.ts";
import { ListWalk } from "./list-walk.ts";
import { createPageReader, type PageRequest } from "./page-request.ts";
import { createPageWriter } from "./page-values.ts";
import { createPageQuery, type UpstreamPages } from "./upstream-pages.ts";
import { namesIn, type Shape } from "../values/shape.ts";
import { compileGetter } from "../values/member-paths.ts";
import { reportPaging } from "./paging-rules.ts";
import {
  asksForPrevious,
  canGoBack,
  clientCursor,
  hasAny,
  isDirectPaging,
  MAX_REQUESTS,
  needsMore,
  saysMore,
  TOTALS,
  type Sides,
} from "./paging-sides.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { ClientPagination, UpstreamPagination } from "./pagination-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";

/** How clients ask for a page of a list, and how the gateway asks the upstream. */
export type Paging = ReturnType<typeof compilePaging>;

/** Number of items of a page if the pack gives none. */
const UNPAGED = 1000;

/** How many items are read at most for one page of the client, where the pack does not say it. */
const MAX_ITEMS = 1000;

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
  if (offset) return { kind: "offset", ...offset };
  return cursor && { kind: "cursor", item: undefined, before: undefined, ...cursor };
}

function pageSizeOf(pagination: Pagination | undefined, otherwise: number): PageSize {
  if (!pagination) return { parameter: undefined, default: otherwise, maximum: otherwise };
  const { size } = pagination;
  if (typeof size === "number") return { parameter: undefined, default: size, maximum: size };
  return {
    parameter: size.parameter,
    maximum: size.maximum,
    default: "default" in size ? size.default : size.maximum,
  };
}

function clientSizeOf(pagination: ClientPagination | undefined, otherwise: number): ClientPageSize {
  const size = pagination?.size;
  const { above, invalid } =
    typeof size === "object" ? size : ({ above: "reject", invalid: "reject" } as const);
  return { ...pageSizeOf(pagination, otherwise), above, invalid };
}

function parametersOf(style: PagingStyle | undefined, size: PageSize): string[] {
  if (!style) return [];
  const before = style.kind === "cursor" ? style.before : undefined;
  return [style.parameter, before, size.parameter].filter((name) => name !== undefined);
}

/** Those whose values are numbers. */
const numbersOf = (style: PagingStyle | undefined, size: PageSize): string[] => {
  const isOpaque = style?.kind === "cursor" && style.item === undefined;
  return parametersOf(style, size).filter((name) => !isOpaque || name === size.parameter);
};

/** Compiles the function that returns the cursor of an item. */
function compileCursor(style: PagingStyle | undefined): (item: unknown) => string | undefined {
  if (style?.kind !== "cursor" || style.item === undefined) return () => undefined;
  const get = compileGetter(style.item);
  return (item) => toCursor(get(item));
}

const valueNames = (shape: Shape): ReadonlySet<string> => new Set(namesIn(shape).map(({ name }) => name));

/** Compiles the pagination of lists. Reports pagination that can't be translated. */
export function compilePaging(
  { client, upstream }: DialectDefinition,
  shapes: { readonly client: Shape; readonly upstream: Shape },
  location: SourceLocation,
) {
  const style = styleOf(client.pagination, location.at("client", "pagination"));
  const upstreamStyle = styleOf(upstream.pagination, location.at("upstream", "pagination"));
  const upstreamSize = pageSizeOf(upstream.pagination, UNPAGED);
  const reach =
    upstream.pagination?.max_items ??
    (upstreamStyle ? Math.min(MAX_ITEMS, MAX_REQUESTS * upstreamSize.maximum) : LAST);
  const pages: UpstreamPages = {
    style: upstreamStyle,
    size: upstreamSize,
    query: createPageQuery(upstreamStyle, upstreamSize),
    linkHeader: upstream.pagination?.link_header ?? false,
    totalHeader: upstream.pagination?.total_header?.toLowerCase(),
  };
  const size = clientSizeOf(client.pagination, reach);
  const names = { client: valueNames(shapes.client), upstream: valueNames(shapes.upstream) };
  const sides: Sides = { style, size, pages, names, client: client.pagination };
  const isDirect = isDirectPaging(sides);
  const upstreamGoesBack = canGoBack(sides);
  const goesBack = asksForPrevious(sides) && (clientCursor(sides) !== "upstream" || upstreamGoesBack);
  const peeks = !isDirect && needsMore(sides) && !saysMore(sides);
  const jumps = pages.style?.kind !== "cursor";
  const clientReach = jumps ? LAST : reach;
  if (client.pagination || upstream.pagination) reportPaging(sides, upstream, location);
  return {
    /** The pack's definition of it, by side. */
    definition: { client: client.pagination, upstream: upstream.pagination },
    /** Undefined: lists of the client have no pages. */
    style,
    size,
    /** Whether clients get the total of a list. */
    hasTotal: client.pagination?.total_header !== undefined || hasAny(names.client, TOTALS),
    /** Whether links to the client's pages have a host. */
    hasAbsoluteLinks: client.pagination?.links === "absolute",
    /** The client's query parameters that ask for a page, and the upstream's. */
    clientNames: parametersOf(style, size),
    upstreamNames: parametersOf(pages.style, pages.size),
    /** The upstream's parameters whose values are numbers. An opaque cursor of digits is a text. */
    upstreamNumbers: numbersOf(pages.style, pages.size),
    upstream: pages,
    /** Returns the cursor that an item of the upstream is, where its cursors are members of items. */
    upstreamCursor: compileCursor(pages.style),
    /** Returns the cursor that an item of the client is, where its cursors are members of items. */
    clientCursor: compileCursor(style),
    /** Whether every page of the client is one page of the upstream with all values that the client gets. */
    isDirect,
    /** Whether the upstream has cursors of the page before, which fit the client's pages. */
    upstreamGoesBack,
    /** Reads the page of a query. @throws {HttpError} 400 for an invalid page */
    readPage: createPageReader(sides, goesBack, isDirect ? Infinity : clientReach),
    /** The same for a list whose rows the gateway has in memory: clients reach all of them. @throws {HttpError} 400 */
    readPageInMemory: createPageReader(
      { ...sides, size: clientSizeOf(client.pagination, LAST) },
      goesBack,
      Infinity,
    ),
    /** Describes a page to the client. */
    describePage: createPageWriter(sides, goesBack),
    /** Starts to read a page from the upstream. */
    walk: (request: PageRequest): ListWalk => new ListWalk({ pages, request, peeks, isWhole: false, reach }),
    /** Starts to read a list of the upstream from its start, in its largest pages. @param most items */
    walkAll: (most: number): ListWalk =>
      new ListWalk({ pages, request: { start: 0, size: most }, peeks: true, isWhole: true, reach: most }),
  };
}
