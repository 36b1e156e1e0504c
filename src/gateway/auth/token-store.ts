import type { Owner } from "../../base/index.ts";
import { tokenHash } from "./token-cache.ts";
import {
  type ActiveToken,
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

/** What happened, and what operators must do. */
export const STORE_DOWN =
  "the state store does not respond (restore Redis; without REDIS_URL, free space in DATA_DIR)";

/** A valid token can't be used at the moment. The message is for the log. The client gets a 500 without details. */
export class TokenUnavailableError extends Error {
  override readonly name = "TokenUnavailableError";
  readonly code = "AG_TOKEN_UNAVAILABLE";
}

/**
 * A gateway token. Undefined for any other token. `unknown` if the store does not respond and this process has never
 * read the token's record.
 */
export type TokenLookup = ActiveToken | undefined | "unknown";

interface TokenStoreOptions extends TokenRefresherOptions {
  readonly gatewayTokens: GatewayTokens;
}

/** The permissions of a token that v4 issued, and options for storing it. */
interface NewToken extends Pick<StoredToken, "scopes"> {
  readonly refresh: RefreshCredentials | undefined;
  readonly owner: Owner;
  /** The time of the request, in milliseconds since 1970. */
  readonly at: number;
  /** Seconds until it is deleted. Default: the maximum inactivity of a client. */
  readonly seconds?: number;
  /** First characters of the gateway token. */
  readonly shown?: string;
  /** The OAuth client id of the application that receives the token. */
  readonly application?: string;
}

/** The key of the levels of a personal token. They are only displayed, and have no effect on authorization. */
const levelsKey = (shown: string): string => `levels:${tokenHash(shown)}`;

/** Levels as text: the hash of the token, and its scopes. */
const LEVELS = /^([0-9a-f]{64}) (.*)$/s;

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
   * Finds a token. Synchronous if this process has a recent record: a few seconds old, or a minute for tokens that the
   * gateway did not issue. A token that expires soon is refreshed in the background. An expired one is refreshed first.
   *
   * @throws {TokenUnavailableError} if it must be refreshed first, and can't be.
   */
  find(hash: string, token: string): TokenLookup | Promise<TokenLookup> {
    const fresh = this.#records.fresh(hash);
    if (!fresh || this.#isDue(fresh.storedToken)) return this.#findInStore(hash, token, fresh);
    return this.#toActiveToken(fresh.storedToken, hash, token);
  }

  /**
   * Finds a different v4 token after v4 has rejected one with 401. Another process may have refreshed it, because login
   * servers then revoke the old token. Otherwise it is refreshed, at most once in half a minute.
   *
   * @param rejectedHash Hash of the v4 token that v4 has rejected.
   * @returns undefined if there is no different v4 token.
   */
  async findReplacement(hash: string, token: string, rejectedHash: string): Promise<ActiveToken | undefined> {
    const record = await this.#records.read(hash, token).catch(this.#options.onError);
    let storedToken = record?.storedToken;
    if (storedToken && tokenInfoHash(hash, storedToken) === rejectedHash) {
      await this.#refresher.refreshRejected(hash, storedToken, rejectedHash);
      storedToken = this.#records.cached(hash)?.storedToken;
    }
    const active = this.#toActiveToken(storedToken, hash, token);
    return !active || active.isRevoked || active.hash === rejectedHash ? undefined : active;
  }

  /**
   * Checks that a token can be saved, before the upstream creates one that no client could receive.
   *
   * @throws {HttpError} if its owner has too many tokens. {StateUnavailableError}
   */
  async requireRoom(owner: Owner): Promise<void> {
    requireRoom(await this.#options.store.room(owner, owner.group === "personal" ? PERSONAL_ENTRIES : 1));
  }

  /**
   * Stores a token that v4 has issued.
   *
   * @returns the gateway token, which the client gets instead
   * @throws {HttpError} if its owner has too many tokens. {StateUnavailableError}
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
   * Stores the scopes of a personal token. The key is the part of the token that is visible in lists of tokens.
   *
   * @throws {HttpError} if its owner has too many tokens. {StateUnavailableError}
   */
  async saveLevels(
    shown: string,
    token: string,
    scopes: string,
    owner: Owner,
    seconds: number,
  ): Promise<void> {
    const text = `${tokenHash(token)} ${scopes}`;
    requireRoom(await this.#options.store.add(levelsKey(shown), text, seconds, owner));
  }

  async #readLevels(shown: string): Promise<readonly (string | undefined)[]> {
    const [, hash, scopes] = LEVELS.exec((await this.#options.store.get(levelsKey(shown))) ?? "") ?? [];
    return [hash, scopes];
  }

  /**
   * Finds the scopes that {@link saveLevels} has stored. Undefined if missing. @throws {StateUnavailableError}
   */
  async findLevels(shown: string): Promise<string | undefined> {
    const [, scopes] = await this.#readLevels(shown);
    return scopes;
  }

  /** Deletes all stored data of a personal token. @param shown the part of the token in lists */
  async forget(shown: string): Promise<void> {
    const [hash] = await this.#readLevels(shown);
    if (hash !== undefined) await this.#records.delete(hash);
    await this.#options.store.delete(levelsKey(shown));
  }

  /** Reads the record from the store. @throws {StateUnavailableError} */
  async read(hash: string, token: string): Promise<StoredToken | undefined> {
    return (await this.#records.read(hash, token)).storedToken;
  }

  /** Revokes a token: in this process immediately, in other processes within seconds. @throws {StateUnavailableError} */
  revoke(hash: string): Promise<void> {
    return this.#records.delete(hash);
  }

  /** Number of cached records. */
  get size(): number {
    return this.#records.size;
  }

  #isDue(storedToken: StoredToken | undefined): boolean {
    return storedToken !== undefined && isDue(storedToken, this.#options.clock());
  }

  /** Parses the scopes and hashes the v4 token once for each record. */
  #toActiveToken(storedToken: StoredToken | undefined, hash: string, token: string): ActiveToken | undefined {
    if (!storedToken) return undefined;
    const cached = this.#activeTokens.get(storedToken);
    if (cached) return cached;
    const active: ActiveToken = {
      grants: this.#options.scopes.read(storedToken.scopes).grants,
      token: storedToken.token ?? token,
      hash: tokenInfoHash(hash, storedToken),
      isRevoked: storedToken.over === true,
      owner: storedToken.owner,
      application: storedToken.application,
    };
    this.#activeTokens.set(storedToken, active);
    return active;
  }

  /** Uses the latest record, or the cached one if the store does not respond. */
  async #findInStore(hash: string, token: string, fresh: TokenRecord | undefined): Promise<TokenLookup> {
    const record =
      fresh ??
      (await this.#records.read(hash, token).catch((error: unknown) => {
        this.#options.onError(error);
        return this.#records.cached(hash);
      }));
    if (!record) {
      // v4 has never received a gateway token, so v4 can't decide.
      if (this.#options.gatewayTokens.isGatewayToken(token))
        throw new TokenUnavailableError(`${STORE_DOWN}: the upstream's token is unknown`);
      return "unknown";
    }
    const { storedToken } = record;
    if (!storedToken || !this.#isDue(storedToken)) return this.#toActiveToken(storedToken, hash, token);
    const refreshing = this.#refresher.refresh(hash);
    // The refresh runs in the background, while the current token works.
    if (!this.#hasExpired(storedToken)) return this.#toActiveToken(storedToken, hash, token);
    await refreshing;
    const refreshed = this.#records.cached(hash)?.storedToken ?? storedToken;
    if (this.#isDue(refreshed) && this.#hasExpired(refreshed))
      throw new TokenUnavailableError("a token has expired and can't be refreshed now");
    return this.#toActiveToken(refreshed, hash, token);
  }

  #hasExpired({ ends }: StoredToken): boolean {
    return ends !== undefined && ends <= this.#options.clock();
  }
}
