/** The pages before a cursor, of an upstream that has such cursors: from the cursor towards the start of the list. */
import { MAX_CALLS, type ListWalk } from "./list-walk.ts";
import type { PageRequest } from "./page-request.ts";
import { readNextCursor, readPageBegin, type UpstreamPages } from "./upstream-pages.ts";

/**
 * Creates the walk for a page before a cursor. Each page of the upstream precedes the one that was read before it.
 *
 * @throws {RangeError} from `accept`, if pages contradict what was asked for, or what they say
 */
export function createBackwardWalk(pages: UpstreamPages, request: PageRequest): ListWalk {
  const { maximum, parameter } = pages.size;
  let { size: remaining, cursor } = request;
  let next: string | undefined;
  let total: number | undefined;
  let hasPrevious = true;
  let count = 0;
  let calls = 0;
  const size = (): number => (parameter === undefined ? maximum : Math.max(1, Math.min(maximum, remaining)));

  return {
    isBackward: true,
    get query() {
      return pages.query({ offset: 0, cursor, isBackward: true }, size());
    },
    from: 0,
    to: Infinity,
    isSearching: false,
    found: () => true,
    accept(page) {
      calls += 1;
      if (page.count > size()) throw new RangeError(`a page has ${page.count} items instead of ${size()}`);
      const begin = readPageBegin(pages, page, true);
      if (calls === 1) next = readNextCursor(pages, page);
      total = page.values.total;
      hasPrevious = begin.hasPrevious ?? page.count === size();
      remaining -= page.count;
      count += page.count;
      if (hasPrevious && begin.cursor === undefined)
        throw new RangeError("items precede, and there is no valid cursor");
      if (hasPrevious && begin.cursor === cursor)
        throw new RangeError("the cursor of a page is that of the page before, too");
      cursor = begin.cursor;
      if (calls >= MAX_CALLS && !this.isDone) throw new RangeError(`more than ${MAX_CALLS} pages are needed`);
    },
    rest: () => undefined,
    get isDone() {
      return remaining <= 0 || !hasPrevious;
    },
    get total() {
      return total;
    },
    // The item of the cursor follows.
    get hasMore() {
      return count > 0;
    },
    get cursor() {
      return next;
    },
    start: 0,
    get hasPrevious() {
      return hasPrevious;
    },
    get previousCursor() {
      return cursor;
    },
  };
}
