import { LRUCache } from "lru-cache";
import type { Grants } from "../dialect/scopes.ts";

/**
 * What is known of a token. Facts, never decisions: every request is checked against them anew
 * (oathkeeper CVE-2021-32701 cached the decision).
 */
export type TokenInfo =
  /** v4 answered 401 to it a short while ago. */
  | { readonly refused: true }
  /** v4 took it, and may have said what it may do. */
  | { readonly refused: false; readonly grants: Grants | undefined };

export interface TokenCache {
  /** Undefined where nothing is known, or no more. Answers at once where the answer is at hand. */
  get(hash: string): TokenInfo | undefined | Promise<TokenInfo | undefined>;
  /** v4 took the token; `grants` where it said what it may do. */
  setScopes(hash: string, grants: Grants | undefined): void;
  setRejected(hash: string): void;
  /**
   * Forgets the tokens of a fingerprint, or all.
   *
   * @throws {Error} where others share what is known and can't be told.
   */
  purge(fingerprint?: string): Promise<void>;
  /** Tokens that something is known of in this process. */
  readonly size: number;
}

/** Facts and for how long they are good still, in milliseconds. */
export interface TokenCacheEntry {
  readonly info: TokenInfo;
  readonly ttlMs: number;
}

/** Facts that are all at hand. What is learnt tells whether it is news: something else than was known, or for longer. */
export interface MemoryTokenCache extends TokenCache {
  get(hash: string): TokenInfo | undefined;
  setScopes(hash: string, grants: Grants | undefined): boolean;
  setRejected(hash: string): boolean;
  /** What `keep` of another takes. */
  entryWithTtl(hash: string): TokenCacheEntry | undefined;
  /** Takes over what another has learnt. */
  set(hash: string, lasting: TokenCacheEntry): void;
}

export interface TokenCacheOptions {
  readonly size: number;
  readonly ttlSeconds: number;
  readonly negativeTtlSeconds: number;
}

/** Keeps facts in this process, by token hash, bounded in number and time. Time is looked at on every hit. */
export function createTokenCache({
  size,
  ttlSeconds,
  negativeTtlSeconds,
}: TokenCacheOptions): MemoryTokenCache {
  const ttl = ttlSeconds * 1000;
  const cache = new LRUCache<string, TokenInfo>({ max: size, ttl, ttlResolution: 0 });
  return {
    get: (hash) => cache.get(hash),
    setScopes(hash, grants) {
      const known = cache.get(hash);
      // Known anew with every answer, and written down again when half of its time is over.
      const fresh = cache.getRemainingTTL(hash) > ttl / 2;
      if (known?.refused === false && fresh && includes(known.grants, grants)) return false;
      // An answer that tells no scopes does not unsay those that are known.
      const lasting = grants ?? (known?.refused === false ? known.grants : undefined);
      cache.set(hash, { refused: false, grants: lasting });
      return true;
    },
    setRejected(hash) {
      // A lifetime of 0 would be "for ever" to the cache.
      if (negativeTtlSeconds === 0) cache.delete(hash);
      else cache.set(hash, { refused: true }, { ttl: negativeTtlSeconds * 1000 });
      return true;
    },
    async purge(fingerprint = "") {
      for (const hash of cache.keys()) if (hash.startsWith(fingerprint)) cache.delete(hash);
    },
    entryWithTtl(hash) {
      const facts = cache.get(hash);
      return facts && { info: facts, ttlMs: Math.ceil(cache.getRemainingTTL(hash)) };
    },
    set: (hash, { info: facts, ttlMs }) => void cache.set(hash, facts, { ttl: ttlMs }),
    get size() {
      return cache.size;
    },
  };
}

/** Do the grants that are known say all that is told now? */
function includes(known: Grants | undefined, told: Grants | undefined): boolean {
  if (told === undefined || known === told) return true;
  if (known === undefined || known === "all" || told === "all") return false;
  return known.size === told.size && [...told].every(([area, level]) => known.get(area) === level);
}
