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

/** What a token permits: the scopes that the gateway issued it with, else v4's scopes. Undefined while only v4 knows them. */
export const grantsOf = (issued: TokenLookup, info: TokenInfo | undefined): Grants | undefined =>
  typeof issued === "object" ? issued.grants : info?.refused ? undefined : info?.grants;

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
 * Alpha has no scope for other calls. They pass if the token's v4 scopes permit no more than its alpha scopes. For a
 * read, only reading is compared. A token without scopes may make only public calls, because the response is
 * not translated and nothing can be removed from it.
 *
 * @param needed the rules of alpha's routes for the call; undefined if no route makes it
 */
export function permitsCall(
  grants: Grants,
  needed: ReturnType<FindV4Access>,
  isRead: boolean,
  scopes: Scopes,
): boolean {
  if (grants === "all") return true;
  const required = needed?.required ?? [];
  if (needed && required.every((access) => access === "public")) return true;
  if (hasNoScopes(grants) || !required.every((access) => scopes.permits(grants, access))) return false;
  // v4 gives a token that is made by the call v4's scopes.
  return (needed && !needed.makesToken) || scopes.isExact(grants, isRead);
}
