/** Who is calling, and what their token lets them do (document 1, Authentication). */

import { userHome } from "../resource/find-rows.ts";
import type { Grants, TokenAccess } from "../resources/hidden-state.ts";
import type { Store } from "../store/sandbox-store.ts";
import { Problem } from "./problem.ts";

export interface Caller {
  /** The home of the rows that belong to the caller's account; empty for an anonymous one. It is in `X-Customer-UUID`. */
  readonly account: string;
  readonly user: string;
  readonly scopes: readonly string[];
  /** What a restricted user was granted; absent of everyone else. */
  readonly grants?: Grants;
}

/** `required`: 401 without a token. `optional`: without one, public items only. `public`: no scope needed. */
export type AuthenticationMode = "required" | "optional" | "public";

/** Whose token it is, where it is one. */
export type FindCaller = (token: string) => Caller | undefined;

/**
 * Finds the caller of a request; undefined for an anonymous one.
 *
 * @throws {Problem} 401 where credentials are missing, of the old form (`token …`) or unknown.
 */
export function authenticate(
  authorization: string | undefined,
  find: FindCaller,
  access: AuthenticationMode,
): Caller | undefined {
  if (authorization === undefined && access !== "required") return undefined;
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  const caller = token === undefined ? undefined : find(token);
  if (!caller) throw new Problem(401, [{ reason: "Invalid Token" }]);
  return caller;
}

/**
 * The scopes of an endpoint: reading needs the lower level of its area, everything else the higher one.
 * Without an area any token will do.
 */
export function scopesFor(area: string | undefined, method: string): string[] {
  if (area === undefined) return [];
  return [`${area}:${method === "GET" ? "read_only" : "read_write"}`];
}

/** @throws {Problem} 403 unless every needed scope is held, by itself, by the higher level or by `*`. */
export function requireScopes(held: readonly string[], needed: readonly string[]): void {
  const holds = (scope: string): boolean =>
    held.includes("*") || held.includes(scope) || held.includes(scope.replace(/:read_only$/, ":read_write"));
  if (needed.every(holds)) return;
  throw new Problem(403, [{ reason: `Your token lacks the scope ${needed.join(" ")}.` }]);
}

// Whose token it is (document 1, Authentication). A token belongs to a user, and lets that user do what its scopes say.

/** Undefined for a token that is unknown, has expired, or whose user is gone. */
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

/** Makes a token work: a personal one, or one that the login server issued to a client. */
export function storeAccessToken(store: Store, secret: string, access: TokenAccess): void {
  store.table("access").add(userHome(access.user), secret, access);
}

/** Ends every token that fits, those that renew one among them. */
export function revokeTokens(store: Store, fits: (access: TokenAccess) => boolean): void {
  for (const table of [store.table("access"), store.table("refresh")]) {
    for (const { id, value } of table.all()) if (fits(value)) table.remove(id);
  }
}
