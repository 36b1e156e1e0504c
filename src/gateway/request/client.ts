/** The sender of a request: its credentials, and the facts about its token. */
import type { TokenInfo } from "../auth/token-cache.ts";
import type { TokenLookup } from "../auth/token-store.ts";
import type { UpstreamToken } from "../auth/upstream-tokens.ts";
import type { Access, HttpError } from "../../pack/index.ts";

/** A client's credentials. */
export interface Credentials {
  /** The token in clear text, for v4 alone; undefined for a client without one. */
  readonly token: string | undefined;
  /** The token's hash, which identifies it everywhere else. */
  readonly hash: string | undefined;
  /** The token for v4 in its place, where the gateway has one. */
  readonly upstream?: UpstreamToken;
  /** Why the credentials are invalid; there is no token then. */
  readonly error?: HttpError;
}

/** A client without a token. */
export const NOBODY: Credentials = { token: undefined, hash: undefined };

/** The facts that decide who may make a call: that of a route, or one that the gateway makes itself. */
export interface CallAccess {
  readonly route: { readonly access: Access };
}

/** A client's credentials, and what is cached about its token: the result of authentication. */
export interface AuthenticatedClient {
  readonly credentials: Credentials;
  readonly tokenInfo: TokenInfo | undefined;
  /** Whether the gateway knows the token: v4 has accepted it before, or the gateway has v4's token for it. */
  readonly isAccepted: boolean;
}

/** A client whose requests are counted by address, since they have no token. */
export const ANONYMOUS: AuthenticatedClient = {
  credentials: NOBODY,
  tokenInfo: undefined,
  isAccepted: false,
};

/** A client as v4 sees it: with the token that stands for its own at v4 now (L-24). */
export interface ResolvedCredentials {
  readonly credentials: Credentials;
  readonly issued: TokenLookup;
  /**
   * Looks for a replacement, once in a request, after v4 has rejected a token: another replica may have refreshed
   * it, and this one's copy is seconds old. From then on `credentials` and `issued` are the new ones.
   *
   * @returns false where there is no other token
   */
  refreshAfter401(rejected: Credentials): Promise<boolean>;
}

/** The token of a request, and what is known about it. */
export interface ClientToken {
  readonly resolved: ResolvedCredentials;
  readonly info: TokenInfo | undefined;
  /** Whether v4 has accepted it before, or the gateway knows it: as one that it issued, or by v4's token for it. */
  readonly isAccepted: boolean;
  /** Lets other requests call v4 with the token; undefined where this one does not hold its lock. */
  readonly release: (() => void) | undefined;
}
