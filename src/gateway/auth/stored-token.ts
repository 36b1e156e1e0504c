import { z } from "zod";
import { type Grants, HttpError, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import { fingerprint, tokenHash } from "./token-cache.ts";
import { type Owner, type Room, StateUnavailableError } from "../../base/index.ts";

const refreshCredentialsSchema = z.object({ token: z.string(), client: z.string(), secret: z.string() });

const storedTokenSchema = z.object({
  /** The scopes of the client, in alpha's words: the requested ones that v4 granted. */
  scopes: z.string(),
  /** The current v4 token. Missing if the client's own token is the v4 token. */
  token: z.string().exactOptional(),
  /** When the v4 token expires, in milliseconds since 1970. */
  ends: z.number().exactOptional(),
  /** When to refresh it, in milliseconds since 1970. */
  renewAt: z.number().exactOptional(),
  refresh: refreshCredentialsSchema.exactOptional(),
  /** The creator of a personal token. It owns the tokens that are created with it. */
  owner: z.string().exactOptional(),
  /** The OAuth client id of the application to which the token was issued. */
  application: z.string().exactOptional(),
  /** The client has revoked the token, or it can no longer be refreshed. */
  over: z.literal(true).exactOptional(),
});

/** The credentials that refresh a token at the login server. */
export type RefreshCredentials = Readonly<z.infer<typeof refreshCredentialsSchema>>;

/** The record of a gateway token, stored under the hash of that token. */
export type StoredToken = Readonly<z.infer<typeof storedTokenSchema>>;

/** The login server's response to a code or a refresh token. */
export interface IssuedToken {
  readonly token: string;
  /** Scopes of v4. */
  readonly scopes: string;
  readonly expiresInSeconds: number | undefined;
  readonly refresh: string | undefined;
}

/** @returns undefined for a text that is not a record of a token. */
export function parseStoredToken(text: string): StoredToken | undefined {
  try {
    return storedTokenSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A gateway token, prepared for requests. */
export interface ActiveToken {
  readonly grants: Grants;
  /** The token for v4, which replaces the client's. */
  readonly token: string;
  /**
   * Its key in the token cache. It starts with the hash of the client's token, so that both entries are purged
   * together.
   */
  readonly hash: string;
  readonly isRevoked: boolean;
  /** The creator, if it is a personal token. */
  readonly owner?: string | undefined;
  /** The OAuth client id of the application to which it was issued. Undefined for a personal token. */
  readonly application?: string | undefined;
}

/** The key of the v4 token in the token cache. @param hash Hash of the client's token. */
export const tokenInfoHash = (hash: string, { token }: Pick<StoredToken, "token">): string =>
  token === undefined ? hash : `${hash}.${tokenHash(token)}`;

/**
 * A v4 token expires after two hours. It is refreshed in the last quarter of its lifetime, at most ten minutes before
 * its end.
 */
const REFRESH_BEFORE_MS = 600_000;

/** The times of a token that was requested at `now`. */
export function tokenLifetime(
  expiresInSeconds: number | undefined,
  now: number,
): Pick<StoredToken, "ends" | "renewAt"> {
  if (expiresInSeconds === undefined) return {};
  const lifetimeMs = expiresInSeconds * 1000;
  return {
    ends: now + lifetimeMs,
    renewAt: now + lifetimeMs - Math.min(REFRESH_BEFORE_MS, lifetimeMs / 4),
  };
}

/**
 * Maximum number of entries of a creator. A personal token has two entries: its record, and the levels for lists. No
 * creator needs a thousand tokens.
 */
export const PERSONAL_ENTRIES = 2;
const PERSONAL_SHARE = 1000 * PERSONAL_ENTRIES;

/** Maximum number of tokens of one application: one for each sign-in, while its user is active. */
const APPLICATION_SHARE = 100_000;

/**
 * The owner of the personal tokens that a client creates: its token, or the creator of that token. Otherwise, each new
 * token would have its own share.
 *
 * @param creator Owner of the client's token, if that is a personal token of the gateway.
 */
export const personalOwner = (hash: string | undefined, creator: string | undefined): Owner => ({
  group: "personal",
  id: creator ?? fingerprint(hash ?? ""),
  share: PERSONAL_SHARE,
});

/** The owner of the tokens that are issued to an application for its users. */
export const applicationOwner = (client: string): Owner => ({
  group: "application",
  id: fingerprint(tokenHash(client)),
  share: APPLICATION_SHARE,
});

/**
 * Rejects a token for which the store has no room.
 *
 * @throws {HttpError} 429 if the owner has used up its share. {StateUnavailableError} if the store is full.
 */
export function requireRoom(room: Room): void {
  if (room === "share used up")
    throw new HttpError(
      TOO_MANY_REQUESTS,
      "Too many tokens exist already. Delete tokens that are not used.",
      {
        by: "limit",
      },
    );
  if (room === "store full")
    throw new StateUnavailableError("The state store is full: it keeps no new token");
}
