import { LRUCache } from "lru-cache";

/** The cached responses of one owner, until something may have changed them. */
interface OwnedResponses {
  get(path: string): unknown;
  /** Does nothing once a write of the owner has started or ended since these were looked up. */
  set(path: string, response: unknown, bytes: number, seconds: number): void;
}

/**
 * Caches v4 responses for a short time, each for the token that it was read with. The cache belongs to this
 * process, and only writes through this process invalidate it: docs/guide/run-in-production.md says what that means.
 */
export interface ResponseCache {
  /** Look them up before the read: a response is not cached if a write came in between. */
  of(owner: string): OwnedResponses;
  /** Runs a write. What is cached for its owner ends when it starts, and again when it ends. */
  invalidateDuring<T>(owner: string, write: () => Promise<T>): Promise<T>;
}

interface ResponseCacheOptions {
  /** Bytes of v4's responses that are cached in all. Default 8 MB. */
  readonly mostBytes?: number;
}

const MOST_OWNERS = 1000;
const MOST_RESPONSES = 10_000;
const MOST_BYTES = 8_388_608;

/** Creates a cache. Owners are hashes of tokens. The least recently used response is removed first. */
export function createResponseCache({ mostBytes = MOST_BYTES }: ResponseCacheOptions = {}): ResponseCache {
  /** Numbers that no owner gets twice: what is cached under an earlier one is never found again. */
  const generations = new LRUCache<string, number>({ max: MOST_OWNERS });
  const responses = new LRUCache<string, { readonly response: unknown }>({
    max: MOST_RESPONSES,
    maxSize: mostBytes,
    maxEntrySize: mostBytes,
  });
  let last = 0;

  function invalidate(owner: string): number {
    last += 1;
    generations.set(owner, last);
    return last;
  }

  return {
    of(owner) {
      const generation = generations.get(owner) ?? invalidate(owner);
      return {
        get: (path) => responses.get(`${generation} ${path}`)?.response,
        set(path, response, bytes, seconds) {
          if (generations.get(owner) !== generation) return;
          responses.set(
            `${generation} ${path}`,
            { response },
            { ttl: seconds * 1000, size: Math.max(1, bytes) },
          );
        },
      };
    },
    async invalidateDuring(owner, write) {
      invalidate(owner);
      try {
        return await write();
      } finally {
        // A read that started after the write did may have seen the state before it.
        invalidate(owner);
      }
    },
  };
}

/** A cache that keeps nothing. */
export const NO_RESPONSE_CACHE: ResponseCache = {
  of: () => ({ get: () => undefined, set: () => {} }),
  invalidateDuring: (_owner, write) => write(),
};
