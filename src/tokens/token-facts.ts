import { LRUCache } from "lru-cache";
import type { Grants } from "../dialect/scopes.ts";

/**
 * What is known of a token. Facts, never decisions: every request is checked against them anew
 * (oathkeeper CVE-2021-32701 cached the decision).
 */
export type TokenFacts =
  /** v4 answered 401 to it a short while ago. */
  | { readonly refused: true }
  /** v4 took it, and may have said what it may do. */
  | { readonly refused: false; readonly grants: Grants | undefined };

export interface TokenFactsStore {
  /** Undefined where nothing is known, or no more. Answers at once where the answer is at hand. */
  get(hash: string): TokenFacts | undefined | Promise<TokenFacts | undefined>;
  /** v4 took the token; `grants` where it said what it may do. */
  learnGrants(hash: string, grants: Grants | undefined): void;
  learnRefusal(hash: string): void;
  /**
   * Forgets the tokens of a fingerprint, or all.
   *
   * @throws {Error} where others share what is known and can't be told.
   */
  purge(fingerprint?: string): Promise<void>;
  /** Tokens that something is known of in this process. */
  readonly size: number;
}

/** Facts that are all at hand. */
export interface TokenFactsInMemory extends TokenFactsStore {
  get(hash: string): TokenFacts | undefined;
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
}: TokenFactsOptions): TokenFactsInMemory {
  const cache = new LRUCache<string, TokenFacts>({ max: size, ttl: ttlSeconds * 1000, ttlResolution: 0 });
  return {
    get: (hash) => cache.get(hash),
    learnGrants(hash, grants) {
      // An answer that tells no scopes does not unsay those that are known.
      const known = grants === undefined ? cache.get(hash) : undefined;
      if (known === undefined || known.refused) cache.set(hash, { refused: false, grants });
    },
    learnRefusal(hash) {
      // A lifetime of 0 would be "for ever" to the cache.
      if (negativeTtlSeconds === 0) cache.delete(hash);
      else cache.set(hash, { refused: true }, { ttl: negativeTtlSeconds * 1000 });
    },
    async purge(fingerprint = "") {
      for (const hash of cache.keys()) if (hash.startsWith(fingerprint)) cache.delete(hash);
    },
    get size() {
      return cache.size;
    },
  };
}
