/** The values that describe a page of the client's list, in its body and its headers. */
import type { ListValues } from "./envelope.ts";
import { LAST, markNext, markPrevious } from "./styles.ts";
import { formatLinks, linkPath, withPage, withParameter } from "./links.ts";
import { writeOffsetCursor, type PageRequest } from "./page-request.ts";
import type { Sides } from "./paging-sides.ts";

/** The known facts about a page of the client. */
export interface ClientPage {
  readonly request: PageRequest;
  /** Number of items before the page: from the start of the list, or from the upstream cursor if there is one. */
  readonly start: number;
  /** Number of items on the page. */
  readonly count: number;
  readonly total: number | undefined;
  readonly hasMore: boolean;
  /** The upstream's cursor after the page. */
  readonly cursor: string | undefined;
  /** Whether items precede the page. */
  readonly hasPrevious: boolean;
  /** The upstream's cursor of the previous page. */
  readonly previousCursor: string | undefined;
  /** Return the client's cursors of the first and the last item. */
  readonly firstItem: () => string | undefined;
  readonly lastItem: () => string | undefined;
  /** Scheme, host and base path, for links that contain a host. */
  readonly linkBase: string;
  /** The prefix of the client's cursors, if a different service may have created other cursors. */
  readonly cursorMark: string;
  /** Path of the client's request. */
  readonly path: string;
  readonly query: string;
}

/** The values that describe a page, and the headers of its response. */
export interface PageDescription {
  readonly values: ListValues;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** Creates the function that describes a page to the client. */
export function createPageWriter(sides: Sides): (page: ClientPage) => PageDescription {
  const { names, client, relations } = sides;
  const used = LIST_VALUES.filter((name) => names.client.has(name));
  const totalHeader = client?.total_header?.toLowerCase();
  const range = client?.range_header;
  return (page) => {
    const positions = createPositions(page, sides);
    const values = Object.fromEntries(used.map((name) => [name, VALUES[name](page, positions)]));
    const links = relations.length > 0 ? formatLinks(positions.links(), relations) : undefined;
    const total = totalHeader === undefined ? undefined : page.total;
    const headers = {
      ...(links !== undefined && { link: links }),
      ...(totalHeader !== undefined && total !== undefined && { [totalHeader]: String(total) }),
      ...(range && { [range.name.toLowerCase()]: `${range.unit} ${formatRange(page)}` }),
    };
    return { values, headers: Object.keys(headers).length > 0 ? headers : undefined };
  };
}

/** Formats positions as in RFC 9110, section 14.4. */
const formatRange = ({ start, count, total }: ClientPage): string =>
  `${count === 0 ? "*" : `${start}-${start + count - 1}`}/${total ?? "*"}`;

/** The values of the client's page parameter for this page and for other pages. */
type Positions = ReturnType<typeof createPositions>;

function createPositions(clientPage: ClientPage, sides: Sides) {
  const { request, start, count, total, hasMore, hasPrevious, cursorMark } = clientPage;
  const { style, client } = sides;
  const { size } = request;
  const lastStart = total === undefined ? undefined : Math.max(0, Math.ceil(total / size) - 1) * size;
  const first = style === undefined || style.kind === "cursor" ? 1 : style.first;
  const valueAt = (offset: number): number => first + (style?.kind === "page" ? offset / size : offset);
  const cursorAt = (offset: number, item: () => string | undefined, ofUpstream: string | undefined) => {
    if (sides.cursor === "offset") return offset > LAST ? undefined : writeOffsetCursor(offset);
    return sides.cursor === "item" ? item() : ofUpstream;
  };
  /** Whether one parameter contains the cursors of both directions. */
  const isMarked =
    sides.goesBack && style?.kind === "cursor" && style.before === undefined && sides.cursor !== "item";
  const nextCursor = (): string | null => {
    // An empty page before the first item has no item whose cursor could be used to return.
    if (request.isBackward && count === 0) return null;
    const found = cursorAt(start + size, clientPage.lastItem, clientPage.cursor);
    return found === undefined ? null : cursorMark + (isMarked ? markNext(found) : found);
  };
  const previousCursor = (): string | null => {
    if (!sides.goesBack || !hasPrevious || count === 0) return null;
    const found = cursorAt(start, clientPage.firstItem, clientPage.previousCursor);
    return found === undefined ? null : cursorMark + (isMarked ? markPrevious(found) : found);
  };
  const next = (): string | number | null => {
    if (!hasMore || !style) return null;
    return style.kind === "cursor" ? nextCursor() : valueAt(start + size);
  };
  const previous = (): string | number | null => {
    if (style === undefined || style.kind === "cursor") return previousCursor();
    if (start <= 0) return null;
    const isBehindEnd = lastStart !== undefined && start > lastStart;
    if (isBehindEnd && client?.behind_end === "none") return null;
    const latest = client?.behind_end === "last" ? (lastStart ?? Infinity) : Infinity;
    return valueAt(Math.max(0, Math.min(start - size, latest)));
  };
  const last = (): number | null =>
    style?.kind === "page" && lastStart !== undefined ? valueAt(lastStart) : null;
  let links: ReturnType<typeof createLinks> | undefined;
  return {
    page: first + Math.floor(start / size),
    /** The value for a page that does not exist, or that has no cursor. */
    noCursor: client?.cursor?.none ?? null,
    next,
    previous,
    /** Created once, for all links in the body and in the header. */
    links: () => (links ??= createLinks({ next: next(), prev: previous(), last: last() }, clientPage, sides)),
  };
}

/** Creates the links to other pages, from the values of their parameters. The first page needs no parameter. */
function createLinks(
  values: Readonly<Record<"next" | "prev" | "last", string | number | null>>,
  { request, linkBase, path, query }: ClientPage,
  { style, size, client }: Sides,
) {
  if (!style) return { first: null, prev: null, next: null, last: null };
  const target = (client?.links === "absolute" ? linkBase : "") + linkPath(path);
  const isSized = typeof client?.size === "object" && client.size.in_links === "always";
  const sized = isSized ? withParameter(query, size.parameter ?? "", request.size) : query;
  const before = style.kind === "cursor" ? style.before : undefined;
  const names = [style.parameter, ...(before === undefined ? [] : [before])];
  const link = (value: string | number | null, parameter = style.parameter): string | null =>
    value === null ? null : withPage(target, sized, names, parameter, value);
  return {
    first: withPage(target, sized, names, style.parameter, null),
    prev: link(values.prev, before),
    next: link(values.next),
    last: link(values.last),
  };
}

type ListValue = ListValues[keyof ListValues];

const VALUES: Readonly<Record<keyof ListValues, (page: ClientPage, positions: Positions) => ListValue>> = {
  page: (_, { page }) => page,
  pages: ({ total, request: { size } }) => (total === undefined ? undefined : Math.ceil(total / size)),
  total: ({ total }) => total,
  size: ({ request: { size } }) => size,
  count: ({ count }) => count,
  offset: ({ start }) => start,
  has_more: ({ request: { isBackward }, hasMore, hasPrevious }) => (isBackward ? hasPrevious : hasMore),
  next_page: (_, { next }) => next(),
  previous_page: (_, { previous }) => previous(),
  next_offset: (_, { next }) => next(),
  next_cursor: (_, { next, noCursor }) => next() ?? noCursor,
  previous_cursor: (_, { previous, noCursor }) => previous() ?? noCursor,
  next_link: (_, positions) => positions.links().next,
  previous_link: (_, positions) => positions.links().prev,
  first_link: (_, positions) => positions.links().first,
  last_link: (_, positions) => positions.links().last,
};

/** The names of values that a list may contain in addition to its items. */
export const LIST_VALUES = Object.keys(VALUES) as readonly (keyof ListValues)[];
