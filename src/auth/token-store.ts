import type { Scopes } from "../dialect/scopes.ts";
import type { Owner } from "../storage/key-value-store.ts";
import { tokenHash } from "./token-cache.ts";
import { PERSONAL_ENTRIES, requireRoom } from "./token-owners.ts";
import type { TokenRecord, TokenRecords } from "./token-records.ts";
import {
  tokenInfoHash,
  tokenLifetime,
  type ActiveToken,
  type IssuedToken,
  type RefreshCredentials,
  type StoredToken,
} from "./stored-token.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";
import type { RefreshToken } from "./token-refresh.ts";
import { isDue, TokenRefresher } from "./token-refresher.ts";

/** A valid token can't be used now. The message is for the log; the client gets a 500 without details. */
export class TokenUnavailableError extends Error {
  override readonly name = "TokenUnavailableError";
  readonly code = "AG_TOKEN_UNAVAILABLE";
}

/**
 * A gateway token; undefined if the token is not one; `unknown` if the store does not respond and this process has
 * never seen the token.
 */
export type TokenLookup = ActiveToken | undefined | "unknown";

export interface TokenStore {
  /**
   * Finds a token. Synchronous if this process has a recent record: a few seconds old, or a minute for tokens that are
   * not the gateway's. A token that will expire soon is refreshed in the background; an expired one is refreshed first.
   *
   * @throws {TokenUnavailableError} if it must be refreshed first, and can't be.
   */
  find(hash: string, token: string): TokenLookup | Promise<TokenLookup>;
  /**
   * Finds the v4 token to use after v4 has rejected one with 401. Another process may have refreshed it, because login
   * servers then revoke the old token. Otherwise it is refreshed, at most once in half a minute.
   *
   * @param rejectedHash Hash of the v4 token that v4 has rejected.
   * @returns undefined if there is no other v4 token.
   */
  findReplacement(hash: string, token: string, rejectedHash: string): Promise<ActiveToken | undefined>;
  /**
   * Stores a token that v4 has issued.
   *
   * @returns The gateway token to give to the client in its place.
   * @throws {HttpError} if its owner has too many. {StateUnavailableError}
   */
  save(
    issued: Omit<IssuedToken, "scopes">,
    grant: Pick<StoredToken, "scopes"> & {
      readonly refresh: RefreshCredentials | undefined;
      readonly owner: Owner;
      /** When it was requested, in milliseconds since 1970. */
      readonly at: number;
      /** How long it is kept. Default: as long as a client may be inactive. */
      readonly seconds?: number;
      /** First characters of the gateway token. */
      readonly shown?: string;
      /** The OAuth client id of the application that gets it. */
      readonly application?: string;
    },
  ): Promise<string>;
  /**
   * Stores the scopes of a personal token under the part of it that lists show.
   *
   * @throws {HttpError} if its owner has too many. {StateUnavailableError}
   */
  saveLevels(shown: string, token: string, scopes: string, owner: Owner, seconds: number): Promise<void>;
  /** Finds what {@link saveLevels} has stored; undefined if there is none. @throws {StateUnavailableError} */
  findLevels(shown: string): Promise<string | undefined>;
  /** Deletes all that is stored about a personal token. @param shown The part of it that lists show. */
  forget(shown: string): Promise<void>;
  /**
   * Checks that a token can be saved, before the upstream creates one that nobody would get.
   *
   * @throws {HttpError} if its owner has too many. {StateUnavailableError}
   */
  requireRoom(owner: Owner): Promise<void>;
  /** Reads the record from the store. @throws {StateUnavailableError} */
  read(hash: string, token: string): Promise<StoredToken | undefined>;
  /** Revokes a token: here at once, in other processes within seconds. @throws {StateUnavailableError} */
  revoke(hash: string): Promise<void>;
  /** Cached records. */
  readonly size: number;
}

export interface TokenStoreOptions {
  readonly records: TokenRecords;
  readonly gatewayTokens: GatewayTokens;
  readonly refresh: RefreshToken;
  readonly scopes: Scopes;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** A monotonic clock in milliseconds. Default: that of the process. */
  readonly elapsed?: () => number;
  /** Called for each read or refresh that failed. */
  readonly onError: (error: unknown) => void;
}

const hasExpired = ({ ends }: StoredToken, now: number): boolean => ends !== undefined && ends <= now;

/** Creates the store of the tokens that this gateway, or a replica of it, has given to clients. */
export function createTokenStore({
  records,
  gatewayTokens,
  refresh,
  scopes,
  clock,
  elapsed = () => performance.now(),
  onError,
}: TokenStoreOptions): TokenStore {
  const refresher = new TokenRefresher({
    cached: (hash) => records.cached(hash),
    refresh,
    clock,
    elapsed,
    onError,
  });
  const activeTokens = new WeakMap<StoredToken, ActiveToken>();

  /** Parses the scopes and hashes the v4 token once for each record. */
  function toActiveToken(storedToken: StoredToken, hash: string, token: string): ActiveToken {
    const cached = activeTokens.get(storedToken);
    if (cached) return cached;
    const active: ActiveToken = {
      levels: scopes.read(storedToken.scopes).grants,
      token: storedToken.token ?? token,
      hash: tokenInfoHash(hash, storedToken),
      isRevoked: storedToken.over === true,
      owner: storedToken.owner,
      application: storedToken.application ?? storedToken.refresh?.client,
    };
    activeTokens.set(storedToken, active);
    return active;
  }

  /** The latest record; the cached one if the store does not respond. */
  async function latestRecord(hash: string, token: string): Promise<TokenRecord | "unknown"> {
    const cached = records.cached(hash);
    if (cached && records.isFresh(cached)) return cached;
    return records.read(hash, token).catch((error: unknown) => {
      onError(error);
      return cached ?? "unknown";
    });
  }

  async function findInStore(hash: string, token: string): Promise<TokenLookup> {
    const record = await latestRecord(hash, token);
    if (record === "unknown") {
      // v4 never saw a gateway token, so v4 can't decide.
      if (gatewayTokens.isGatewayToken(token))
        throw new TokenUnavailableError("the state store does not respond: the upstream's token is unknown");
      return record;
    }
    if (!record.storedToken) return undefined;
    let { storedToken } = record;
    if (isDue(storedToken, clock())) {
      const isExpired = hasExpired(storedToken, clock());
      const refreshing = refresher.mayRefresh(hash, isExpired) ? refresher.tryRefresh(hash) : undefined;
      // Nobody waits while the current token works.
      if (!isExpired) return toActiveToken(storedToken, hash, token);
      await refreshing;
      storedToken = records.cached(hash)?.storedToken ?? storedToken;
      if (isDue(storedToken, clock()) && hasExpired(storedToken, clock()))
        throw new TokenUnavailableError("a token has expired and can't be refreshed now");
    }
    return toActiveToken(storedToken, hash, token);
  }

  return {
    async findReplacement(hash, token, rejectedHash) {
      const record = await records.read(hash, token).catch(onError);
      let storedToken = record?.storedToken;
      if (storedToken && tokenInfoHash(hash, storedToken) === rejectedHash) {
        await refresher.refreshRejected(hash, storedToken, rejectedHash);
        storedToken = records.cached(hash)?.storedToken;
      }
      const active = storedToken && toActiveToken(storedToken, hash, token);
      return !active || active.isRevoked || active.hash === rejectedHash ? undefined : active;
    },
    find(hash, token) {
      const cached = records.cached(hash);
      if (!cached || !records.isFresh(cached)) return findInStore(hash, token);
      const { storedToken } = cached;
      if (!storedToken) return undefined;
      return isDue(storedToken, clock()) ? findInStore(hash, token) : toActiveToken(storedToken, hash, token);
    },
    requireRoom: async (owner) =>
      requireRoom(await records.room(owner, owner.group === "personal" ? PERSONAL_ENTRIES : 1)),
    async save(
      issued,
      { scopes: grantedScopes, owner, refresh: credentials, at, seconds, shown, application },
    ) {
      const token = gatewayTokens.create(shown);
      const times = tokenLifetime(issued.expiresInSeconds, at);
      const storedToken = {
        scopes: grantedScopes,
        token: issued.token,
        ...times,
        ...(credentials && { refresh: credentials }),
        ...(owner.group === "personal" && { owner: owner.id }),
        ...(application !== undefined && { application }),
      };
      requireRoom(await records.add(tokenHash(token), storedToken, owner, seconds));
      return token;
    },
    async saveLevels(shown, token, levels, owner, seconds) {
      const saved = { scopes: levels, hash: tokenHash(token) };
      requireRoom(await records.addLevels(tokenHash(shown), saved, owner, seconds));
    },
    findLevels: async (shown) => (await records.readLevels(tokenHash(shown)))?.scopes,
    async forget(shown) {
      const name = tokenHash(shown);
      const hash = (await records.readLevels(name))?.hash;
      if (hash !== undefined) await records.delete(hash);
      await records.deleteLevels(name);
    },
    read: async (hash, token) => (await records.read(hash, token)).storedToken,
    revoke: (hash) => records.delete(hash),
    get size() {
      return records.size;
    },
  };
}
