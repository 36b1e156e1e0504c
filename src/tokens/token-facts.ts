import { LRUCache } from "lru-cache";
import type { Grants } from "../dialect/scopes.ts";

/**
 * What is known of a token. Facts, never decisions: every request is checked against them anew
 * (oathkeeper CVE-2021-32701 cached the decision).
 */
export type TokenFacts =
  /** v4 answered 401 to it a short while ago. */
  | { readonly refused: true }
  /** What v4 said it may do. */
  | { readonly refused: false; readonly grants: Grants };

export interface TokenFactsStore {
  /** Undefined where nothing is known, or no more. */
  get(hash: string): TokenFacts | undefined;
  learnGrants(hash: string, grants: Grants): void;
  learnRefusal(hash: string): void;
  /** Forgets one token, or all. */
  purge(hash?: string): void;
  readonly size: number;
}

export interface TokenFactsOptions {
  readonly size: number;
  readonly ttlSeconds: number;
  readonly negativeTtlSeconds: number;
}

/** Keeps facts in this process, by token hash, bounded in number and time. Time is looked at on every hit. */
export function createTokenFacts({
  size,
  ttlSeconds,
  negativeTtlSeconds,
}: TokenFactsOptions): TokenFactsStore {
  const cache = new LRUCache<string, TokenFacts>({ max: size, ttl: ttlSeconds * 1000, ttlResolution: 0 });
  return {
    get: (hash) => cache.get(hash),
    learnGrants: (hash, grants) => void cache.set(hash, { refused: false, grants }),
    learnRefusal(hash) {
      // A lifetime of 0 would be "for ever" to the cache.
      if (negativeTtlSeconds === 0) cache.delete(hash);
      else cache.set(hash, { refused: true }, { ttl: negativeTtlSeconds * 1000 });
    },
    purge: (hash) => (hash === undefined ? cache.clear() : void cache.delete(hash)),
    get size() {
      return cache.size;
    },
  };
}
