/** Whether a token is valid, and what its scopes permit: the same decisions for translated and for native requests. */
import type { FindV4Access, Grants, Route, Scopes } from "../../pack/index.ts";
import type { TokenInfo } from "./token-cache.ts";
import type { TokenLookup } from "./token-store.ts";

/** The messages for clients. */
export const INVALID_TOKEN = "The access token is not valid.";
export const NOT_GRANTED = "The access token does not grant this.";

/**
 * `issued`: a valid token of the gateway. `foreign`: another one, which v4 judges. `unknown`: it may be either, because
 * the store does not respond. `invalid`: the gateway has revoked it, or v4 has rejected it a short while ago.
 */
type Validity = "issued" | "foreign" | "unknown" | "invalid";

/** @param info the known facts from v4; undefined: only the gateway's own record decides */
export function judge(issued: TokenLookup, info?: TokenInfo): Validity {
  if (info?.refused || (typeof issued === "object" && issued.isRevoked)) return "invalid";
  if (issued === "unknown") return "unknown";
  return issued ? "issued" : "foreign";
}

/** The permissions of a token: the levels of a token of the gateway, else v4's scopes. Undefined while only v4 knows them. */
export const grantsOf = (issued: TokenLookup, info: TokenInfo | undefined): Grants | undefined =>
  typeof issued === "object" ? issued.levels : info?.refused ? undefined : info?.grants;

/** Whether a token has no scopes. It may then only use the routes that the pack opens to it. */
export const hasNoScopes = (grants: Grants): boolean => grants !== "all" && grants.size === 0;

/** Whether a token may use a route of alpha. */
export const permitsRoute = (
  grants: Grants,
  { access, withoutScopes }: Pick<Route, "access" | "withoutScopes">,
  scopes: Scopes,
): boolean => (hasNoScopes(grants) ? withoutScopes !== undefined : scopes.permits(grants, access));

/**
 * Whether a token of the gateway may make a v4 call. A call that alpha's routes make needs the scopes of these routes.
 * Alpha has no scope for other calls. They pass if the token's v4 scopes are not wider than its alpha levels. For a
 * read, only the levels for reading are compared. A token without scopes may make only public calls, because the response is
 * not translated and nothing can be removed from it.
 *
 * @param needed the rules of alpha's routes for the call; undefined if no route makes it
 */
export function permitsCall(
  levels: Grants,
  needed: ReturnType<FindV4Access>,
  isRead: boolean,
  scopes: Scopes,
): boolean {
  if (levels === "all") return true;
  const required = needed?.required ?? [];
  if (needed && required.every((access) => access === "public")) return true;
  if (hasNoScopes(levels) || !required.every((access) => scopes.permits(levels, access))) return false;
  // v4 gives a token that is made by the call v4's levels.
  return (needed && !needed.makesToken) || scopes.isExact(levels, isRead);
}
