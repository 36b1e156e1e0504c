import { HttpError } from "../../dialect/http-error.ts";
import type { Grants, Scopes } from "../../dialect/scopes.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { TokenUnavailableError, type TokenLookup } from "../../auth/token-store.ts";
import type { TokenInfo } from "../../auth/token-cache.ts";
import type { RouteMatch } from "../context.ts";
import type { ResolvedCredentials } from "./resolve-token.ts";

/** What is known of the caller's token. */
export interface AuthorizationContext {
  readonly scopes: Scopes;
  readonly tokenInfo: TokenInfo | undefined;
}

/** What the caller's token may do; undefined while only v4 knows. */
export const effectiveGrants = (found: TokenLookup, facts: TokenInfo | undefined): Grants | undefined =>
  typeof found === "object" ? found.levels : facts?.refused ? undefined : facts?.grants;

/** Without scopes a token shows its user's name and e-mail, and nothing else (document 2, Authentication). */
export const hasNoScopes = (grants: Grants): boolean => grants !== "all" && grants.size === 0;

const isRead = ({ source }: Route): boolean => !("call" in source) || source.call.method === "GET";

/**
 * Lets a request through to its route, or not. What a token may do is looked at on every request, from facts
 * alone: the levels of the gateway's own exchange, else v4's scopes; while nothing is known, v4 decides. While it
 * can't be told whether the token is of an exchange, only the lowest level passes: v4 has none below that. A public
 * route is public, whatever comes with the request.
 *
 * @throws {HttpError} 400 for a broken path, 404 for one that is not alpha's, 401 for credentials that can't be
 *   read, 404 for an unknown route, 401 without a token or with one that v4 refused a short while ago, 403 where
 *   the token's level is too low. {GrantUnavailable} where nobody can tell.
 */
export function authorize(
  { credentials: caller, grant }: Omit<ResolvedCredentials, "refreshAfter401">,
  found: RouteMatch | HttpError | undefined,
  { scopes, tokenInfo: facts }: AuthorizationContext,
): RouteMatch {
  if (found instanceof HttpError) throw found;
  const { access } = found?.route ?? {};
  if (found && access === "public") return found;
  if (caller.error) throw caller.error;
  if (!found || access === undefined) throw new HttpError(404, "Not found");
  if (caller.hash === undefined) throw new HttpError(401, "An access token is required.");
  if (facts?.refused || (typeof grant === "object" && grant.isRevoked))
    throw new HttpError(401, "The access token is not valid.");
  if (grant === "unknown") {
    if (typeof access === "string" ? isRead(found.route) : access.level === 0) return found;
    throw new TokenUnavailableError("the state store does not tell what a token may do");
  }
  const grants = effectiveGrants(grant, facts);
  const refused =
    grants !== undefined &&
    (hasNoScopes(grants) ? found.route.withoutScopes === undefined : !scopes.permits(grants, access));
  if (refused) throw new HttpError(403, "The access token does not grant this.");
  return found;
}

/**
 * The same of a request whose body will choose its route: it is let through, so that its body is read, where it may
 * have one of them.
 *
 * @throws see {@link authorize}
 */
export function authorizeAny(
  presented: Omit<ResolvedCredentials, "refreshAfter401">,
  found: readonly RouteMatch[] | HttpError,
  known: AuthorizationContext,
): RouteMatch {
  if (found instanceof HttpError || found.length < 2)
    return authorize(presented, found instanceof HttpError ? found : found[0], known);
  let refusal: unknown;
  for (const target of found) {
    try {
      return authorize(presented, target, known);
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}
