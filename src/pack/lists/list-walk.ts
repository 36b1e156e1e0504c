/** Which upstream pages a page of the client is read from. Their sizes need not divide evenly. */
import { pageBefore, type PageRequest } from "./page-request.ts";
import {
  readPageBegin,
  readPageEnd,
  type PageBegin,
  type PageEnd,
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
  /** Whether the whole list is read, in the largest pages. An upstream may have it in one that is larger. */
  readonly isWhole: boolean;
  /** A search ends after this number of items. */
  readonly reach: number;
}

/** Creates the walk for a page. @throws {RangeError} from `accept`, if pages contradict what was asked for, or what they say */
export const createListWalk = (options: WalkOptions): ListWalk => new ForwardWalk(options);

class ForwardWalk implements ListWalk {
  readonly #pages: UpstreamPages;
  readonly #request: PageRequest;
  readonly #isWhole: boolean;
  readonly #isFixed: boolean;
  /** The size of all pages that have a number. */
  readonly #numberedSize: number;
  /** Items that are read behind the client's page. */
  readonly #extra: number;
  isSearching: boolean;
  start: number;
  total: number | undefined;
  hasMore = false;
  #length: number;
  /** Index of the first item that is not read. */
  #end: number;
  #isEnded = false;
  #calls = 0;
  #begin: PageBegin | undefined;
  /** Where the next page starts, and its size. */
  #position: PageStart;
  #size: number;

  constructor({ pages, request, peeks, isWhole, reach }: WalkOptions) {
    const { maximum, parameter } = pages.size;
    this.#pages = pages;
    this.#request = request;
    this.#isWhole = isWhole;
    this.#isFixed = parameter === undefined;
    this.#extra = peeks ? 1 : 0;
    this.isSearching = request.after !== undefined;
    this.start = this.isSearching ? reach : request.start;
    this.#length = request.size;
    this.#end = this.isSearching ? reach : this.start + this.#length + this.#extra;
    this.#numberedSize =
      this.#isFixed || this.isSearching ? maximum : fittingSize(this.start, this.#end, maximum);
    this.#position = { offset: this.isSearching ? 0 : this.#offsetOf(this.start), cursor: request.cursor };
    this.#size = this.#nextSize();
  }

  /** Where the upstream's page starts that has an item. */
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

  get query(): string {
    return this.#pages.query(this.#position, this.#size);
  }

  get from(): number {
    return Math.max(0, this.start - this.#position.offset);
  }

  get to(): number {
    return Math.max(0, this.start + this.#length - this.#position.offset);
  }

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

  accept(page: ReceivedPage): void {
    this.#calls += 1;
    const { offset } = this.#position;
    const next = readPageEnd(this.#pages, page, this.#position, this.#size);
    const behind = offset + page.count;
    const end = this.start + this.#length;
    // A page with fewer items than it could have is the last one, unless the upstream says something else.
    this.#isEnded = next.hasMore === undefined ? page.count < this.#size : !next.hasMore;
    // A page that is read only to see whether items follow does not move the cursor of the client's page.
    const isPeek = !this.isSearching && offset > 0 && offset === end;
    const cursor = isPeek ? this.#position.cursor : next.cursor;
    // Before the first item of the list there is nothing to read.
    if (this.#length > 0) this.#checkPage(page.count, { ...next, cursor }, isPeek);
    // A page behind the end has no items, and where one starts that the client's cursor names is not known.
    const isCounted = this.#isEnded && this.#request.cursor === undefined && (offset === 0 || page.count > 0);
    this.total = next.total ?? (isCounted ? behind : undefined);
    this.hasMore = behind > end || !this.#isEnded;
    if (this.#calls === 1) this.#begin = readPageBegin(this.#pages, page, false);
    this.#position = { offset: this.#pages.style?.kind === "page" ? offset + this.#size : behind, cursor };
    this.#size = this.#nextSize();
    if (this.#calls >= MAX_CALLS && !this.isDone)
      throw new RangeError(`more than ${MAX_CALLS} pages are needed`);
  }

  /** Without these rules items would be missing, or occur twice. */
  #checkPage(count: number, { hasMore, cursor }: PageEnd, isPeek: boolean): void {
    const { style } = this.#pages;
    const place = this.#isFixed ? '"size"' : '"maximum" of the size';
    const sizes = `a page has ${count} items instead of ${this.#size}`;
    const hint = `the pack's ${place} in the upstream's pagination may be wrong`;
    if (style && count > this.#size && !this.#isWhole) throw new RangeError(`${sizes}: ${hint}`);
    if (this.#isEnded) return;
    if (!style)
      throw new RangeError(`it has ${count} items, and its total is larger: the pack needs "pagination"`);
    if (style.kind !== "cursor") {
      if (hasMore && count !== this.#size) throw new RangeError(`${sizes}, and more follow: ${hint}`);
    } else if (cursor === undefined) throw new RangeError("more items follow, and there is no valid cursor");
    else if (!isPeek && cursor === this.#position.cursor)
      throw new RangeError("the cursor of a page is the next one, too");
  }

  rest(): readonly string[] | undefined {
    const { style } = this.#pages;
    if (this.total === undefined || !style || style.kind === "cursor") return undefined;
    const queries: string[] = [];
    const end = Math.min(this.total, this.#end);
    for (let { offset } = this.#position; offset < end; offset += this.#size)
      queries.push(this.#pages.query({ offset, cursor: undefined }, this.#size));
    // More are requested one by one, and so end with an error of `accept`.
    // Without one, a total that contradicts the page would end in a loop without requests.
    return queries.length === 0 || queries.length > MAX_CALLS - this.#calls ? undefined : queries;
  }

  get isDone(): boolean {
    return this.#isEnded || this.#position.offset >= this.#end;
  }

  get cursor(): string | undefined {
    return this.#position.cursor;
  }

  get hasPrevious(): boolean {
    return this.start > 0 || (this.#request.cursor !== undefined && (this.#begin?.hasPrevious ?? true));
  }

  get previousCursor(): string | undefined {
    return this.#begin?.cursor;
  }
}
