/** Decides which routes a token may use, from known facts. The decision is made before the body is read. */
import { type Grants, HttpError, type Route, type Scopes } from "../../pack/index.ts";
import { grantsOf, INVALID_TOKEN, judge, NOT_GRANTED, permitsRoute } from "../auth/permissions.ts";
import type { TokenCache } from "../auth/token-cache.ts";
import { STORE_DOWN, TokenUnavailableError } from "../auth/token-store.ts";
import type { RouteMatch } from "../request/context.ts";
import type { ClientToken, Credentials, ResolvedCredentials } from "../request/client.ts";
import type { RouteCandidates } from "./match-route.ts";
import { findTokenInfo } from "./resolve-token.ts";

/** Returns the permissions of a token according to all known facts. Undefined while only v4 can decide them. */
export async function currentGrants(
  { credentials, issued }: ResolvedCredentials,
  tokens: Pick<TokenCache, "get">,
): Promise<Grants | undefined> {
  return grantsOf(issued, await findTokenInfo(credentials, tokens));
}

/** A route that the token may use, or the error of a route that it must not use. */
export interface RouteAccess {
  readonly match: RouteMatch;
  readonly error: unknown;
}

/**
 * Authorizes a request by known facts: the levels of the gateway's own OAuth exchange, otherwise v4's scopes. While
 * nothing is known, v4 decides. A public route is permitted, whatever credentials the request has.
 *
 * @returns a verdict for each candidate; at least one of them is permitted
 * @throws {HttpError} 400 for an invalid path, 404 for a path outside of alpha, 401 for malformed credentials, 404 for
 *   an unknown route, 401 for a missing token or one that v4 rejected recently, 403 if the token's level is too low.
 *   {TokenUnavailableError} if it is unknown whether the gateway issued the token.
 */
export function authorize(
  credentials: Credentials,
  token: ClientToken,
  candidates: RouteCandidates,
  scopes: Scopes,
): readonly RouteAccess[] {
  if (candidates instanceof HttpError) throw candidates;
  const verdicts = candidates.map((match) => ({
    match,
    error: findAccessError(credentials, token, match.route, scopes),
  }));
  if (verdicts.some(({ error }) => error === undefined)) return verdicts;
  throw verdicts[0]?.error ?? credentials.error ?? new HttpError(404, "Not found");
}

/** Whether the main call of a route is a GET, and no other call changes anything. */
const isPlainRead = ({ source, onlyReadsUpstream }: Route): boolean =>
  onlyReadsUpstream && (!("call" in source) || source.call.method === "GET");

/** Returns why a token must not use a route; undefined if it may. */
function findAccessError(
  credentials: Credentials,
  { resolved, info }: ClientToken,
  route: Route,
  scopes: Scopes,
): unknown {
  const { access } = route;
  if (access === "public") return undefined;
  const { issued } = resolved;
  if (credentials.error) return credentials.error;
  if (resolved.credentials.hash === undefined) return new HttpError(401, "An access token is required.");
  const validity = judge(issued, info);
  if (validity === "invalid") return new HttpError(401, INVALID_TOKEN);
  if (validity === "unknown") {
    // The gateway may have issued the token with any level. Only the lowest level is certain, because v4 has none below
    // it.
    const isLowest = typeof access === "string" ? isPlainRead(route) : access.level === 0;
    if (isLowest) return undefined;
    return new TokenUnavailableError(`${STORE_DOWN}: it is unknown what a token may do`);
  }
  const grants = grantsOf(issued, info);
  // While nothing is known, v4 decides.
  const isPermitted = grants === undefined || permitsRoute(grants, route, scopes);
  return isPermitted ? undefined : new HttpError(403, NOT_GRANTED);
}
