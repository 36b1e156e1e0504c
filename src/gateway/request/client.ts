/** The sender of a request: its credentials, and the facts about its token. */
import type { TokenInfo } from "../auth/token-cache.ts";
import type { TokenLookup } from "../auth/token-store.ts";
import type { UpstreamToken } from "../auth/upstream-tokens.ts";
import type { Access, HttpError } from "../../pack/index.ts";

/** A client's credentials. */
export interface Credentials {
  /** The token in clear text, only for v4. Undefined for a client without one. */
  readonly token: string | undefined;
  /** The token's hash, which identifies it everywhere else. */
  readonly hash: string | undefined;
  /** The token for v4 that replaces it, if the gateway has one. */
  readonly upstream?: UpstreamToken;
  /** Why the credentials are invalid. Then there is no token. */
  readonly error?: HttpError;
}

/** A client without a token. */
export const NOBODY: Credentials = { token: undefined, hash: undefined };

/** The facts that decide about the permission of a call of a route, or of the gateway. */
export interface CallAccess {
  readonly route: { readonly access: Access };
}

/** A client's credentials, and the cached information about its token: the result of authentication. */
export interface AuthenticatedClient {
  readonly credentials: Credentials;
  readonly tokenInfo: TokenInfo | undefined;
  /** Whether the gateway knows the token: v4 has accepted it before, or the gateway has v4's token for it. */
  readonly isAccepted: boolean;
}

/** A client without a token, whose requests are counted by address. */
export const ANONYMOUS: AuthenticatedClient = {
  credentials: NOBODY,
  tokenInfo: undefined,
  isAccepted: false,
};

/** A client as v4 sees it, with the token that currently replaces its own (L-24). */
export interface ResolvedCredentials {
  readonly credentials: Credentials;
  readonly issued: TokenLookup;
  /**
   * Looks for another token after v4 has rejected one, once in a request. Another replica may have refreshed the
   * token, and this copy may be seconds old. Then `credentials` and `issued` are replaced.
   *
   * @returns false without another token
   */
  refreshAfter401(rejected: Credentials): Promise<boolean>;
}

/** The token of a request, and the known facts about it. */
export interface ClientToken {
  readonly resolved: ResolvedCredentials;
  readonly info: TokenInfo | undefined;
  /** Whether v4 has accepted it before, or the gateway has issued it or has v4's token for it. */
  readonly isAccepted: boolean;
  /** Lets other requests call v4 with the token. Undefined if this request does not hold its lock. */
  readonly release: (() => void) | undefined;
}
