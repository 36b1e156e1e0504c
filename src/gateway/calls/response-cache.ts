import { LRUCache } from "lru-cache";

/**
 * Caches v4 responses for a short time, separately for each token. The cache belongs to this process, and only writes
 * through this process invalidate it: docs/guide/run-in-production.md explains the consequences.
 */
export type ResponseCache = ReturnType<typeof createResponseCache>;

interface ResponseCacheOptions {
  /** Maximum number of bytes of all cached responses. Each counts as 512 bytes more. Default 8 MB. */
  readonly mostBytes?: number;
}

const MOST_OWNERS = 1000;
const MOST_BYTES = 8_388_608;
/** Added to the size of each response, so that the limit also bounds the memory for many small ones. */
const ENTRY_BYTES = 512;

/** Creates a cache. Each response belongs to an owner: the hash of a token. The least recently used response is removed first. */
export function createResponseCache({ mostBytes = MOST_BYTES }: ResponseCacheOptions = {}) {
  /** The current number of each owner. Numbers are never reused, so responses under an earlier number are never found again. */
  const generations = new LRUCache<string, number>({ max: MOST_OWNERS });
  // A limit of entries would allocate them at once, for each pipeline.
  const responses = new LRUCache<string, { readonly response: unknown }>({ maxSize: mostBytes });
  let last = 0;

  function invalidate(owner: string): number {
    last += 1;
    generations.set(owner, last);
    return last;
  }

  return {
    /**
     * Returns the cached responses of an owner, until a write may have changed them. Call it before a read: a response is
     * not cached if a write happened in between.
     */
    of(owner: string) {
      const generation = generations.get(owner) ?? invalidate(owner);
      return {
        get: (path: string): unknown => responses.get(`${generation} ${path}`)?.response,
        /** Stores a response. Does nothing if a write of the owner has started or ended since the look-up. */
        set(path: string, response: unknown, bytes: number, seconds: number): void {
          if (generations.get(owner) !== generation) return;
          responses.set(
            `${generation} ${path}`,
            { response },
            { ttl: seconds * 1000, size: ENTRY_BYTES + bytes },
          );
        },
      };
    },
    /** Runs a write. The owner's cached responses are invalidated when it starts, and again when it ends. */
    async invalidateDuring<T>(owner: string, write: () => Promise<T>): Promise<T> {
      invalidate(owner);
      try {
        return await write();
      } finally {
        // A read that started after the write may still have read the state before it.
        invalidate(owner);
      }
    },
  };
}

/** A cache that stores nothing. */
export const NO_RESPONSE_CACHE: ResponseCache = {
  of: () => ({ get: () => undefined, set: () => {} }),
  invalidateDuring: (_owner, write) => write(),
};
