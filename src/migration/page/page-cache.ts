import { LRUCache } from "lru-cache";
import { createLimitError, createMemoryLimiter } from "../../gateway/index.ts";

/** Milliseconds for which a page is cached. */
const TTL_MS = 60_000;
/** Maximum number of characters of all cached pages. */
const MAX_SIZE = 16 * 1024 * 1024;
/** Maximum number of pages that are read concurrently. Each is the work of a small report. */
const MAX_READS = 4;

/** Limits on requests in each process, by address and by identity. */
const ADDRESS_LIMIT = { points: 20, seconds: 60 };
const IDENTITY_LIMIT = { points: 10, seconds: 60 };

/** The state that pages of all packs share: limits, and cached pages. */
export type PageState = ReturnType<typeof createPageState>;

export function createPageState() {
  const pages = new LRUCache<string, string>({
    maxSize: MAX_SIZE,
    sizeCalculation: (page) => page.length,
    ttl: TTL_MS,
    ttlResolution: 0,
  });
  const reads = new Map<string, Promise<string>>();

  async function readOnce(key: string, read: () => Promise<string>): Promise<string> {
    try {
      const page = await read();
      pages.set(key, page);
      return page;
    } finally {
      reads.delete(key);
    }
  }

  return {
    addresses: createMemoryLimiter(ADDRESS_LIMIT),
    identities: createMemoryLimiter(IDENTITY_LIMIT),
    /**
     * Returns a recently read page, or reads it. Concurrent calls share one read.
     *
     * @throws {HttpError} 429 if too many pages are being read
     */
    async find(key: string, read: () => Promise<string>): Promise<string> {
      const found = pages.get(key) ?? reads.get(key);
      if (found !== undefined) return found;
      if (reads.size >= MAX_READS) throw createLimitError();
      const reading = readOnce(key, read);
      reads.set(key, reading);
      return reading;
    },
  };
}
