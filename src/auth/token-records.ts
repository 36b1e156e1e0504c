import { LRUCache } from "lru-cache";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import type { StoredToken } from "./stored-token.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";
import type { Encryptor } from "./encryption.ts";

/** The record of a token in the store. */
export interface TokenRecord {
  /** The encrypted record; undefined without one. */
  readonly encrypted: string | undefined;
  /**
   * Undefined for a token that is not the gateway's. A gateway token whose record was lost counts as revoked, because
   * what it may do is unknown.
   */
  readonly storedToken: StoredToken | undefined;
  /** Until when the store need not be read again, by the clock of the records. */
  readonly freshUntil: number;
}

/** Reads and writes the records of gateway tokens in the store, and caches the last ones in this process. */
export interface TokenRecords {
  /** The cached record, however old. */
  cached(hash: string): TokenRecord | undefined;
  /** Whether the store need not be read again. */
  isFresh(record: TokenRecord): boolean;
  /**
   * Reads the record from the store.
   *
   * @param token The client's token: without a record it shows whether the gateway created it.
   * @throws {StateUnavailableError}
   */
  read(hash: string, token?: string): Promise<TokenRecord>;
  /** @param seconds How long the record is kept. Default: as long as a client may be inactive. */
  write(hash: string, storedToken: StoredToken, seconds?: number): Promise<void>;
  /** Writes if the record in the store still is `before`. @returns false if it was changed meanwhile. */
  replace(hash: string, before: TokenRecord, storedToken: StoredToken): Promise<boolean>;
  /** Stores the scopes of a token under the part of it that lists show. For people to read, never for decisions. */
  writeLevels(name: string, scopes: string, seconds: number): Promise<void>;
  readLevels(name: string): Promise<string | undefined>;
  readonly size: number;
}

export interface TokenRecordsOptions {
  readonly store: KeyValueStore;
  readonly encryptor: Encryptor;
  readonly gatewayTokens: GatewayTokens;
  /** Most cached records. */
  readonly size: number;
  /** A monotonic clock in milliseconds. Default: that of the process. */
  readonly elapsed?: () => number;
}

/** Alpha's tokens never expired. A client that sends no request for longer than this has to sign in again. */
const KEPT_SECONDS = 400 * 86_400;

/** After this time a revocation by another process takes effect here. */
const FRESH_MS = 3000;

/** A record is stored before its client gets the token, so a token without a record will not get one later. */
const WITHOUT_RECORD_FRESH_MS = 60_000;

const keyOf = (hash: string): string => `grant:${hash}`;

/**
 * Stands for a record that was lost, damaged, or encrypted with another secret. It allows nothing. A new object each
 * time, because the token store caches by it.
 */
const createRevoked = (): StoredToken => ({ scopes: "", over: true });

/** Creates the reader and writer of token records. */
export function createTokenRecords({
  store,
  encryptor,
  gatewayTokens,
  size,
  elapsed = () => performance.now(),
}: TokenRecordsOptions): TokenRecords {
  const cache = new LRUCache<string, TokenRecord>({ max: size });

  function cacheRecord(
    hash: string,
    encrypted: string | undefined,
    storedToken: StoredToken | undefined,
  ): TokenRecord {
    const freshUntil = elapsed() + (storedToken ? FRESH_MS : WITHOUT_RECORD_FRESH_MS);
    const record = { encrypted, storedToken, freshUntil };
    cache.set(hash, record);
    return record;
  }

  function decrypt(hash: string, encrypted: string): StoredToken {
    const text = encryptor.decrypt(encrypted, keyOf(hash));
    return text === undefined ? createRevoked() : (JSON.parse(text) as StoredToken);
  }

  const encrypt = (hash: string, storedToken: StoredToken): string =>
    encryptor.encrypt(JSON.stringify(storedToken), keyOf(hash));

  return {
    cached: (hash) => cache.get(hash),
    isFresh: ({ freshUntil }) => freshUntil > elapsed(),
    async read(hash, token) {
      const encrypted = await store.get(keyOf(hash));
      if (encrypted !== undefined) return cacheRecord(hash, encrypted, decrypt(hash, encrypted));
      // A record that this process has seen was lost too, whoever created the token.
      const isLost =
        cache.get(hash)?.storedToken !== undefined ||
        (token !== undefined && gatewayTokens.isGatewayToken(token));
      return cacheRecord(hash, undefined, isLost ? createRevoked() : undefined);
    },
    async write(hash, storedToken, seconds = KEPT_SECONDS) {
      const encrypted = encrypt(hash, storedToken);
      await store.set(keyOf(hash), encrypted, seconds);
      cacheRecord(hash, encrypted, storedToken);
    },
    async replace(hash, before, storedToken) {
      if (before.encrypted === undefined) return false;
      const encrypted = encrypt(hash, storedToken);
      const isReplaced = await store.replace(keyOf(hash), before.encrypted, encrypted, KEPT_SECONDS);
      if (isReplaced) cacheRecord(hash, encrypted, storedToken);
      return isReplaced;
    },
    writeLevels: (name, scopes, seconds) => store.set(`levels:${name}`, scopes, seconds),
    readLevels: (name) => store.get(`levels:${name}`),
    get size() {
      return cache.size;
    },
  };
}
