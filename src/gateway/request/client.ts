/** The sender of a request: its credentials, and the facts about its token. */
import type { TokenInfo } from "../auth/token-cache.ts";
import type { TokenLookup } from "../auth/token-store.ts";
import type { UpstreamToken } from "../auth/upstream-tokens.ts";
import type { Access, HttpError } from "../../pack/index.ts";

/** A client's credentials. */
export interface Credentials {
  /** The token in clear text, only for v4. Undefined for a client without a token. */
  readonly token: string | undefined;
  /** The token's hash, which identifies it everywhere else. */
  readonly hash: string | undefined;
  /** The token for v4 that replaces it, if there is one. */
  readonly upstream?: UpstreamToken;
  /** The reason why the credentials are invalid. There is then no token. */
  readonly error?: HttpError;
}

/** The credentials of a client without a token. */
export const NOBODY: Credentials = { token: undefined, hash: undefined };

/** The facts that decide whether a call of a route, or of the gateway, is permitted. */
export interface CallAccess {
  readonly route: { readonly access: Access };
}

/** A client's credentials, and the cached information about its token: the result of authentication. */
export interface AuthenticatedClient {
  readonly credentials: Credentials;
  readonly tokenInfo: TokenInfo | undefined;
  /** Whether the token is known: v4 has accepted it before, or the gateway stores v4's token for it. */
  readonly isAccepted: boolean;
}

/** A client without a token, whose requests are counted by address. */
export const ANONYMOUS: AuthenticatedClient = {
  credentials: NOBODY,
  tokenInfo: undefined,
  isAccepted: false,
};

/** A client from v4's point of view, with the token that currently replaces its own (L-24). */
export interface ResolvedCredentials {
  readonly credentials: Credentials;
  readonly issued: TokenLookup;
  /**
   * Searches a new token after v4 has rejected one, once per request. Another replica may have refreshed the token, and
   * this copy may be seconds old. `credentials` and `issued` are then replaced.
   *
   * @returns false if there is no new token
   */
  refreshAfter401(rejected: Credentials): Promise<boolean>;
}

/** The token of a request, and the known facts about it. */
export interface ClientToken {
  readonly resolved: ResolvedCredentials;
  readonly info: TokenInfo | undefined;
  /** Whether v4 has accepted the token before, or the gateway issued it or stores v4's token for it. */
  readonly isAccepted: boolean;
  /** Lets other requests call v4 with the token. Undefined if this request does not hold the token's lock. */
  readonly release: (() => void) | undefined;
}
