import type { Owner } from "../../base/index.ts";
import { tokenHash } from "./token-cache.ts";
import {
  type ActiveToken,
  applicationOf,
  type IssuedToken,
  PERSONAL_ENTRIES,
  type RefreshCredentials,
  requireRoom,
  type StoredToken,
  tokenInfoHash,
  tokenLifetime,
} from "./stored-token.ts";
import type { TokenRecord, TokenRecords } from "./token-records.ts";
import type { GatewayTokens } from "./gateway-secret.ts";
import { isDue, TokenRefresher, type TokenRefresherOptions } from "./token-refresh.ts";

/** A valid token can't be used now. The message is for the log. The client gets a 500 without details. */
export class TokenUnavailableError extends Error {
  override readonly name = "TokenUnavailableError";
  readonly code = "AG_TOKEN_UNAVAILABLE";
}

/**
 * A gateway token. Undefined for another token. `unknown` if the store does not respond and this process has never
 * seen the token.
 */
export type TokenLookup = ActiveToken | undefined | "unknown";

export interface TokenStoreOptions extends TokenRefresherOptions {
  readonly gatewayTokens: GatewayTokens;
}

/** The permissions of a token that v4 has issued, and how to store it. */
export interface NewToken extends Pick<StoredToken, "scopes"> {
  readonly refresh: RefreshCredentials | undefined;
  readonly owner: Owner;
  /** When it was requested, in milliseconds since 1970. */
  readonly at: number;
  /** How long it is kept. Default: the maximum inactivity of a client. */
  readonly seconds?: number;
  /** First characters of the gateway token. */
  readonly shown?: string;
  /** The OAuth client id of the application that gets it. */
  readonly application?: string;
}

const hasExpired = ({ ends }: StoredToken, now: number): boolean => ends !== undefined && ends <= now;

/** The tokens that this gateway, or one of its replicas, has issued to clients. */
export class TokenStore {
  readonly #options: TokenStoreOptions;
  readonly #records: TokenRecords;
  readonly #refresher: TokenRefresher;
  readonly #activeTokens = new WeakMap<StoredToken, ActiveToken>();

  constructor(options: TokenStoreOptions) {
    this.#options = options;
    this.#records = options.records;
    this.#refresher = new TokenRefresher(options);
  }

  /**
   * Finds a token. Synchronous if this process has a recent record: a few seconds old, or a minute for tokens of
   * others. A token that expires soon is refreshed in the background. An expired one is refreshed first.
   *
   * @throws {TokenUnavailableError} if it must be refreshed first, and can't be.
   */
  find(hash: string, token: string): TokenLookup | Promise<TokenLookup> {
    const cached = this.#records.cached(hash);
    if (!cached || !this.#records.isFresh(cached)) return this.#findInStore(hash, token);
    const { storedToken } = cached;
    if (!storedToken) return undefined;
    if (isDue(storedToken, this.#options.clock())) return this.#findInStore(hash, token);
    return this.#toActiveToken(storedToken, hash, token);
  }

  /**
   * Finds another v4 token after v4 has rejected one with 401. Another process may have refreshed it, because login
   * servers then revoke the old token. Otherwise it is refreshed, at most once in half a minute.
   *
   * @param rejectedHash Hash of the v4 token that v4 has rejected.
   * @returns undefined if there is no other v4 token.
   */
  async findReplacement(hash: string, token: string, rejectedHash: string): Promise<ActiveToken | undefined> {
    const record = await this.#records.read(hash, token).catch(this.#options.onError);
    let storedToken = record?.storedToken;
    if (storedToken && tokenInfoHash(hash, storedToken) === rejectedHash) {
      await this.#refresher.refreshRejected(hash, storedToken, rejectedHash);
      storedToken = this.#records.cached(hash)?.storedToken;
    }
    const active = storedToken && this.#toActiveToken(storedToken, hash, token);
    return !active || active.isRevoked || active.hash === rejectedHash ? undefined : active;
  }

  /**
   * Checks that a token can be saved, before the upstream creates one that could not be given to anybody.
   *
   * @throws {HttpError} if its owner has too many. {StateUnavailableError}
   */
  async requireRoom(owner: Owner): Promise<void> {
    requireRoom(await this.#records.room(owner, owner.group === "personal" ? PERSONAL_ENTRIES : 1));
  }

  /**
   * Stores a token that v4 has issued.
   *
   * @returns The gateway token, which the client gets in its place.
   * @throws {HttpError} if its owner has too many. {StateUnavailableError}
   */
  async save(issued: Omit<IssuedToken, "scopes">, kept: NewToken): Promise<string> {
    const { scopes, owner, refresh, at, seconds, shown, application } = kept;
    const token = this.#options.gatewayTokens.create(shown);
    const storedToken = {
      scopes,
      token: issued.token,
      ...tokenLifetime(issued.expiresInSeconds, at),
      ...(refresh && { refresh }),
      ...(owner.group === "personal" && { owner: owner.id }),
      ...(application !== undefined && { application }),
    };
    requireRoom(await this.#records.add(tokenHash(token), storedToken, owner, seconds));
    return token;
  }

  /**
   * Stores the scopes of a personal token under the part of it that lists show.
   *
   * @throws {HttpError} if its owner has too many. {StateUnavailableError}
   */
  async saveLevels(
    shown: string,
    token: string,
    scopes: string,
    owner: Owner,
    seconds: number,
  ): Promise<void> {
    const saved = { scopes, hash: tokenHash(token) };
    requireRoom(await this.#records.addLevels(tokenHash(shown), saved, owner, seconds));
  }

  /**
   * Finds the scopes that {@link saveLevels} has stored. Undefined if there are none. @throws {StateUnavailableError}
   */
  async findLevels(shown: string): Promise<string | undefined> {
    return (await this.#records.readLevels(tokenHash(shown)))?.scopes;
  }

  /** Deletes all stored data of a personal token. @param shown The part of it that lists show. */
  async forget(shown: string): Promise<void> {
    const name = tokenHash(shown);
    const hash = (await this.#records.readLevels(name))?.hash;
    if (hash !== undefined) await this.#records.delete(hash);
    await this.#records.deleteLevels(name);
  }

  /** Reads the record from the store. @throws {StateUnavailableError} */
  async read(hash: string, token: string): Promise<StoredToken | undefined> {
    return (await this.#records.read(hash, token)).storedToken;
  }

  /** Revokes a token: in this process at once, in others within seconds. @throws {StateUnavailableError} */
  revoke(hash: string): Promise<void> {
    return this.#records.delete(hash);
  }

  /** Number of cached records. */
  get size(): number {
    return this.#records.size;
  }

  /** Parses the scopes and hashes the v4 token once for each record. */
  #toActiveToken(storedToken: StoredToken, hash: string, token: string): ActiveToken {
    const cached = this.#activeTokens.get(storedToken);
    if (cached) return cached;
    const active: ActiveToken = {
      levels: this.#options.scopes.read(storedToken.scopes).grants,
      token: storedToken.token ?? token,
      hash: tokenInfoHash(hash, storedToken),
      isRevoked: storedToken.over === true,
      owner: storedToken.owner,
      application: applicationOf(storedToken),
    };
    this.#activeTokens.set(storedToken, active);
    return active;
  }

  /** The latest record, or the cached one if the store does not respond. */
  async #latestRecord(hash: string, token: string): Promise<TokenRecord | "unknown"> {
    const cached = this.#records.cached(hash);
    if (cached && this.#records.isFresh(cached)) return cached;
    return this.#records.read(hash, token).catch((error: unknown) => {
      this.#options.onError(error);
      return cached ?? "unknown";
    });
  }

  async #findInStore(hash: string, token: string): Promise<TokenLookup> {
    const record = await this.#latestRecord(hash, token);
    if (record === "unknown") {
      // v4 has never seen a gateway token, so v4 can't decide.
      if (this.#options.gatewayTokens.isGatewayToken(token))
        throw new TokenUnavailableError("the state store does not respond: the upstream's token is unknown");
      return record;
    }
    const { clock } = this.#options;
    let { storedToken } = record;
    if (storedToken && isDue(storedToken, clock())) {
      const refreshing = this.#refresher.refresh(hash);
      // In the background, while the current token works.
      if (hasExpired(storedToken, clock())) {
        await refreshing;
        storedToken = this.#records.cached(hash)?.storedToken ?? storedToken;
        if (isDue(storedToken, clock()) && hasExpired(storedToken, clock()))
          throw new TokenUnavailableError("a token has expired and can't be refreshed now");
      }
    }
    return storedToken && this.#toActiveToken(storedToken, hash, token);
  }
}
