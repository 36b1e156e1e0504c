/** How both dialects page their lists, compiled. */
import { toCursor, LAST, type PageSize, type PagingStyle } from "./styles.ts";
import { ListWalk } from "./list-walk.ts";
import { createPageReader, type PageRequest } from "./page-request.ts";
import { createPageWriter } from "./page-values.ts";
import type { Shape } from "../values/shape.ts";
import { compileGetter } from "../values/member-paths.ts";
import { reportPaging } from "./paging-rules.ts";
import { compileSides, hasAny, sizeOf, TOTALS } from "./paging-sides.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";

/** How clients request a page of a list, and how the gateway requests pages from the upstream. */
export type Paging = ReturnType<typeof compilePaging>;

function parametersOf(style: PagingStyle | undefined, size: PageSize): string[] {
  if (!style) return [];
  const before = style.kind === "cursor" ? style.before : undefined;
  return [style.parameter, before, size.parameter].filter((name) => name !== undefined);
}

/** Compiles the function that returns the cursor of an item. */
function compileCursor(style: PagingStyle | undefined): (item: unknown) => string | undefined {
  if (style?.kind !== "cursor" || style.item === undefined) return () => undefined;
  const get = compileGetter(style.item);
  return (item) => toCursor(get(item));
}

/** Compiles the pagination of lists. Reports pagination that can't be translated. */
export function compilePaging(
  dialect: DialectDefinition,
  shapes: Readonly<Record<"client" | "upstream", Shape>>,
  location: SourceLocation,
) {
  const { client, upstream } = dialect;
  const sides = compileSides(dialect, shapes, location);
  const { style, size, pages, names, isDirect, upstreamGoesBack, peeks, reach } = sides;
  if (client.pagination || upstream.pagination) reportPaging(sides, upstream, location);
  const upstreamNames = parametersOf(pages.style, pages.size);
  const isOpaque = pages.style?.kind === "cursor" && pages.style.item === undefined;
  const clientReach = pages.style?.kind === "cursor" ? reach : LAST;
  return {
    /** The definition in the pack, by side. */
    definition: { client: client.pagination, upstream: upstream.pagination },
    /** The client's pagination; undefined if its lists have no pages. */
    style,
    size,
    /** Whether clients receive the total of a list. */
    hasTotal: client.pagination?.total_header !== undefined || hasAny(names.client, TOTALS),
    /** Whether links to the client's pages contain a host. */
    hasAbsoluteLinks: client.pagination?.links === "absolute",
    /** The client's query parameters for pages, and the upstream's. */
    clientNames: parametersOf(style, size),
    upstreamNames,
    /** The upstream's parameters whose values are numbers. An opaque cursor of digits is a text. */
    upstreamNumbers: upstreamNames.filter((name) => !isOpaque || name === pages.size.parameter),
    upstream: pages,
    /** Returns the cursor of an upstream item, if the upstream's cursors are members of items. */
    upstreamCursor: compileCursor(pages.style),
    /** Returns the cursor of a client's item, if the client's cursors are members of items. */
    clientCursor: compileCursor(style),
    /** Whether every page of the client is one page of the upstream that contains all values which the client needs. */
    isDirect,
    /** Whether the upstream supports cursors of the previous page that fit the client's pages. */
    upstreamGoesBack,
    /** Reads the page of a query. @throws {HttpError} 400 for an invalid page */
    readPage: createPageReader(sides, size, isDirect ? Infinity : clientReach),
    /** Reads the page of a list whose rows the gateway has in memory: clients can reach all of them. @throws {HttpError} 400 */
    readPageInMemory: createPageReader(sides, sizeOf(client.pagination, LAST), Infinity),
    /** Describes a page to the client. */
    describePage: createPageWriter(sides),
    /** Starts to read a page from the upstream. */
    walk: (request: PageRequest): ListWalk => new ListWalk({ pages, request, peeks, isWhole: false, reach }),
    /** Starts to read a list of the upstream from its start, in its largest pages. @param most maximum number of items */
    walkAll: (most: number): ListWalk =>
      new ListWalk({ pages, request: { start: 0, size: most }, peeks: true, isWhole: true, reach: most }),
  };
}
