/** The pages before a cursor, of an upstream that has such cursors: from the cursor towards the start of the list. */
import { MAX_CALLS, type ListWalk } from "./list-walk.ts";
import type { PageRequest } from "./page-request.ts";
import { readNextCursor, readPageBegin, type ReceivedPage, type UpstreamPages } from "./upstream-pages.ts";

/**
 * The walk for a page before a cursor. Each page of the upstream precedes the one that was read before it.
 *
 * @throws {RangeError} from `accept`, if pages contradict what was asked for, or what they say
 */
export class BackwardWalk implements ListWalk {
  readonly isBackward = true;
  readonly from = 0;
  readonly to = Infinity;
  readonly isSearching = false;
  readonly start = 0;
  readonly #pages: UpstreamPages;
  /** Items that are still wanted. */
  #remaining: number;
  total: number | undefined;
  /** The upstream's cursor behind the client's page. */
  cursor: string | undefined;
  hasPrevious = true;
  previousCursor: string | undefined;
  #count = 0;
  #calls = 0;

  constructor(pages: UpstreamPages, { size, cursor }: PageRequest) {
    this.#pages = pages;
    this.#remaining = size;
    this.previousCursor = cursor;
  }

  get #size(): number {
    const { maximum, parameter } = this.#pages.size;
    return parameter === undefined ? maximum : Math.max(1, Math.min(maximum, this.#remaining));
  }

  get query(): string {
    return this.#pages.query({ offset: 0, cursor: this.previousCursor, isBackward: true }, this.#size);
  }

  get isDone(): boolean {
    return this.#remaining <= 0 || !this.hasPrevious;
  }

  /** The item of the cursor follows. */
  get hasMore(): boolean {
    return this.#count > 0;
  }

  found(): boolean {
    return true;
  }

  accept(page: ReceivedPage): void {
    this.#calls += 1;
    const size = this.#size;
    if (page.count > size) throw new RangeError(`a page has ${page.count} items instead of ${size}`);
    const begin = readPageBegin(this.#pages, page, true);
    if (this.#calls === 1) this.cursor = readNextCursor(this.#pages, page);
    this.total = page.values.total;
    this.hasPrevious = begin.hasPrevious ?? page.count === size;
    this.#remaining -= page.count;
    this.#count += page.count;
    if (this.hasPrevious && begin.cursor === undefined)
      throw new RangeError("items precede, and there is no valid cursor");
    if (this.hasPrevious && begin.cursor === this.previousCursor)
      throw new RangeError("the cursor of a page is that of the page before, too");
    this.previousCursor = begin.cursor;
    if (this.#calls >= MAX_CALLS && !this.isDone)
      throw new RangeError(`more than ${MAX_CALLS} pages are needed`);
  }

  rest(): undefined {
    return undefined;
  }
}
