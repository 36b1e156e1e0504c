/** How both dialects page their lists, compiled. */
import { LIST_VALUES } from "../../dialect/envelope.ts";
import { toCursor } from "../../dialect/paging/cursor.ts";
import { createBackwardWalk } from "../../dialect/paging/backward-walk.ts";
import { createListWalk, type ListWalk } from "../../dialect/paging/list-walk.ts";
import { createPageReader, type ClientCursor, type PageRequest } from "../../dialect/paging/page-request.ts";
import { createPageWriter, type PageDescription, type ClientPage } from "../../dialect/paging/page-values.ts";
import { LAST, type ClientPageSize, type PageSize, type PagingStyle } from "../../dialect/paging/styles.ts";
import { createPageQuery, type UpstreamPages } from "../../dialect/paging/upstream-pages.ts";
import type { Query } from "../../dialect/query.ts";
import { namesIn, type Shape } from "../../dialect/shape.ts";
import { compileGetter } from "./member-paths.ts";
import type { SourceLocation } from "../load/source-location.ts";
import type { ClientPagination, UpstreamPagination } from "../schema/pagination-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";

/** How clients ask for a page of a list, and how the gateway asks the upstream. */
export interface Paging {
  /** Undefined: lists of the client have no pages. */
  readonly style: PagingStyle | undefined;
  readonly size: ClientPageSize;
  /** Whether clients get the total of a list. */
  readonly hasTotal: boolean;
  /** Whether links to the client's pages have a host. */
  readonly hasAbsoluteLinks: boolean;
  /** The client's query parameters that ask for a page, and the upstream's. */
  readonly clientNames: readonly string[];
  readonly upstreamNames: readonly string[];
  /** The upstream's parameters whose values are numbers. An opaque cursor of digits is a text. */
  readonly upstreamNumbers: readonly string[];
  readonly upstream: UpstreamPages;
  /** Returns the cursor that an item of the upstream is, where its cursors are members of items. */
  readonly upstreamCursor: (item: unknown) => string | undefined;
  /** Returns the cursor that an item of the client is, where its cursors are members of items. */
  readonly clientCursor: (item: unknown) => string | undefined;
  /** Whether every page of the client is one page of the upstream, which has all values that the client gets. */
  readonly isDirect: boolean;
  /** Reads the page of a query. @throws {HttpError} 400 for an invalid page */
  readonly readPage: (query: Query) => PageRequest;
  /** Describes a page to the client. */
  readonly describePage: (page: ClientPage) => PageDescription;
  /** Whether the upstream has cursors of the page before, which fit the client's pages. */
  readonly upstreamGoesBack: boolean;
  /** Starts to read a page from the upstream. */
  readonly walk: (request: PageRequest) => ListWalk;
  /** Starts to read a list of the upstream from its start, in its largest pages. @param most items */
  readonly walkAll: (most: number) => ListWalk;
}

/** Number of items of a page where the pack gives none. */
const UNPAGED = 1000;

/** More requests for one page of the client are never made. */
const MAX_REQUESTS = 100;

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

/** Compiles how lists are paged. Reports what can't be translated. */
export function compilePaging(
  { client, upstream }: DialectDefinition,
  shapes: { readonly client: Shape; readonly upstream: Shape },
  location: SourceLocation,
): Paging {
  const at = { client: location.at("client", "pagination"), upstream: location.at("upstream", "pagination") };
  const style = styleOf(client.pagination, at.client);
  const upstreamStyle = styleOf(upstream.pagination, at.upstream);
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
  const cursor = clientCursor(sides);
  const upstreamGoesBack = canGoBack(sides);
  const goesBack = asksForPrevious(sides) && (cursor !== "upstream" || upstreamGoesBack);
  const jumps = pages.style?.kind !== "cursor";
  const clientReach = jumps ? LAST : reach;
  if (client.pagination || upstream.pagination) reportPaging(sides, cursor, upstream, at, location);
  return {
    style,
    size,
    hasTotal: client.pagination?.total_header !== undefined || TOTALS.some((name) => names.client.has(name)),
    hasAbsoluteLinks: client.pagination?.links === "absolute",
    clientNames: parametersOf(style, size),
    upstreamNames: parametersOf(pages.style, pages.size),
    upstreamNumbers: numbersOf(pages.style, pages.size),
    upstream: pages,
    upstreamCursor: compileCursor(pages.style),
    clientCursor: compileCursor(style),
    isDirect,
    upstreamGoesBack,
    readPage: createPageReader({ style, size, cursor, goesBack, reach: isDirect ? Infinity : clientReach }),
    describePage: createPageWriter({
      style,
      cursor,
      goesBack,
      names: names.client,
      linkHeader: client.pagination?.link_header ?? false,
      totalHeader: client.pagination?.total_header?.toLowerCase(),
    }),
    walk(request) {
      if (request.isBackward && request.cursor !== undefined) return createBackwardWalk(pages, request);
      return createListWalk({
        pages,
        request,
        peeks: !isDirect && needsMore(sides) && !saysMore(sides),
        isWhole: false,
        reach,
      });
    },
    walkAll: (most) =>
      createListWalk({ pages, request: { start: 0, size: most }, peeks: true, isWhole: true, reach: most }),
  };
}

/** Both sides, as far as rules about them need it. */
interface Sides {
  readonly style: PagingStyle | undefined;
  readonly size: PageSize;
  readonly pages: UpstreamPages;
  readonly names: { readonly client: ReadonlySet<string>; readonly upstream: ReadonlySet<string> };
  readonly client: ClientPagination | undefined;
}

/** Values that need the total of a list. */
const TOTALS = ["total", "pages", "last_link"] as const;

/** Values that are the same on both sides, if the pages are. */
const SHARED_VALUES: ReadonlySet<string> = new Set(["items", "page", "pages", "total", "list"]);

function isDirectPaging({ style, size, pages, names, client }: Sides): boolean {
  const values = [...names.client].filter((name) => name !== "list");
  const areShared = values.every((name) => SHARED_VALUES.has(name) && names.upstream.has(name));
  if (!areShared || client?.link_header || client?.total_header !== undefined) return false;
  if (!style || !pages.style) return !style && !pages.style;
  if (style.kind !== "page" || pages.style.kind !== "page") return false;
  const fits =
    pages.size.parameter === undefined
      ? size.maximum === pages.size.maximum
      : size.maximum <= pages.size.maximum;
  return style.first === pages.style.first && size.parameter === undefined && fits;
}

/** What the cursors of clients are. */
function clientCursor({ style, pages }: Sides): ClientCursor {
  if (style?.kind === "cursor" && style.item !== undefined) return "item";
  return pages.style?.kind === "cursor" ? "upstream" : "offset";
}

const PREVIOUS = ["previous_cursor", "previous_link"];

/** Whether clients with cursors ask for the page before one, or get its cursor. */
const asksForPrevious = ({ style, names, client }: Sides): boolean =>
  style?.kind === "cursor" &&
  (style.before !== undefined || client?.link_header === true || hasAny(names.client, PREVIOUS));

/** Whether the upstream gives pages before a cursor, that are parts of the client's pages. */
function canGoBack({ size, pages, names }: Sides): boolean {
  const { style } = pages;
  if (style?.kind !== "cursor") return false;
  const saysPrevious = pages.linkHeader || hasAny(names.upstream, PREVIOUS);
  const isPossible = style.item === undefined ? saysPrevious : style.before !== undefined;
  const divides = size.parameter === undefined && size.default % pages.size.maximum === 0;
  return isPossible && (pages.size.parameter !== undefined || divides);
}

const MORE = ["has_more", "next_page", "next_offset", "next_cursor", "next_link"];

/** Whether clients learn if items follow. A complete list must not end early. */
const needsMore = ({ style, names, client }: Sides): boolean =>
  !style || client?.link_header === true || MORE.some((name) => names.client.has(name));

/** Whether the upstream says if items follow. */
const saysMore = ({ pages, names: { upstream } }: Sides): boolean =>
  !pages.style ||
  pages.linkHeader ||
  (pages.style.kind === "cursor" && pages.style.item === undefined) ||
  MORE.some((name) => upstream.has(name)) ||
  (pages.style.kind !== "cursor" && (pages.totalHeader !== undefined || upstream.has("total"))) ||
  (pages.style.kind === "page" && upstream.has("pages"));

const LINKS = ["next_link", "previous_link", "first_link", "last_link"];

/** Values that exist with some styles only. */
const STYLES_OF: Readonly<Record<string, readonly PagingStyle["kind"][]>> = {
  page: ["page", "offset"],
  pages: ["page", "offset"],
  offset: ["page", "offset"],
  next_page: ["page"],
  previous_page: ["page"],
  next_offset: ["offset"],
  next_cursor: ["cursor"],
  previous_cursor: ["cursor"],
  last_link: ["page"],
};

/** Reports what the gateway can't know, or can't ask for. */
function reportPaging(
  { style, size, pages, names, client }: Sides,
  cursor: ClientCursor,
  upstream: DialectDefinition["upstream"],
  at: { readonly client: SourceLocation; readonly upstream: SourceLocation },
  location: SourceLocation,
): void {
  const clientList = location.at("client", "responses", "list");
  for (const name of LIST_VALUES.filter((each) => names.client.has(each))) {
    const kinds = STYLES_OF[name];
    if (style && kinds && !kinds.includes(style.kind))
      clientList.report(
        `"$${name}" needs "pagination" with ${kinds.map((kind) => `"${kind}"`).join(" or ")}`,
      );
  }
  const needsTotal = TOTALS.find((name) => names.client.has(name));
  const hasTotal = names.upstream.has("total") || pages.totalHeader !== undefined || !pages.style || !style;
  if (needsTotal !== undefined && !hasTotal && !isDirectPaging({ style, size, pages, names, client }))
    clientList.report({
      message: `the gateway does not know "$${needsTotal}": lists of ${upstream.name} have no total`,
      hint: "add $total to the upstream's list, or total_header to its pagination",
    });
  if (client?.total_header !== undefined && !hasTotal)
    at.client.at("total_header").report(`lists of ${upstream.name} have no total`);
  if (client?.links === "absolute" && !client.link_header && !hasAny(names.client, LINKS))
    at.client.at("links").report({
      message: "lists of clients have no links",
      hint: 'add $next_link to their list, or "link_header: true"',
    });
  if (size.default > size.maximum)
    at.client
      .at("size", "default")
      .report(`the default ${size.default} is larger than the maximum ${size.maximum}`);
  if (
    style?.kind === "cursor" &&
    cursor !== "item" &&
    !client?.link_header &&
    !hasAny(names.client, ["next_cursor", "next_link"])
  )
    at.client.at("cursor").report({
      message: "clients do not learn the next cursor",
      hint: 'add $next_cursor or $next_link to their list, "link_header: true", or "item": the member that the cursor is',
    });
  reportPrevious({ style, size, pages, names, client }, cursor, upstream.name, at, clientList);
  if (!pages.style) return;
  if (Math.ceil((upstream.pagination?.max_items ?? 0) / pages.size.maximum) > MAX_REQUESTS)
    at.upstream
      .at("max_items")
      .report(`needs more than ${MAX_REQUESTS} requests with pages of ${pages.size.maximum} items`);
  if (client && size.maximum > MAX_REQUESTS * pages.size.maximum)
    at.client
      .at("size")
      .report(`a page of ${size.maximum} items needs more than ${MAX_REQUESTS} requests to ${upstream.name}`);
  if (pages.style.kind !== "cursor" || pages.style.item !== undefined) return;
  if (!pages.linkHeader && !hasAny(names.upstream, ["next_cursor", "next_link"]))
    at.upstream.at("cursor").report({
      message: "the gateway does not learn the next cursor",
      hint: 'add $next_cursor or $next_link to the upstream\'s list, "link_header: true", or "item": the member that the cursor is',
    });
  const divides = size.parameter === undefined && size.default % pages.size.maximum === 0;
  if (cursor === "upstream" && style && pages.size.parameter === undefined && !divides)
    at.client
      .at("size")
      .report(
        `pages of ${upstream.name} have ${pages.size.maximum} items, and its cursors are between them: the size must be fixed, and a multiple of ${pages.size.maximum}`,
      );
}

/** Reports pages before a cursor that the gateway can't ask for, or that nobody learns. */
function reportPrevious(
  sides: Sides,
  cursor: ClientCursor,
  upstream: string,
  at: { readonly client: SourceLocation; readonly upstream: SourceLocation },
  clientList: SourceLocation,
): void {
  const { style, pages, names, client } = sides;
  const learns = (shape: ReadonlySet<string>, hasHeader: boolean): boolean =>
    hasHeader || hasAny(shape, PREVIOUS);
  if (style?.kind === "cursor") {
    const { before, item } = style;
    const place = before === undefined ? clientList : at.client.at("cursor", "before");
    const isNeeded = before !== undefined || hasAny(names.client, PREVIOUS);
    if (isNeeded && cursor === "upstream" && !canGoBack(sides))
      place.report({
        message: `lists of ${upstream} have no cursors of the page before that fit the client's pages`,
        hint:
          before === undefined
            ? "add $previous_cursor to the upstream's list, or remove it here"
            : `remove it, and reject the parameter: query: { parameters: { "${before}": { reject: NAME_OF_A_MESSAGE } } }`,
      });
    if (before !== undefined && item === undefined && !learns(names.client, client?.link_header === true))
      place.report({
        message: "clients do not learn the cursor of the page before",
        hint: 'add $previous_cursor or $previous_link to their list, or "link_header: true"',
      });
    if (before === style.parameter) place.report('"before" is the same parameter as "parameter"');
    if (before === undefined && item !== undefined && hasAny(names.client, PREVIOUS))
      clientList.report('the page before an item needs a parameter of its own: "before" in "cursor"');
  }
  if (pages.style?.kind !== "cursor" || pages.style.before === undefined) return;
  const { item } = pages.style;
  const isSaid =
    learns(names.upstream, pages.linkHeader) || (item !== undefined && names.upstream.has("has_more"));
  if (!isSaid)
    at.upstream.at("cursor", "before").report({
      message: "the gateway does not learn whether a page precedes",
      hint: `add $previous_cursor, $previous_link${item === undefined ? "" : " or $has_more"} to the upstream's list, or "link_header: true"`,
    });
}

const hasAny = (names: ReadonlySet<string>, wanted: readonly string[]): boolean =>
  wanted.some((name) => names.has(name));
