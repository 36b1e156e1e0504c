import { LRUCache } from "lru-cache";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import type { StoredToken } from "./stored-token.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";
import type { Encryptor } from "./encryption.ts";

/**
 * A grant as it stands in the store; `grant` is undefined for a token that the gateway never handed out. Of one that
 * it did hand out and whose record is lost it is one that has ended: what the token might do is not known any more.
 */
export interface TokenRecord {
  readonly sealed: string | undefined;
  readonly grant: StoredToken | undefined;
  /** Until when the store need not be asked again, by the clock of the records. */
  readonly freshUntil: number;
}

/** Reads and writes grants in the shared store, with a copy of the last ones in this process. */
export interface TokenRecords {
  /** The copy, however old. */
  cached(hash: string): TokenRecord | undefined;
  /** Whether the store need not be asked again. */
  isFresh(record: TokenRecord): boolean;
  /**
   * What the store has now.
   *
   * @param token the client's own, by which it is seen whether the gateway made it where there is no record
   * @throws {StateUnavailable} where the store doesn't answer
   */
  read(hash: string, token?: string): Promise<TokenRecord>;
  /** @param seconds that it is kept; default: as long as a client may stay away */
  write(hash: string, grant: StoredToken, seconds?: number): Promise<void>;
  /** Writes where the store still has what `before` says; false where it was changed meanwhile. */
  replace(hash: string, before: TokenRecord, grant: StoredToken): Promise<boolean>;
  /** What a token may do, under what lists show of it: for people to read, never to decide by. */
  writeNamed(name: string, scopes: string, seconds: number): Promise<void>;
  readNamed(name: string): Promise<string | undefined>;
  readonly size: number;
}

export interface TokenRecordsOptions {
  readonly store: KeyValueStore;
  readonly encryptor: Encryptor;
  readonly own: GatewayTokens;
  /** Copies kept. */
  readonly size: number;
  /** Milliseconds of a clock that nobody sets. Default that of the process. */
  readonly elapsed?: () => number;
}

/** Alpha's tokens never ended. A client that stays away longer than this has to sign in again. */
const KEPT_SECONDS = 400 * 86_400;

/** An expiry at another process is seen after so long. */
const FRESH_MS = 3000;

/** A token is kept before its client has it, so that one which is none of ours becomes none later. */
const NONE_FRESH_MS = 60_000;

const keyOf = (hash: string): string => `grant:${hash}`;

/** Was sealed under another secret, or is damaged. What such a token may do is not known, so that it may do nothing. */
const unreadable = (): StoredToken => ({ scopes: "", over: true });

/** Of a token that was handed out and has no record any more. It is looked for again, as one that is fresh. */
const LOST: StoredToken = { scopes: "", over: true };

export function createTokenRecords({
  store,
  encryptor: seal,
  own,
  size,
  elapsed = () => performance.now(),
}: TokenRecordsOptions): TokenRecords {
  const copies = new LRUCache<string, TokenRecord>({ max: size });

  function keep(hash: string, sealed: string | undefined, grant: StoredToken | undefined): TokenRecord {
    const record = { sealed, grant, freshUntil: elapsed() + (grant ? FRESH_MS : NONE_FRESH_MS) };
    copies.set(hash, record);
    return record;
  }

  function opened(hash: string, sealed: string): StoredToken {
    const text = seal.decrypt(sealed, keyOf(hash));
    return text === undefined ? unreadable() : (JSON.parse(text) as StoredToken);
  }

  const sealedFor = (hash: string, grant: StoredToken): string =>
    seal.encrypt(JSON.stringify(grant), keyOf(hash));

  return {
    cached: (hash) => copies.get(hash),
    isFresh: ({ freshUntil }) => freshUntil > elapsed(),
    async read(hash, token) {
      const sealed = await store.get(keyOf(hash));
      if (sealed !== undefined) return keep(hash, sealed, opened(hash, sealed));
      // A record that this process has seen can't be missing either, whoever made the token.
      const lost = copies.get(hash)?.grant !== undefined || (token !== undefined && own.isOwn(token));
      return keep(hash, undefined, lost ? LOST : undefined);
    },
    async write(hash, grant, seconds = KEPT_SECONDS) {
      const sealed = sealedFor(hash, grant);
      await store.set(keyOf(hash), sealed, seconds);
      keep(hash, sealed, grant);
    },
    async replace(hash, before, grant) {
      const sealed = sealedFor(hash, grant);
      const replaced =
        before.sealed !== undefined &&
        (await store.replace(keyOf(hash), before.sealed, sealed, KEPT_SECONDS));
      if (replaced) keep(hash, sealed, grant);
      return replaced;
    },
    writeNamed: (name, scopes, seconds) => store.set(`levels:${name}`, scopes, seconds),
    readNamed: (name) => store.get(`levels:${name}`),
    get size() {
      return copies.size;
    },
  };
}
