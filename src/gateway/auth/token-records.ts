import { LRUCache } from "lru-cache";
import type { KeyValueStore, Owner, Room } from "../../base/index.ts";
import { parseStoredToken, type StoredToken } from "./stored-token.ts";
import type { Encryptor, GatewayTokens } from "./gateway-secret.ts";

/** The record of a token in the store. */
export interface TokenRecord {
  /** The encrypted record; undefined if missing. */
  readonly encrypted: string | undefined;
  /**
   * The record; undefined for a token that the gateway did not issue. A gateway token whose record was lost is
   * treated as revoked, because its permissions are unknown.
   */
  readonly storedToken: StoredToken | undefined;
  /** The time until which the record is used without a new read, by the clock of the records. */
  readonly freshUntil: number;
}

interface TokenRecordsOptions {
  readonly store: KeyValueStore;
  readonly encryptor: Encryptor;
  readonly gatewayTokens: GatewayTokens;
  /** Maximum number of cached records. */
  readonly size: number;
  /** A monotonic clock in milliseconds. Default: the clock of the process. */
  readonly elapsed?: () => number;
  /** Called with the hash of a token whose record can't be read. */
  readonly onDamaged?: (hash: string) => void;
}

/** Alpha's tokens never expired. A client that sends no request for longer than this must sign in again. */
const KEPT_SECONDS = 400 * 86_400;

/** Milliseconds after which a revocation by another process takes effect here. */
const FRESH_MS = 3000;

/** A record is stored before its client gets the token, so a missing record will not appear later. */
const WITHOUT_RECORD_FRESH_MS = 60_000;

const keyOf = (hash: string): string => `grant:${hash}`;

/**
 * Replaces a record that was lost, damaged, or encrypted with a different secret. It permits nothing. It is a new
 * object each time, because the token store uses it as a cache key.
 */
const createRevoked = (): StoredToken => ({ scopes: "", over: true });

/** Reads and writes the records of gateway tokens in the store, and caches the most recent ones in this process. */
export class TokenRecords {
  readonly #options: TokenRecordsOptions;
  readonly #store: KeyValueStore;
  readonly #cache: LRUCache<string, TokenRecord>;
  readonly #elapsed: () => number;

  constructor(options: TokenRecordsOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#cache = new LRUCache({ max: options.size });
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  #cacheRecord(
    hash: string,
    encrypted: string | undefined,
    storedToken: StoredToken | undefined,
  ): TokenRecord {
    const freshUntil = this.#elapsed() + (storedToken ? FRESH_MS : WITHOUT_RECORD_FRESH_MS);
    const record = { encrypted, storedToken, freshUntil };
    this.#cache.set(hash, record);
    return record;
  }

  #decrypt(hash: string, encrypted: string): StoredToken {
    const text = this.#options.encryptor.decrypt(encrypted, keyOf(hash));
    const storedToken = text === undefined ? undefined : parseStoredToken(text);
    if (storedToken === undefined) this.#options.onDamaged?.(hash);
    return storedToken ?? createRevoked();
  }

  #encrypt(hash: string, storedToken: StoredToken): string {
    return this.#options.encryptor.encrypt(JSON.stringify(storedToken), keyOf(hash));
  }

  /** The cached record, of any age. */
  cached(hash: string): TokenRecord | undefined {
    return this.#cache.get(hash);
  }

  /** The cached record, if it is recent enough. */
  fresh(hash: string): TokenRecord | undefined {
    const record = this.#cache.get(hash);
    return record && record.freshUntil > this.#elapsed() ? record : undefined;
  }

  /**
   * Reads the record from the store.
   *
   * @param token The client's token. If there is no record, the token's format shows whether the gateway issued it.
   * @throws {StateUnavailableError}
   */
  async read(hash: string, token?: string): Promise<TokenRecord> {
    const encrypted = await this.#store.get(keyOf(hash));
    if (encrypted !== undefined) return this.#cacheRecord(hash, encrypted, this.#decrypt(hash, encrypted));
    // A record that this process has read before was lost as well, regardless of the token's creator.
    const isLost =
      this.#cache.get(hash)?.storedToken !== undefined ||
      (token !== undefined && this.#options.gatewayTokens.isGatewayToken(token));
    return this.#cacheRecord(hash, undefined, isLost ? createRevoked() : undefined);
  }

  /**
   * Adds the record of a new token.
   *
   * @param seconds Seconds until the record is deleted. Default: the maximum inactivity of a client.
   * @returns `free` if it was stored, otherwise the reason why not
   */
  async add(hash: string, storedToken: StoredToken, owner: Owner, seconds = KEPT_SECONDS): Promise<Room> {
    const encrypted = this.#encrypt(hash, storedToken);
    const room = await this.#store.add(keyOf(hash), encrypted, seconds, owner);
    if (room === "free") this.#cacheRecord(hash, encrypted, storedToken);
    return room;
  }

  /** Deletes a record if it still equals `before`. A gateway token without a record is revoked. */
  async delete(hash: string, before?: TokenRecord): Promise<void> {
    if (before?.encrypted === undefined) await this.#store.delete(keyOf(hash));
    else await this.#store.deleteIf(keyOf(hash), before.encrypted);
    this.#cacheRecord(hash, undefined, createRevoked());
  }

  /** Writes a record if the stored one still equals `before`. @returns false if it was changed meanwhile. */
  async replace(hash: string, before: TokenRecord, storedToken: StoredToken): Promise<boolean> {
    if (before.encrypted === undefined) return false;
    const encrypted = this.#encrypt(hash, storedToken);
    const isReplaced = await this.#store.replace(keyOf(hash), before.encrypted, encrypted, KEPT_SECONDS);
    if (isReplaced) this.#cacheRecord(hash, encrypted, storedToken);
    return isReplaced;
  }

  get size(): number {
    return this.#cache.size;
  }
}
