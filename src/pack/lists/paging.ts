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

/** How clients ask for a page of a list, and how the gateway asks the upstream. */
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
    upstreamNames,
    /** The upstream's parameters whose values are numbers. An opaque cursor of digits is a text. */
    upstreamNumbers: upstreamNames.filter((name) => !isOpaque || name === pages.size.parameter),
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
    readPage: createPageReader(sides, size, isDirect ? Infinity : clientReach),
    /** The same for a list whose rows the gateway has in memory: clients reach all of them. @throws {HttpError} 400 */
    readPageInMemory: createPageReader(sides, sizeOf(client.pagination, LAST), Infinity),
    /** Describes a page to the client. */
    describePage: createPageWriter(sides),
    /** Starts to read a page from the upstream. */
    walk: (request: PageRequest): ListWalk => new ListWalk({ pages, request, peeks, isWhole: false, reach }),
    /** Starts to read a list of the upstream from its start, in its largest pages. @param most items */
    walkAll: (most: number): ListWalk =>
      new ListWalk({ pages, request: { start: 0, size: most }, peeks: true, isWhole: true, reach: most }),
  };
}
