/** Which upstream pages a page of the client is read from. Their sizes need not divide evenly. */
import { pageBefore, type PageRequest } from "./page-request.ts";
import {
  readPageBegin,
  readPageEnd,
  type PageBegin,
  type PageStart,
  type ReceivedPage,
  type UpstreamPages,
} from "./upstream-pages.ts";

/** Calls for one page of the client. Pages may have fewer items than the gateway asks for. */
export const MAX_CALLS = 100;

/** Reads one page of the client from as few upstream pages as possible. The caller makes the calls. */
export interface ListWalk {
  /** Whether each page precedes the one that was read before it. */
  readonly isBackward?: boolean;
  /** The query of the next upstream page. */
  readonly query: string;
  /** Index of the first item of that page that is part of the client's page, and of the first behind it. */
  readonly from: number;
  readonly to: number;
  /** Whether the item of a cursor is still to be found. */
  readonly isSearching: boolean;
  /**
   * Ends the search: the client's page starts behind this item of the next page, or ends before it. Returns whether that
   * page has the start of the client's; if not, the pages are read again from there.
   */
  found(index: number): boolean;
  /** Takes the next page into account. */
  accept(page: ReceivedPage): void;
  /** The queries of all pages that follow, where they are known by now and need not be requested one by one. */
  rest(): readonly string[] | undefined;
  /** Whether the client's page is complete, or the list has ended. */
  readonly isDone: boolean;
  /** Number of all items; undefined if the upstream did not say it. */
  readonly total: number | undefined;
  /** Whether items follow the client's page. */
  readonly hasMore: boolean;
  /** The upstream's cursor behind the client's page. */
  readonly cursor: string | undefined;
  /** Number of items before the client's page. */
  readonly start: number;
  /** Whether items precede the client's page. */
  readonly hasPrevious: boolean;
  /** The upstream's cursor of the page before. */
  readonly previousCursor: string | undefined;
}

/** The smallest size with which one upstream page has a part of a list; the largest if none has. */
function fittingSize(start: number, end: number, largest: number): number {
  for (let size = end - start; size <= largest; size += 1)
    if (Math.floor(start / size) === Math.floor((end - 1) / size)) return size;
  return largest;
}

export interface WalkOptions {
  readonly pages: UpstreamPages;
  readonly request: PageRequest;
  /** Whether one more item is read, because nothing else says whether items follow. */
  readonly peeks: boolean;
  /** Whether the whole list is read, in the largest pages. Their sizes are not compared. */
  readonly isWhole: boolean;
  /** A search ends after this number of items. */
  readonly reach: number;
}

/** Creates the walk for a page. @throws {RangeError} from `accept`, if pages contradict what was asked for, or what they say */
export function createListWalk({ pages, request, peeks, isWhole, reach }: WalkOptions): ListWalk {
  const { style, size: pageSize } = pages;
  const extra = peeks ? 1 : 0;
  const largest = pageSize.maximum;
  const isFixed = pageSize.parameter === undefined;
  let isSearching = request.after !== undefined;
  let start = isSearching ? reach : request.start;
  let { size: length } = request;
  let end = isSearching ? reach : start + length + extra;
  let total: number | undefined;
  let hasMore: boolean | undefined;
  let isEnded = false;
  let calls = 0;
  let begin: PageBegin | undefined;

  /** Of numbered pages: all have the same size. */
  const numberedSize = isFixed || isSearching ? largest : fittingSize(start, end, largest);
  /** Where the upstream's pages start that have an item. */
  const offsetOf = (item: number): number => {
    if (!style || style.kind === "cursor") return 0;
    return style.kind === "page" ? Math.floor(item / numberedSize) * numberedSize : item;
  };
  let position: PageStart = { offset: isSearching ? 0 : offsetOf(start), cursor: request.cursor };
  const nextSize = (): number => {
    if (style?.kind === "page" || isFixed) return numberedSize;
    return Math.max(1, Math.min(largest, end - position.offset));
  };
  let size = nextSize();

  /** Without these rules items would be missing, or occur twice. */
  function checkPage(count: number, cursor: string | undefined, isPeek: boolean): void {
    const place = isFixed ? '"size"' : '"maximum" of the size';
    const sizes = `a page has ${count} items instead of ${size}`;
    const hint = `the pack's ${place} in the upstream's pagination may be wrong`;
    if (style && count > size && !isWhole) throw new RangeError(`${sizes}: ${hint}`);
    if (isEnded) return;
    if (!style)
      throw new RangeError(`it has ${count} items, and its total is larger: the pack needs "pagination"`);
    if (style.kind !== "cursor") {
      if (count < size && !isWhole) throw new RangeError(`${sizes}, and more follow: ${hint}`);
    } else if (cursor === undefined) throw new RangeError("more items follow, and there is no valid cursor");
    else if (!isPeek && cursor === position.cursor)
      throw new RangeError("the cursor of a page is the next one, too");
  }

  const indexOf = (item: number): number => Math.max(0, item - position.offset);

  return {
    get query() {
      return pages.query(position, size);
    },
    get from() {
      return indexOf(start);
    },
    get to() {
      return indexOf(start + length);
    },
    get isSearching() {
      return isSearching;
    },
    found(index) {
      isSearching = false;
      const item = position.offset + index;
      if (request.isBackward) ({ start, size: length } = pageBefore(item, request.size));
      else start = item + 1;
      end = start + length + (request.isBackward ? 0 : extra);
      if (start >= position.offset) return true;
      position = { offset: offsetOf(start), cursor: undefined };
      size = nextSize();
      return false;
    },
    accept(page) {
      calls += 1;
      const { offset } = position;
      const next = readPageEnd(pages, page, position, size);
      const behind = offset + page.count;
      // A page with fewer items than it could have is the last one, unless the upstream says something else.
      isEnded = next.hasMore === undefined ? page.count < size : !next.hasMore;
      // A page that is read only to see whether items follow does not move the cursor of the client's page.
      const isPeek = !isSearching && offset > 0 && offset === start + length;
      const cursor = isPeek ? position.cursor : next.cursor;
      // Before the first item of the list there is nothing to read.
      if (length > 0) checkPage(page.count, cursor, isPeek);
      // A page behind the end has no items, and where one starts that the client's cursor names is not known.
      const isCounted = isEnded && request.cursor === undefined && (offset === 0 || page.count > 0);
      total = next.total ?? (isCounted ? behind : undefined);
      hasMore = behind > start + length || !isEnded;
      if (calls === 1) begin = readPageBegin(pages, page, false);
      position = { offset: style?.kind === "page" ? offset + size : behind, cursor };
      size = nextSize();
      if (calls >= MAX_CALLS && !this.isDone) throw new RangeError(`more than ${MAX_CALLS} pages are needed`);
    },
    rest() {
      if (total === undefined || !style || style.kind === "cursor") return undefined;
      const queries: string[] = [];
      for (let { offset } = position; offset < Math.min(total, end); offset += size)
        queries.push(pages.query({ offset, cursor: undefined }, size));
      // More are requested one by one, and so end with an error of `accept`.
      // Without one, a total that contradicts the page would end in a loop without requests.
      return queries.length === 0 || queries.length > MAX_CALLS - calls ? undefined : queries;
    },
    get isDone() {
      return isEnded || position.offset >= end;
    },
    get total() {
      return total;
    },
    get hasMore() {
      return hasMore ?? false;
    },
    get cursor() {
      return position.cursor;
    },
    get start() {
      return start;
    },
    get hasPrevious() {
      return start > 0 || (request.cursor !== undefined && (begin?.hasPrevious ?? true));
    },
    get previousCursor() {
      return begin?.cursor;
    },
  };
}
