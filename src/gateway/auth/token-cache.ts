import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { DAY_MS } from "../../base/index.ts";
import type { Grants } from "../../pack/index.ts";

/** The SHA-256 of a token in hex. It identifies the token everywhere: tokens are never stored or logged in clear text. */
export const tokenHash = (token: string): string => hash("sha256", token, "hex");

/** The part of a hash that identifies clients in the audit. It is too short to find the token by brute force. */
export const fingerprint = (hash: string): string => hash.slice(0, 16);

/**
 * The known facts about a token from v4. Decisions are never cached: every request is checked against this information
 * (oathkeeper CVE-2021-32701 cached the decision).
 */
export type TokenInfo =
  /** v4 has rejected it with 401. */
  | { readonly refused: true }
  /** v4 has accepted it. `grants` is undefined if v4 did not return its scopes. */
  | { readonly refused: false; readonly grants: Grants | undefined };

type AcceptedInfo = Extract<TokenInfo, { readonly refused: false }>;

const REJECTED: TokenInfo = { refused: true };

export interface TokenCache {
  /** The information about a token; undefined if missing. Synchronous if this process has cached it. */
  get(hash: string): TokenInfo | undefined | Promise<TokenInfo | undefined>;
  /**
   * Whether v4 has accepted a token within the last day, and has not rejected it since, according to this process. Its
   * cached information may have expired.
   */
  wasAccepted(hash: string): boolean;
  /** Records that v4 has accepted a token. @param grants Its scopes, if v4 returned them. */
  setScopes(hash: string, grants: Grants | undefined): void;
  /** Records that v4 has rejected a token with 401. */
  setRejected(hash: string): void;
  /**
   * Deletes the tokens whose hashes start with a fingerprint, or all.
   *
   * @throws {Error} if other processes share the cache and can't be notified.
   */
  purge(fingerprint?: string): Promise<void>;
  /** Number of tokens in the cache of this process. */
  readonly size: number;
  /** Number of accepted tokens that this process remembers. */
  readonly acceptedCount: number;
}

/** Information about a token, and how long it is still valid. */
export interface TokenCacheEntry {
  readonly info: TokenInfo;
  readonly ttlMs: number;
}

/** A cache in this process. */
export type MemoryTokenCache = ReturnType<typeof createTokenCache>;

export interface TokenCacheOptions {
  /** Maximum number of accepted tokens, and of rejected ones. */
  readonly size: number;
  readonly ttlSeconds: number;
  /** The lifetime of rejected tokens. */
  readonly negativeTtlSeconds: number;
}

const MOST_TOKENS = 100_000;

/**
 * Tokens that v4 has accepted within the last day. Their hashes are kept for longer than their cached information, in
 * one process. When the set is full, further tokens are not added, so that a client that creates many tokens can't
 * evict the tokens of other clients.
 */
export class AcceptedTokens {
  readonly #size: number;
  readonly #clock: () => number;
  /** The expiry of each token, sorted, because every acceptance moves its token to the end. */
  readonly #endsByHash = new Map<string, number>();

  /** @param size Maximum number of tokens. @param clock A monotonic clock in milliseconds. */
  constructor(size = MOST_TOKENS, clock = () => performance.now()) {
    this.#size = size;
    this.#clock = clock;
  }

  add(hash: string): void {
    this.delete(hash);
    const now = this.#clock();
    for (const [other, endsAt] of this.#endsByHash) {
      if (endsAt > now) break;
      this.delete(other);
    }
    if (this.size < this.#size) this.#endsByHash.set(hash, now + DAY_MS);
  }

  delete(hash: string): void {
    this.#endsByHash.delete(hash);
  }

  /** Deletes the tokens whose hashes start with a fingerprint. */
  purge(fingerprint: string): void {
    if (isWholeHash(fingerprint)) return this.delete(fingerprint);
    for (const hash of this.#endsByHash.keys()) if (hash.startsWith(fingerprint)) this.delete(hash);
  }

  has(hash: string): boolean {
    return (this.#endsByHash.get(hash) ?? -Infinity) > this.#clock();
  }

  get size(): number {
    return this.#endsByHash.size;
  }
}

/** Whether v4 has accepted a token: by the cache or, if the cache lacks the token, within the last day. */
export const isAcceptedToken = (
  hash: string | undefined,
  info: TokenInfo | undefined,
  tokens: Pick<TokenCache, "wasAccepted">,
): boolean => (info ? !info.refused : hash !== undefined && tokens.wasAccepted(hash));

/** Characters of a token's hash: SHA-256 in hexadecimal digits. */
const HASH_LENGTH = 64;

/**
 * Whether a fingerprint is a whole hash, so that no search is needed. Requests of clients only purge by whole hashes,
 * so that their cost does not grow with the number of entries.
 */
export const isWholeHash = (fingerprint: string): boolean => fingerprint.length === HASH_LENGTH;

/** Creates a cache in this process. Expiry is checked at every read. */
export function createTokenCache({ size, ttlSeconds, negativeTtlSeconds }: TokenCacheOptions) {
  const ttl = ttlSeconds * 1000;
  const cache = new LRUCache<string, AcceptedInfo>({ max: size, ttl, ttlResolution: 0 });
  // A separate cache, so that invented tokens can't evict accepted ones.
  const rejected = new LRUCache<string, true>({ max: size, ttlResolution: 0 });
  const accepted = new AcceptedTokens();
  const forget = (hash: string): void => {
    cache.delete(hash);
    rejected.delete(hash);
  };
  /** @param ttlMs above 0: the library treats 0 as "no expiry" */
  function reject(hash: string, ttlMs: number): void {
    accepted.delete(hash);
    cache.delete(hash);
    rejected.set(hash, true, { ttl: ttlMs });
  }
  function accept(hash: string, info: AcceptedInfo, ttlMs: number): void {
    rejected.delete(hash);
    cache.set(hash, info, { ttl: ttlMs });
    accepted.add(hash);
  }
  return {
    get: (hash: string): TokenInfo | undefined =>
      cache.get(hash) ?? (rejected.has(hash) ? REJECTED : undefined),
    wasAccepted: (hash: string): boolean => accepted.has(hash),
    /** @returns whether the information is new, or must be stored again. `setRejected` returns the same. */
    setScopes(hash: string, grants: Grants | undefined): boolean {
      const info = cache.get(hash);
      // Every response of v4 confirms the information. It is only stored again after half of its lifetime.
      const isFresh = cache.getRemainingTTL(hash) > ttl / 2;
      if (info && isFresh && isCovered(grants, info.grants)) return false;
      // A response without scopes does not change the known scopes.
      accept(hash, { refused: false, grants: grants ?? info?.grants }, ttl);
      return true;
    },
    setRejected(hash: string): boolean {
      if (negativeTtlSeconds > 0) reject(hash, negativeTtlSeconds * 1000);
      else {
        accepted.delete(hash);
        forget(hash);
      }
      return true;
    },
    async purge(fingerprint = ""): Promise<void> {
      // When all information is deleted, clients keep their limits until v4 judges their tokens again.
      if (fingerprint !== "") accepted.purge(fingerprint);
      const hashes = isWholeHash(fingerprint) ? [fingerprint] : [...cache.keys(), ...rejected.keys()];
      for (const hash of hashes) if (hash.startsWith(fingerprint)) forget(hash);
    },
    /** Stores an entry of the shared cache. */
    setEntry(hash: string, { info, ttlMs }: TokenCacheEntry): void {
      if (info.refused) reject(hash, ttlMs);
      else accept(hash, info, ttlMs);
    },
    get size(): number {
      return cache.size + rejected.size;
    },
    get acceptedCount(): number {
      return accepted.size;
    },
  };
}

/** Whether the cached grants equal those of a response, or the response contains none. */
function isCovered(grants: Grants | undefined, cached: Grants | undefined): boolean {
  if (grants === undefined || cached === grants) return true;
  if (cached === undefined || cached === "all" || grants === "all") return false;
  return cached.size === grants.size && [...grants].every(([area, level]) => cached.get(area) === level);
}

/** A cache that several processes share. Its methods reject soon if it can't be reached. */
export interface TokenCacheBackend {
  get(hash: string): Promise<TokenCacheEntry | undefined>;
  /** @param info undefined: deletes the entry. */
  set(hash: string, info: TokenInfo | undefined): Promise<void>;
  /** Deletes the tokens with a fingerprint, and notifies all processes. */
  purge(fingerprint: string): Promise<void>;
  /** Sets the listener for purges. It is called with `""`, which means all tokens, if a notification may have been missed. */
  onPurge(listener: (fingerprint: string) => void): void;
}

/**
 * Creates a cache in this process in front of a shared one. If the backend can't be reached, it is treated as empty,
 * and v4 decides.
 */
export function createSharedTokenCache(local: MemoryTokenCache, backend: TokenCacheBackend): TokenCache {
  const readsInFlight = new Map<string, Promise<TokenInfo | undefined>>();
  let purges = 0;

  backend.onPurge((fingerprint) => {
    purges += 1;
    void local.purge(fingerprint);
  });

  async function readBackend(hash: string): Promise<TokenInfo | undefined> {
    const purgesBefore = purges;
    const entry = await backend.get(hash).catch(() => undefined);
    // A value that was set or purged meanwhile is newer.
    const localInfo = local.get(hash);
    if (localInfo !== undefined || entry === undefined || purges !== purgesBefore) return localInfo;
    local.setEntry(hash, entry);
    return entry.info;
  }

  /**
   * Writes information to the backend, if it is new. If that fails, other processes call v4. An entry that arrives
   * there after a purge is deleted again, because v4's response may be older than the purge.
   */
  async function writeIfNew(hash: string, isNew: boolean): Promise<void> {
    if (!isNew) return;
    const purgesBefore = purges;
    await backend.set(hash, local.get(hash)).catch(() => {});
    if (purges !== purgesBefore) await backend.set(hash, undefined).catch(() => {});
  }

  return {
    get(hash) {
      const found = local.get(hash) ?? readsInFlight.get(hash);
      if (found !== undefined) return found;
      const read = readBackend(hash).finally(() => readsInFlight.delete(hash));
      readsInFlight.set(hash, read);
      return read;
    },
    wasAccepted: (hash) => local.wasAccepted(hash),
    setScopes: (hash, grants) => void writeIfNew(hash, local.setScopes(hash, grants)),
    setRejected: (hash) => void writeIfNew(hash, local.setRejected(hash)),
    async purge(fingerprint = "") {
      purges += 1;
      await local.purge(fingerprint);
      await backend.purge(fingerprint);
    },
    get size() {
      return local.size;
    },
    get acceptedCount() {
      return local.acceptedCount;
    },
  };
}
