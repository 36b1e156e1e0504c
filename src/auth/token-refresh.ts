import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Scopes } from "../dialect/scopes.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import type { TokenRecords } from "./token-records.ts";
import {
  factsHash,
  tokenLifetime,
  type IssuedToken,
  type RefreshCredentials,
  type StoredToken,
} from "./stored-token.ts";

/** The calls to the login server that keep a token alive, and end it. */
export interface TokenIssuer {
  /**
   * Gives the next token, or undefined where the login server says that the refresh token is worth nothing any more.
   *
   * @throws where it gives no answer, none that can be read, or any other refusal: that may pass
   */
  renew(credentials: RefreshCredentials): Promise<IssuedToken | undefined>;
  /** Ends a token that nobody will use. Never throws. */
  discard(issued: IssuedToken, credentials: RefreshCredentials): Promise<void>;
  /** The longest that `renew` takes, seconds. */
  readonly timeoutSeconds: number;
}

export interface TokenRefreshOptions {
  readonly records: TokenRecords;
  readonly store: KeyValueStore;
  readonly issuer: TokenIssuer;
  readonly scopes: Scopes;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/**
 * Renews a grant, or waits for the process that is at it. When it resolves the record is the one to use; where
 * it is still the old one, renewing has to be tried again.
 *
 * One flight per token: in this process by a map, between processes by a lock that ends by itself. A process that
 * dies after the login server's answer and before the store has it takes the next refresh token with it: the
 * token then works until its end, and the client has to sign in again. That window is one write long.
 *
 * @param refused the hash of the v4 token that v4 takes no more, whatever its end was said to be
 * @throws where neither the login server nor the store answers
 */
export type RefreshToken = (hash: string, refused?: string) => Promise<void>;

const POLL_MS = 100;

export function createTokenRefresh({
  records,
  store,
  issuer,
  scopes,
  clock,
}: TokenRefreshOptions): RefreshToken {
  const underWay = new Map<string, Promise<void>>();
  const lockSeconds = issuer.timeoutSeconds + 10;

  function renewed(
    grant: StoredToken,
    issued: IssuedToken,
    refresh: RefreshCredentials,
    at: number,
  ): StoredToken {
    const levels = scopes.common(scopes.read(grant.scopes).grants, scopes.grants(issued.scopes));
    return {
      scopes: scopes.write(levels),
      token: issued.token,
      ...tokenLifetime(issued.expiresInSeconds, at),
      // A login server that gives no new refresh token means the old one to be used again (RFC 6749 6).
      refresh: issued.refresh === undefined ? refresh : { ...refresh, token: issued.refresh },
    };
  }

  async function underLock(hash: string, refused: string | undefined): Promise<void> {
    // Another process may have been at it a moment ago.
    const before = await records.read(hash);
    const { grant } = before;
    const at = clock();
    if (!grant?.refresh || grant.over) return;
    if ((grant.renewAt ?? 0) > at && factsHash(hash, grant) !== refused) return;
    const issued = await issuer.renew(grant.refresh);
    const next = issued ? renewed(grant, issued, grant.refresh, at) : { scopes: "", over: true as const };
    if (await records.replace(hash, before, next)) return;
    // It was expired while we were at it, and expired it stays.
    if (issued) await issuer.discard(issued, grant.refresh);
    await records.read(hash);
  }

  /** Waits for its turn while another process is at it; for a token that still works nobody need wait. */
  async function renew(hash: string, refused: string | undefined): Promise<void> {
    const lock = `renewing:${hash}`;
    // Its holder's own: whoever took longer than the lock lasts must not release what is the next one's by then.
    const holder = randomUUID();
    const ends = records.cached(hash)?.grant?.ends ?? 0;
    const deadline = performance.now() + lockSeconds * 1000;
    while (!(await store.setIfAbsent(lock, holder, lockSeconds))) {
      if ((ends > clock() && refused === undefined) || deadline <= performance.now()) return;
      await wait(POLL_MS);
    }
    try {
      await underLock(hash, refused);
    } finally {
      // Not deleted, it ends by itself.
      await store.deleteIf(lock, holder).catch(() => {});
    }
  }

  return function oneFlight(hash, refused) {
    const flying = underWay.get(hash);
    if (flying) return flying;
    const flight = renew(hash, refused).finally(() => underWay.delete(hash));
    underWay.set(hash, flight);
    return flight;
  };
}
