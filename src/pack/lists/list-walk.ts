/** Determines the upstream pages that a page of the client is read from. Their sizes need not divide evenly. */
import { pageBefore, type PageRequest } from "./page-request.ts";
import {
  readNeighbour,
  readTotal,
  type Direction,
  type Neighbour,
  type PageStart,
  type ReceivedPage,
  type UpstreamPages,
} from "./upstream-pages.ts";

/** Maximum number of calls for one page of the client. Pages may contain fewer items than requested. */
const MAX_CALLS = 100;

/** Returns the smallest size with which one upstream page contains a part of a list, or the largest size if none does. */
function fittingSize(start: number, end: number, largest: number): number {
  for (let size = end - start; size <= largest; size += 1)
    if (Math.floor(start / size) === Math.floor((end - 1) / size)) return size;
  return largest;
}

interface WalkOptions {
  readonly pages: UpstreamPages;
  readonly request: PageRequest;
  /** Whether one more item is read, because nothing else shows whether items follow. */
  readonly peeks: boolean;
  /** Whether the whole list is read, in the largest pages. An upstream may return it in one page that is even larger. */
  readonly isWhole: boolean;
  /** The number of items after which a search ends. */
  readonly reach: number;
}

/**
 * Reads one page of the client from as few upstream pages as possible. The caller makes the calls. For a page before
 * a cursor, upstream pages are read backwards, and items are counted backwards from the cursor.
 */
export class ListWalk {
  /** Whether each page precedes the page that was read before. */
  readonly isBackward: boolean;
  /** Whether the item of a cursor has not been found yet. */
  isSearching: boolean;
  /** Number of items before the client's page. */
  start: number;
  /** Number of all items; undefined if the upstream did not return it. */
  total: number | undefined;
  readonly #pages: UpstreamPages;
  readonly #request: PageRequest;
  readonly #isWhole: boolean;
  readonly #isFixed: boolean;
  /** The direction of the walk. */
  readonly #ahead: Direction;
  readonly #back: Direction;
  /** The size of all pages that are requested by number. */
  readonly #numberedSize: number;
  /** Number of items that are read after the client's page. */
  readonly #extra: number;
  #length: number;
  /** Index of the first item that is not read. */
  #end: number;
  #isEnded = false;
  /** Whether items of the list follow the client's page in the direction of the walk. */
  #hasAhead = false;
  #calls = 0;
  /** The neighbour of the first page, against the direction of the walk. */
  #behind: Neighbour | undefined;
  /** The start of the next page, and its size. */
  #position: PageStart;
  #size: number;

  constructor({ pages, request, peeks, isWhole, reach }: WalkOptions) {
    const { maximum, parameter } = pages.size;
    this.isBackward = request.isBackward === true && request.cursor !== undefined;
    [this.#ahead, this.#back] = this.isBackward ? ["previous", "next"] : ["next", "previous"];
    this.#pages = pages;
    this.#request = request;
    this.#isWhole = isWhole;
    this.#isFixed = parameter === undefined;
    this.#extra = peeks && !this.isBackward ? 1 : 0;
    this.isSearching = request.after !== undefined;
    this.start = this.isSearching ? reach : request.start;
    this.#length = request.size;
    this.#end = this.isSearching ? reach : this.start + this.#length + this.#extra;
    this.#numberedSize =
      this.#isFixed || this.isSearching ? maximum : fittingSize(this.start, this.#end, maximum);
    this.#position = {
      offset: this.isSearching ? 0 : this.#offsetOf(this.start),
      cursor: request.cursor,
      isBackward: this.isBackward,
    };
    this.#size = this.#nextSize();
  }

  /** Returns the start of the upstream page that contains an item. */
  #offsetOf(item: number): number {
    const { style } = this.#pages;
    if (!style || style.kind === "cursor") return 0;
    return style.kind === "page" ? Math.floor(item / this.#numberedSize) * this.#numberedSize : item;
  }

  #nextSize(): number {
    const { style, size } = this.#pages;
    if (style?.kind === "page" || this.#isFixed) return this.#numberedSize;
    return Math.max(1, Math.min(size.maximum, this.#end - this.#position.offset));
  }

  /** The query of the next upstream page. */
  get query(): string {
    return this.#pages.query(this.#position, this.#size);
  }

  /** Index of the first item of the next page that is part of the client's page. */
  get from(): number {
    return Math.max(0, this.start - this.#position.offset);
  }

  /** Index of the first item of the next page that is after the client's page. */
  get to(): number {
    // No page contains more items than requested.
    return this.isBackward ? Infinity : Math.max(0, this.start + this.#length - this.#position.offset);
  }

  /**
   * Ends the search: the client's page starts after this item of the next page, or ends before it. Returns whether that
   * page contains the start of the client's page; if not, the pages are read again from there.
   */
  found(index: number): boolean {
    const { isBackward = false, size } = this.#request;
    const item = this.#position.offset + index;
    this.isSearching = false;
    if (isBackward) ({ start: this.start, size: this.#length } = pageBefore(item, size));
    else this.start = item + 1;
    this.#end = this.start + this.#length + (isBackward ? 0 : this.#extra);
    if (this.start >= this.#position.offset) return true;
    this.#position = { offset: this.#offsetOf(this.start), cursor: undefined };
    this.#size = this.#nextSize();
    return false;
  }

  /** Processes the next page. @throws {RangeError} if it contradicts the request, or is inconsistent */
  accept(page: ReceivedPage): void {
    this.#calls += 1;
    const { offset } = this.#position;
    const ahead = readNeighbour(this.#pages, page, this.#ahead, { start: this.#position, items: this.#size });
    const behind = offset + page.count;
    const end = this.start + this.#length;
    // A page with fewer items than requested is the last one, unless the upstream's response contains a different answer.
    this.#isEnded = ahead.exists === undefined ? page.count < this.#size : !ahead.exists;
    // A page that is only read to find out whether items follow does not move the cursor of the client's page.
    const isPeek = !this.isSearching && offset > 0 && offset === end;
    const cursor = isPeek ? this.#position.cursor : ahead.cursor;
    // No page is read before the first item of the list.
    if (this.#length > 0) this.#checkPage(page.count, { ...ahead, cursor }, isPeek);
    // A page after the end contains no items, and the position that the client's cursor names is unknown.
    const isCounted = this.#isEnded && this.#request.cursor === undefined && (offset === 0 || page.count > 0);
    this.total = readTotal(this.#pages, page) ?? (isCounted ? behind : undefined);
    this.#hasAhead = behind > end || !this.#isEnded;
    this.#behind ??= readNeighbour(this.#pages, page, this.#back);
    this.#position = {
      ...this.#position,
      offset: this.#pages.style?.kind === "page" ? offset + this.#size : behind,
      cursor,
    };
    this.#size = this.#nextSize();
    if (this.#calls >= MAX_CALLS && !this.isDone)
      throw new RangeError(`more than ${MAX_CALLS} pages are needed`);
  }

  /** Checks a page. Without these rules, items could be missing, or occur twice. */
  #checkPage(count: number, { exists, cursor }: Neighbour, isPeek: boolean): void {
    const { style } = this.#pages;
    const place = this.#isFixed ? '"size"' : '"maximum" of the size';
    const sizes = `a page has ${count} items instead of ${this.#size}`;
    const hint = `the pack's ${place} in the upstream's pagination may be wrong`;
    if (style && count > this.#size && !this.#isWhole) throw new RangeError(`${sizes}: ${hint}`);
    if (this.#isEnded) return;
    if (!style)
      throw new RangeError(`it has ${count} items, and its total is larger: the pack needs "pagination"`);
    if (style.kind !== "cursor") {
      if (exists && count !== this.#size) throw new RangeError(`${sizes}, and more follow: ${hint}`);
    } else if (cursor === undefined)
      throw new RangeError(
        `more items ${this.isBackward ? "precede" : "follow"}, and there is no valid cursor`,
      );
    else if (!isPeek && cursor === this.#position.cursor)
      throw new RangeError(`the cursor of a page is the ${this.#ahead} one, too`);
  }

  /** Returns the queries of all remaining pages, if they are already known, so that the pages can be requested concurrently. */
  rest(): readonly string[] | undefined {
    const { style } = this.#pages;
    if (this.total === undefined || !style || style.kind === "cursor") return undefined;
    const queries: string[] = [];
    const end = Math.min(this.total, this.#end);
    for (let { offset } = this.#position; offset < end; offset += this.#size)
      queries.push(this.#pages.query({ offset, cursor: undefined }, this.#size));
    // More pages are requested one at a time, so that `accept` throws an error. If there are none, a total that
    // contradicts the page would cause a loop without requests.
    return queries.length === 0 || queries.length > MAX_CALLS - this.#calls ? undefined : queries;
  }

  /** Whether the client's page is complete, or the list has ended. */
  get isDone(): boolean {
    return this.#isEnded || this.#position.offset >= this.#end;
  }

  /** Whether items follow the client's page. A page before a cursor is followed at least by the item of the cursor. */
  get hasMore(): boolean {
    return this.isBackward ? this.#position.offset > 0 : this.#hasAhead;
  }

  /** Whether items precede the client's page. */
  get hasPrevious(): boolean {
    if (this.isBackward) return !this.#isEnded;
    return this.start > 0 || (this.#request.cursor !== undefined && (this.#behind?.exists ?? true));
  }

  /** The upstream's cursor after the client's page. */
  get cursor(): string | undefined {
    return this.isBackward ? this.#behind?.cursor : this.#position.cursor;
  }

  /** The upstream's cursor of the previous page. */
  get previousCursor(): string | undefined {
    return this.isBackward ? this.#position.cursor : this.#behind?.cursor;
  }
}
