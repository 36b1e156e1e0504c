import type { TokenCacheEntry, TokenInfo, MemoryTokenCache, TokenCache } from "./token-cache.ts";

/** Where processes keep what they know of tokens together. Whatever fails there rejects, and soon. */
export interface TokenCacheBackend {
  get(hash: string): Promise<TokenCacheEntry | undefined>;
  /** @param facts undefined: forgets. */
  set(hash: string, facts: TokenInfo | undefined): Promise<void>;
  /** Forgets, and tells everyone to. */
  purge(fingerprint: string): Promise<void>;
  /** Hears of every purge, and `""`, which is all, where one may have been missed. */
  onPurge(hear: (fingerprint: string) => void): void;
}

/**
 * What this process knows of tokens, and behind it what all know. A place that can't be reached is one that knows
 * nothing: v4 decides then.
 */
export function createSharedTokenCache(own: MemoryTokenCache, place: TokenCacheBackend): TokenCache {
  const asked = new Map<string, Promise<TokenInfo | undefined>>();
  let purges = 0;

  place.onPurge((fingerprint) => {
    purges += 1;
    void own.purge(fingerprint);
  });

  async function ask(hash: string): Promise<TokenInfo | undefined> {
    const before = purges;
    const found = await place.get(hash).catch(() => undefined);
    // What was learnt or purged meanwhile is newer.
    const learnt = own.get(hash);
    if (learnt !== undefined || found === undefined || purges !== before) return learnt;
    own.set(hash, found);
    return found.info;
  }

  /** Tells the others what is new. What they are not told they learn from v4. */
  function tell(hash: string, learn: () => boolean): void {
    if (learn()) void place.set(hash, own.get(hash)).catch(() => {});
  }

  return {
    get(hash) {
      const known = own.get(hash) ?? asked.get(hash);
      if (known !== undefined) return known;
      const answer = ask(hash).finally(() => asked.delete(hash));
      asked.set(hash, answer);
      return answer;
    },
    setScopes: (hash, grants) => tell(hash, () => own.setScopes(hash, grants)),
    setRejected: (hash) => tell(hash, () => own.setRejected(hash)),
    async purge(fingerprint = "") {
      purges += 1;
      await own.purge(fingerprint);
      await place.purge(fingerprint);
    },
    get size() {
      return own.size;
    },
  };
}
