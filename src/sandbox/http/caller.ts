/** Who is calling, and what their token lets them do (document 1, Authentication). */

import type { Grants } from "../resources/hidden.ts";
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
export type Access = "required" | "optional" | "public";

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
  access: Access,
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
