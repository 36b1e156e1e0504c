import type { Scopes } from "../dialect/scopes.ts";
import { tokenHash } from "./token-hash.ts";
import type { TokenRecord, TokenRecords } from "./token-records.ts";
import {
  factsHash,
  tokenLifetime,
  type ActiveToken,
  type IssuedToken,
  type RefreshCredentials,
  type StoredToken,
} from "./stored-token.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";
import type { RefreshToken } from "./token-refresh.ts";

/** A token can't be used now, though it has not ended. The message is for the log; the client gets a neutral 500. */
export class TokenUnavailableError extends Error {
  override readonly name = "TokenUnavailableError";
  readonly code = "AG_TOKEN_UNAVAILABLE";
}

/**
 * What is known of a token as one of the gateway's own exchange: it is one, it is none, or the store has not
 * answered and this process never saw the token before.
 */
export type TokenLookup = ActiveToken | undefined | "unknown";

export interface TokenStore {
  /**
   * Finds a token. From the copy in this process, without a wait; the store is asked where that is older than a
   * few seconds (a minute for tokens that the gateway never handed out).
   *
   * A token near its end is renewed in the background, one at its end before it is found.
   *
   * @throws {TokenUnavailableError} where it has to be renewed and can't be now
   */
  find(hash: string, token: string): TokenLookup | Promise<TokenLookup>;
  /**
   * Finds what stands for a token now that v4 has refused what stood for it, which is known as `refused`: another
   * process may have renewed it, and login servers end the old one then; else it is renewed, once in half a minute.
   * Undefined where nothing else stands for it.
   */
  findReplacement(hash: string, token: string, refused: string): Promise<ActiveToken | undefined>;
  /**
   * Keeps a token that v4 has issued.
   *
   * @returns the token of the gateway's own that is to be handed out in its place
   * @throws {StateUnavailable}
   */
  save(
    issued: Omit<IssuedToken, "scopes">,
    grant: Pick<StoredToken, "scopes"> & {
      readonly refresh: RefreshCredentials | undefined;
      readonly at: number;
      /** For how long it is kept; default: as long as a client may stay away. */
      readonly seconds?: number;
      /** How the token that is handed out should begin. */
      readonly shown?: string;
    },
  ): Promise<string>;
  /** Keeps what a token may do under as much of it as lists show. @throws {StateUnavailable} */
  nameLevels(shown: string, scopes: string, seconds: number): Promise<void>;
  /** The same again; undefined where there is none. @throws {StateUnavailable} */
  levelsNamed(shown: string): Promise<string | undefined>;
  /** As it stands in the store. @throws {StateUnavailable} */
  read(hash: string, token: string): Promise<StoredToken | undefined>;
  /** From now on the token is refused, here at once and elsewhere within seconds. @throws {StateUnavailable} */
  revoke(hash: string): Promise<void>;
  readonly size: number;
}

export interface TokenStoreOptions {
  readonly records: TokenRecords;
  readonly own: GatewayTokens;
  readonly refresh: RefreshToken;
  readonly scopes: Scopes;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Milliseconds of a clock that nobody sets. Default that of the process. */
  readonly elapsed?: () => number;
  /** Hears of renewals that failed. */
  readonly onError: (error: unknown) => void;
}

/** After a renewal that failed the next one waits so long. */
const RETRY_MS = 5000;

/** A token that v4 refuses before its end is renewed; v4 may refuse the next one as well, and is not asked on and on. */
const REFUSED_AGAIN_MS = 30_000;

/** Tokens whose renewal failed, or is another process's, a short while ago; more than that are tried again at once. */
const MOST_RETRIES = 10_000;

const isDue = ({ refresh, renewAt, over }: StoredToken, now: number): boolean =>
  refresh !== undefined && !over && renewAt !== undefined && renewAt <= now;

const hasEnded = ({ ends }: StoredToken, now: number): boolean => ends !== undefined && ends <= now;

/** Makes the book of the tokens that this gateway, or a replica of it, handed out. */
export function createTokenStore({
  records,
  own,
  refresh: renew,
  scopes,
  clock,
  elapsed = () => performance.now(),
  onError: onTrouble,
}: TokenStoreOptions): TokenStore {
  const pauses = new Map<string, { readonly until: number; readonly failed: boolean }>();
  const prepared = new WeakMap<StoredToken, ActiveToken>();

  /** Decided once for a record: its levels are parsed and its token is hashed no second time. */
  function grantOf(grant: StoredToken, hash: string, token: string): ActiveToken {
    const known = prepared.get(grant);
    if (known) return known;
    const made: ActiveToken = {
      levels: scopes.read(grant.scopes).grants,
      token: grant.token ?? token,
      hash: factsHash(hash, grant),
      isRevoked: grant.over === true,
    };
    prepared.set(grant, made);
    return made;
  }

  /** For a token that v4 refused another process's renewal is waited for, and one that failed is not. */
  function mayTry(hash: string, refused = false): boolean {
    const pause = pauses.get(hash);
    return !pause || pause.until <= elapsed() || (refused && !pause.failed);
  }

  function pauseFor(key: string, milliseconds: number, failed: boolean): void {
    if (pauses.size >= MOST_RETRIES) pauses.clear();
    pauses.set(key, { until: elapsed() + milliseconds, failed });
  }

  async function tryToRenew(hash: string, refused?: string): Promise<void> {
    pauses.delete(hash);
    let failed = false;
    await renew(hash, refused).catch((error: unknown) => {
      failed = true;
      onTrouble(error);
    });
    const { grant } = records.cached(hash) ?? {};
    if (grant && isDue(grant, clock())) pauseFor(hash, RETRY_MS, failed);
  }

  const refusedKey = (hash: string): string => `refused ${hash}`;

  /** Renews what v4 has refused. It may have ended before its time, or another process is renewing it. */
  async function renewRefused(hash: string, grant: StoredToken, refused: string): Promise<void> {
    if (!grant.refresh || grant.over) return;
    const due = isDue(grant, clock());
    if (!mayTry(due ? hash : refusedKey(hash), due)) return;
    await tryToRenew(hash, refused);
    if (!due) pauseFor(refusedKey(hash), REFUSED_AGAIN_MS, true);
  }

  /** The newest record; an old one where the store doesn't answer. */
  async function newest(hash: string, token: string): Promise<TokenRecord | "unknown"> {
    const copy = records.cached(hash);
    if (copy && records.isFresh(copy)) return copy;
    return records.read(hash, token).catch((error: unknown) => {
      onTrouble(error);
      return copy ?? "unknown";
    });
  }

  async function findAnew(hash: string, token: string): Promise<TokenLookup> {
    const record = await newest(hash, token);
    // What stands for it at v4 is not known, and v4 never saw the token itself.
    if (record === "unknown" && own.isOwn(token))
      throw new TokenUnavailableError("the state store does not tell what stands for a token");
    if (record === "unknown" || !record.grant) return record === "unknown" ? record : undefined;
    let { grant } = record;
    if (isDue(grant, clock())) {
      const renewing = mayTry(hash) ? tryToRenew(hash) : undefined;
      // While the old token works nobody waits for the next one.
      if (!hasEnded(grant, clock())) return grantOf(grant, hash, token);
      await renewing;
      grant = records.cached(hash)?.grant ?? grant;
      if (isDue(grant, clock()) && hasEnded(grant, clock()))
        throw new TokenUnavailableError("a token has ended and can't be renewed now");
    }
    return grantOf(grant, hash, token);
  }

  return {
    async findReplacement(hash, token, refused) {
      const read = await records.read(hash, token).catch(onTrouble);
      let grant = read?.grant;
      if (grant && factsHash(hash, grant) === refused) {
        await renewRefused(hash, grant, refused);
        grant = records.cached(hash)?.grant;
      }
      const found = grant && grantOf(grant, hash, token);
      return !found || found.isRevoked || found.hash === refused ? undefined : found;
    },
    find(hash, token) {
      const copy = records.cached(hash);
      if (!copy || !records.isFresh(copy)) return findAnew(hash, token);
      if (!copy.grant) return undefined;
      return isDue(copy.grant, clock()) ? findAnew(hash, token) : grantOf(copy.grant, hash, token);
    },
    async save(issued, { scopes: may, refresh, at, seconds, shown }) {
      const token = own.make(shown);
      const times = tokenLifetime(issued.expiresInSeconds, at);
      const grant = { scopes: may, token: issued.token, ...times, ...(refresh && { refresh }) };
      await records.write(tokenHash(token), grant, seconds);
      return token;
    },
    nameLevels: (shown, may, seconds) => records.writeNamed(tokenHash(shown), may, seconds),
    levelsNamed: async (shown) => records.readNamed(tokenHash(shown)),
    read: async (hash, token) => (await records.read(hash, token)).grant,
    revoke: (hash) => records.write(hash, { scopes: "", over: true }),
    get size() {
      return records.size;
    },
  };
}
