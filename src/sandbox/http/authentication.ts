/** Authentication of requests, scopes, and the tokens in the store (V-171 to V-180). */

import { userHome } from "../store/homes.ts";
import type { Grants, TokenAccess } from "../resources/hidden-state.ts";
import { Problem } from "./problem.ts";
import type { Store } from "../resource/resource-declaration.ts";
import type { AuthenticationMode, Caller } from "./request-types.ts";

/** Returns the caller of a valid token. */
export type FindCaller = (token: string) => Caller | undefined;

const tokenOf = (authorization = ""): string => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";

/** Whether a request contains a valid token. */
export const hasToken = (authorization: string | undefined, find: FindCaller): boolean =>
  find(tokenOf(authorization)) !== undefined;

/**
 * Authenticates a request; returns undefined for an anonymous caller.
 *
 * @throws {Problem} 401 if credentials are missing, unknown, or in alpha's form (`token …`).
 */
export function authenticate(
  authorization: string | undefined,
  find: FindCaller,
  access: AuthenticationMode,
): Caller | undefined {
  if (authorization === undefined && access !== "required") return undefined;
  const caller = find(tokenOf(authorization));
  if (!caller) throw new Problem(401, [{ reason: "Invalid Token" }]);
  return caller;
}

/**
 * Returns the scopes of an endpoint: `read_only` of its area for GET, `read_write` for other methods. If there is no
 * area, any token is sufficient.
 */
export function scopesFor(area: string | undefined, method: string): string[] {
  if (area === undefined) return [];
  return [`${area}:${method === "GET" ? "read_only" : "read_write"}`];
}

/**
 * Checks the scopes of a token. @throws {Problem} 403 if a needed scope is not included, directly or by `read_write` or
 * `*`.
 */
export function requireScopes(current: readonly string[], needed: readonly string[]): void {
  const holds = (scope: string): boolean =>
    current.includes("*") ||
    current.includes(scope) ||
    current.includes(scope.replace(/:read_only$/, ":read_write"));
  if (needed.every(holds)) return;
  throw new Problem(403, [{ reason: `Your token lacks the scope ${needed.join(" ")}.` }]);
}

// Access tokens in the store. A token belongs to a user (V-171).

/** Returns the caller of a token; undefined if the token is unknown or expired, or its user no longer exists. */
export function findCallerByToken(store: Store, secret: string): Caller | undefined {
  const access = store.table("access").get(secret)?.value;
  if (!access || (access.expires !== null && access.expires <= store.clock.now())) return undefined;
  const user = store.table("user").get(access.user);
  if (!user) return undefined;
  const restricted = user.value.restricted;
  return {
    account: user.home,
    user: access.user,
    scopes: access.scopes,
    ...(restricted && { grants: ((user.hidden ??= {}).grants ??= emptyGrants()) }),
  };
}

export function emptyGrants(): Grants {
  return { global: {}, entities: {} };
}

/** Stores a token: a personal one, or one that the login server issued. */
export function storeAccessToken(store: Store, secret: string, access: TokenAccess): void {
  store.table("access").add(userHome(access.user), secret, access);
}

/** Revokes all matching access and refresh tokens. */
export function revokeTokens(store: Store, fits: (access: TokenAccess) => boolean): void {
  for (const table of [store.table("access"), store.table("refresh")]) {
    for (const { id, value } of table.all()) if (fits(value)) table.remove(id);
  }
}
