import type { Grants } from "../dialect/scopes.ts";
import { tokenHash } from "./token-hash.ts";

/** With what a token is renewed. */
export interface RefreshCredentials {
  readonly token: string;
  readonly client: string;
  readonly secret: string;
}

/** What a login server gives for a code or a refresh token. */
export interface IssuedToken {
  readonly token: string;
  /** In v4's words. */
  readonly scopes: string;
  readonly expiresInSeconds: number | undefined;
  readonly refresh: string | undefined;
}

/** What is kept of a token that the gateway's own exchange handed out, under the hash of that token. */
export interface StoredToken {
  /** What the client may do, in alpha's words: what it had asked for, as far as that was granted. */
  readonly scopes: string;
  /** The v4 token that stands for the client's now; absent while it is the client's own. */
  readonly token?: string;
  /** When that ends, milliseconds since 1970. */
  readonly ends?: number;
  /** When it is time to renew it. */
  readonly renewAt?: number;
  readonly refresh?: RefreshCredentials;
  /** The client has expired it, or it can't be renewed any more. */
  readonly over?: true;
}

/** A token of the gateway's own exchange, as a request finds it. */
export interface ActiveToken {
  readonly levels: Grants;
  /** What v4 is shown in place of the client's token. */
  readonly token: string;
  /** By which facts of it are known: it begins with the hash of the client's own, so that both are purged together. */
  readonly hash: string;
  readonly isRevoked: boolean;
}

/** By which facts are known of what stands for a client's token now. @param hash of the client's own */
export const factsHash = (hash: string, { token }: Pick<StoredToken, "token">): string =>
  token === undefined ? hash : `${hash}.${tokenHash(token)}`;

/** A token lasts two hours at v4 and is renewed in its last quarter, ten minutes before its end at most. */
const RENEW_BEFORE_MS = 600_000;

/** The times of a token that was asked for at `now`. */
export function tokenLifetime(
  lastsSeconds: number | undefined,
  now: number,
): Pick<StoredToken, "ends" | "renewAt"> {
  if (lastsSeconds === undefined) return {};
  const lasts = lastsSeconds * 1000;
  return { ends: now + lasts, renewAt: now + lasts - Math.min(RENEW_BEFORE_MS, lasts / 4) };
}
