import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Scopes } from "../../pack/index.ts";
import type { KeyValueStore } from "../../base/index.ts";
import type { TokenRecords } from "./token-records.ts";
import {
  type IssuedToken,
  type RefreshCredentials,
  type StoredToken,
  tokenInfoHash,
  tokenLifetime,
} from "./stored-token.ts";

/** Calls to the login server that refresh and revoke tokens. */
export interface TokenIssuer {
  /**
   * Gets the next token.
   *
   * @returns undefined if the login server responds that the refresh token is permanently invalid
   * @throws {Error} for any other failure, which may be temporary.
   */
  refresh(credentials: RefreshCredentials): Promise<IssuedToken | undefined>;
  /** Revokes a token that no client will use. Never throws. */
  discard(issued: IssuedToken, credentials: RefreshCredentials): Promise<void>;
  /** Maximum duration of `refresh` in seconds. */
  readonly timeoutSeconds: number;
}

const POLL_MS = 100;

/** Seconds by which a lock outlives the longest refresh. */
const LOCK_MARGIN_SECONDS = 10;

/** Pause after a failed refresh, in milliseconds. */
const RETRY_MS = 5000;

/** Pause while another process refreshes a token that still works, in milliseconds. */
const HELD_MS = 1000;

/** Pause after the refresh of a token that v4 has rejected, in milliseconds. v4 may reject the next token as well. */
const REJECTED_RETRY_MS = 30_000;

/** Maximum number of paused tokens. */
const MAX_PAUSES = 10_000;

/** Whether a token should be refreshed now. */
export const isDue = ({ refresh, renewAt, over }: StoredToken, now: number): boolean =>
  refresh !== undefined && !over && renewAt !== undefined && renewAt <= now;

const rejectedKey = (hash: string): string => `rejected ${hash}`;
const heldKey = (hash: string): string => `held ${hash}`;

export interface TokenRefresherOptions {
  readonly records: TokenRecords;
  readonly store: KeyValueStore;
  readonly issuer: TokenIssuer;
  readonly scopes: Scopes;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** A monotonic clock in milliseconds. Default: the clock of the process. */
  readonly elapsed?: () => number;
  /** Called for each failed read or refresh. */
  readonly onError: (error: unknown) => void;
}

/**
 * Refreshes the v4 tokens of gateway tokens, or waits for another process that does so. After a failed refresh, a token
 * is not refreshed for some time.
 *
 * Single flight per token: a map in this process, and a lock with an expiry between processes. If a process dies
 * between the response of the login server and the write to the store, the next refresh token is lost: the token works
 * until it expires, and then the client has to sign in again. This window is as short as one write.
 */
export class TokenRefresher {
  readonly #options: TokenRefresherOptions;
  readonly #lockSeconds: number;
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #paused: LRUCache<string, true>;

  constructor(options: TokenRefresherOptions) {
    this.#options = options;
    this.#lockSeconds = options.issuer.timeoutSeconds + LOCK_MARGIN_SECONDS;
    const now = options.elapsed ?? (() => performance.now());
    this.#paused = new LRUCache({ max: MAX_PAUSES, ttlResolution: 0, perf: { now } });
  }

  /** Refreshes a token, unless that has failed recently. Returns undefined during a pause. See {@link #tryRefresh} */
  refresh(hash: string): Promise<void> | undefined {
    if (this.#paused.has(hash)) return undefined;
    // An expired token waits for the other process.
    const isHeld = this.#paused.has(heldKey(hash)) && this.#endOf(hash) > this.#options.clock();
    return isHeld ? undefined : this.#tryRefresh(hash);
  }

  /** When the current v4 token expires, as far as this process knows. */
  #endOf(hash: string): number {
    return this.#options.records.cached(hash)?.storedToken?.ends ?? 0;
  }

  /** Refreshes a token that v4 has rejected. It may have expired early, or another process may be refreshing it. */
  async refreshRejected(hash: string, storedToken: StoredToken, rejectedHash: string): Promise<void> {
    if (!storedToken.refresh || storedToken.over) return;
    const due = isDue(storedToken, this.#options.clock());
    const key = due ? hash : rejectedKey(hash);
    if (this.#paused.has(key)) return;
    await this.#tryRefresh(hash, rejectedHash);
    if (!due) this.#paused.set(key, true, { ttl: REJECTED_RETRY_MS });
  }

  /**
   * Refreshes a token. After a failure, it is not refreshed for some time. The failure is only reported: the caller then
   * uses the cached record, which may be the old one.
   *
   * @param rejectedHash Hash of the v4 token that v4 has rejected before it expired.
   */
  #tryRefresh(hash: string, rejectedHash?: string): Promise<void> {
    return this.#refreshOnce(hash, rejectedHash).catch((error: unknown) => {
      this.#options.onError(error);
      const { storedToken } = this.#options.records.cached(hash) ?? {};
      if (storedToken && isDue(storedToken, this.#options.clock()))
        this.#paused.set(hash, true, { ttl: RETRY_MS });
    });
  }

  #refreshOnce(hash: string, rejectedHash: string | undefined): Promise<void> {
    const running = this.#inFlight.get(hash);
    if (running) return running;
    const refresh = this.#refresh(hash, rejectedHash).finally(() => this.#inFlight.delete(hash));
    this.#inFlight.set(hash, refresh);
    return refresh;
  }

  /** Waits while another process holds the lock, unless the current token still works. */
  async #refresh(hash: string, rejectedHash: string | undefined): Promise<void> {
    const { store, clock } = this.#options;
    const lock = `renewing:${hash}`;
    // A random value, so that a process that was too slow can't release the lock of the next process.
    const holder = randomUUID();
    const ends = this.#endOf(hash);
    const deadline = performance.now() + this.#lockSeconds * 1000;
    while (!(await store.setIfAbsent(lock, holder, this.#lockSeconds))) {
      if (rejectedHash === undefined && ends > clock())
        return void this.#paused.set(heldKey(hash), true, { ttl: HELD_MS });
      if (deadline <= performance.now()) return;
      await wait(POLL_MS);
    }
    try {
      await this.#refreshUnderLock(hash, rejectedHash);
    } finally {
      // If this fails, the lock expires later.
      await store.deleteIf(lock, holder).catch(() => {});
    }
  }

  async #refreshUnderLock(hash: string, rejectedHash: string | undefined): Promise<void> {
    const { records, issuer, clock } = this.#options;
    // Another process may have refreshed it meanwhile.
    const before = await records.read(hash);
    const { storedToken } = before;
    const at = clock();
    if (!storedToken?.refresh || storedToken.over) return;
    if ((storedToken.renewAt ?? 0) > at && tokenInfoHash(hash, storedToken) !== rejectedHash) return;
    const { refresh } = storedToken;
    const issued = await issuer.refresh(refresh);
    if (issued) {
      if (await records.replace(hash, before, this.#toStoredToken(storedToken, issued, refresh, at))) return;
      // The client has revoked the token meanwhile.
      await issuer.discard(issued, refresh);
    } else await records.delete(hash, before);
    await records.read(hash);
  }

  #toStoredToken(
    before: StoredToken,
    issued: IssuedToken,
    refresh: RefreshCredentials,
    at: number,
  ): StoredToken {
    const { scopes } = this.#options;
    const grants = scopes.common(scopes.read(before.scopes).grants, scopes.grants(issued.scopes));
    return {
      scopes: scopes.write(grants),
      token: issued.token,
      ...(before.application !== undefined && { application: before.application }),
      ...tokenLifetime(issued.expiresInSeconds, at),
      // If the response contains no new refresh token, the old one is used again (RFC 6749 section 6).
      refresh: issued.refresh === undefined ? refresh : { ...refresh, token: issued.refresh },
    };
  }
}
