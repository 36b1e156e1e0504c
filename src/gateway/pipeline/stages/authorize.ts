/** Which token v4 is called with, and which routes it may use. All of it is decided before the body is read. */
import { setTimeout as wait } from "node:timers/promises";
import { type ClientHead, type Grants, HttpError, type Route, type Scopes } from "../../../pack/index.ts";
import { TokenUnavailableError, type TokenLookup, type TokenStore } from "../../auth/token-store.ts";
import { isAcceptedToken, type TokenCache, type TokenInfo } from "../../auth/token-cache.ts";
import type { TokenLocks } from "../../auth/token-locks.ts";
import type { RouteMatch } from "../context.ts";
import {
  NOBODY,
  type AuthenticatedClient,
  type CallAccess,
  type Credentials,
  type ResolvedCredentials,
  type ClientToken,
} from "../client.ts";
import { earlyScope } from "../calls/request-scope.ts";
import { type RouteCandidates, withPathValues } from "./match-route.ts";
import { type ReadJson, sentObject } from "../request.ts";

export interface TokenDependencies {
  readonly tokens: Pick<TokenCache, "get" | "wasAccepted">;
  readonly tokenLocks: TokenLocks;
  readonly tokenStore: Pick<TokenStore, "find" | "findReplacement">;
}

const noReplacement = async (): Promise<boolean> => false;

/** A client without its token: an invalid token must not keep it from a public route. */
const ANONYMOUS: ResolvedCredentials = {
  credentials: NOBODY,
  issued: undefined,
  refreshAfter401: noReplacement,
};

/** Replaces a token that the gateway issued, or has another one for, with v4's. @throws {TokenUnavailableError} if it must be refreshed first */
async function resolveCredentials(
  credentials: Credentials,
  tokenStore: TokenDependencies["tokenStore"],
): Promise<ResolvedCredentials> {
  const { hash, token, upstream } = credentials;
  if (upstream) return { credentials: upstream, issued: undefined, refreshAfter401: noReplacement };
  if (hash === undefined || token === undefined)
    return { credentials, issued: undefined, refreshAfter401: noReplacement };
  const issued = await tokenStore.find(hash, token);
  return issued === undefined || issued === "unknown"
    ? { credentials, issued, refreshAfter401: noReplacement }
    : withIssued({ hash, token }, issued, tokenStore);
}

/** The credentials of a token that the gateway issued. */
function withIssued(
  { hash, token }: { readonly hash: string; readonly token: string },
  issued: Exclude<TokenLookup, "unknown" | undefined>,
  tokenStore: TokenDependencies["tokenStore"],
): ResolvedCredentials {
  let replacing: Promise<void> | undefined;
  const resolved: { -readonly [K in keyof ResolvedCredentials]: ResolvedCredentials[K] } = {
    credentials: { token: issued.token, hash: issued.hash },
    issued,
    async refreshAfter401(rejected) {
      await (replacing ??= replace());
      return resolved.credentials.hash !== rejected.hash;
    },
  };
  async function replace(): Promise<void> {
    const current = resolved.credentials.hash ?? "";
    const replacement = await tokenStore.findReplacement(hash, token, current);
    if (!replacement) return;
    resolved.credentials = { token: replacement.token, hash: replacement.hash };
    resolved.issued = replacement;
  }
  return resolved;
}

/** Like `resolveCredentials`, for a public route: a token that is invalid or can't be resolved is ignored. */
async function resolveForPublicRoute(
  { credentials, tokenInfo }: AuthenticatedClient,
  tokenStore: TokenDependencies["tokenStore"],
): Promise<ResolvedCredentials> {
  if (tokenInfo?.refused) return ANONYMOUS;
  let resolved: ResolvedCredentials;
  try {
    resolved = await resolveCredentials(credentials, tokenStore);
  } catch {
    return ANONYMOUS;
  }
  return typeof resolved.issued === "object" && resolved.issued.isRevoked ? ANONYMOUS : resolved;
}

/** How long a request waits until another one has tested the token: v4 may be slow for another reason. */
const LONGEST_WAIT_MS = 2000;

/**
 * Single flight for an unknown token: one request at a time calls v4 with it, the others wait for what it learns. The
 * request that holds the lock may still be sending its body; no one waits for it longer than for a slow v4.
 *
 * @returns the release of the lock for the request that gets it; else what is known after the wait
 */
async function waitForTokenInfo(
  hash: string,
  { tokens, tokenLocks }: TokenDependencies,
): Promise<{ readonly info?: TokenInfo | undefined; readonly release?: () => void }> {
  let deadline: Promise<boolean> | undefined;
  for (;;) {
    const lock = tokenLocks.acquire(hash);
    if (typeof lock === "function") return { release: lock };
    deadline ??= wait(LONGEST_WAIT_MS, true, { ref: false });
    const isLate = await Promise.race([lock.then(() => false), deadline]);
    const info = await tokens.get(hash);
    if (info !== undefined || isLate) return { info };
  }
}

/**
 * Finds the token that v4 is called with, and what is known about it. Nothing is known about a new token: then this
 * request calls v4 first, or waits for the one that does.
 *
 * @throws {TokenUnavailableError} where the token must be refreshed and cannot be now
 */
export async function resolveToken(
  client: AuthenticatedClient,
  candidates: HttpError | readonly CallAccess[],
  dependencies: TokenDependencies,
): Promise<ClientToken> {
  const { tokens, tokenStore } = dependencies;
  const matches = candidates instanceof HttpError ? [] : candidates;
  const isPublic = matches.length > 0 && matches.every(({ route }) => route.access === "public");
  const resolved = await (isPublic
    ? resolveForPublicRoute(client, tokenStore)
    : resolveCredentials(client.credentials, tokenStore));
  const currentInfo = () => findTokenInfo(resolved.credentials, tokens);
  const isOwn = resolved.credentials.hash === client.credentials.hash;
  let info = isOwn ? client.tokenInfo : await currentInfo();
  let release: (() => void) | undefined;

  /** Another process may have refreshed a token that this one knows as rejected. */
  async function refreshIfRejected(): Promise<void> {
    if (info?.refused && (await resolved.refreshAfter401(resolved.credentials))) info = await currentInfo();
  }

  if (info?.refused) await refreshIfRejected();
  const { hash } = resolved.credentials;
  if (info === undefined && hash !== undefined && matches.length > 0 && !isPublic) {
    ({ info, release } = await waitForTokenInfo(hash, dependencies));
    await refreshIfRejected();
  }
  const isIssued = typeof resolved.issued === "object" && !resolved.issued.isRevoked;
  const isGatewayKnown = isIssued || client.credentials.upstream !== undefined;
  const isAccepted = isGatewayKnown || isAcceptedToken(resolved.credentials.hash, info, tokens);
  return { resolved, info, isAccepted, release };
}

const findTokenInfo = (
  { hash }: Credentials,
  tokens: Pick<TokenCache, "get">,
): TokenInfo | undefined | Promise<TokenInfo | undefined> =>
  hash === undefined ? undefined : tokens.get(hash);

const effectiveGrants = (issued: TokenLookup, info: TokenInfo | undefined): Grants | undefined =>
  typeof issued === "object" ? issued.levels : info?.refused ? undefined : info?.grants;

/** What a token may do by all that is known now; undefined while only v4 knows. */
export async function currentGrants(
  { credentials, issued }: ResolvedCredentials,
  tokens: Pick<TokenCache, "get">,
): Promise<Grants | undefined> {
  return effectiveGrants(issued, await findTokenInfo(credentials, tokens));
}

/** A token without scopes may read its user's name and e-mail, and nothing else. */
export const hasNoScopes = (grants: Grants): boolean => grants !== "all" && grants.size === 0;

/** A route that the token may use, or the error of one that it must not. */
export interface RouteAccess {
  readonly match: RouteMatch;
  readonly error: unknown;
}

/**
 * Authorizes a request, by facts alone: the levels that the gateway's own OAuth exchange gave, else v4's scopes. While
 * nothing is known, v4 decides. A public route is public, whatever credentials come with the request.
 *
 * @returns a verdict for each candidate; at least one of them is permitted
 * @throws {HttpError} 400 for an invalid path, 404 for a path outside of alpha, 401 for malformed credentials, 404 for
 *   an unknown route, 401 for a missing token or one that v4 rejected a short while ago, 403 where the token's level
 *   is too low. {TokenUnavailableError} where it is not known whether the gateway issued the token.
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
    error:
      match.route.access === "public" ? undefined : findAccessError(credentials, token, match.route, scopes),
  }));
  if (verdicts.some(({ error }) => error === undefined)) return verdicts;
  throw verdicts[0]?.error ?? credentials.error ?? new HttpError(404, "Not found");
}

const isRead = ({ source }: Route): boolean => !("call" in source) || source.call.method === "GET";

/** Why a token must not use a route; undefined where it may. */
function findAccessError(
  credentials: Credentials,
  { resolved, info }: ClientToken,
  route: Route,
  scopes: Scopes,
): unknown {
  const { access } = route;
  const { issued } = resolved;
  if (credentials.error) return credentials.error;
  if (resolved.credentials.hash === undefined || access === "public")
    return new HttpError(401, "An access token is required.");
  if (info?.refused || (typeof issued === "object" && issued.isRevoked))
    return new HttpError(401, "The access token is not valid.");
  if (issued === "unknown") {
    // The gateway may have issued the token with any level. Only the lowest one passes: v4 has none below it.
    const isLowest = typeof access === "string" ? isRead(route) : access.level === 0;
    if (isLowest) return undefined;
    return new TokenUnavailableError("the state store does not say what a token may do");
  }
  const grants = effectiveGrants(issued, info);
  const isForbidden =
    grants !== undefined &&
    (hasNoScopes(grants) ? route.withoutScopes === undefined : !scopes.permits(grants, access));
  return isForbidden ? new HttpError(403, "The access token does not grant this.") : undefined;
}

/**
 * Selects the route that the body asks for, among several of one path. A body that can't be read asks for none of them, and
 * is reported, whether the selected route reads it or not.
 *
 * @throws {HttpError} 404 where the body asks for none of them; the error of a route that the token must not use; see
 *   {@link ReadJson}
 */
export async function selectRoute(
  verdicts: readonly RouteAccess[],
  readJson: ReadJson,
  head: ClientHead,
): Promise<RouteMatch> {
  const verdict = verdicts.length > 1 ? await selectByBody(verdicts, readJson, head) : verdicts[0];
  if (!verdict) throw new HttpError(404, "Not found");
  if (verdict.error !== undefined) throw verdict.error;
  if (verdicts.length > 1) readJson();
  return verdict.match;
}

async function selectByBody(
  verdicts: readonly RouteAccess[],
  readJson: ReadJson,
  head: ClientHead,
): Promise<RouteAccess | undefined> {
  for (const verdict of verdicts) {
    const { match } = verdict;
    const { matchesBody } = match.route;
    if (!matchesBody) return verdict;
    const body = bodyFor(match.route, readJson);
    const query = match.route.query.withDefaults(head.query);
    const written = await withPathValues(match, {}).catch(ignoreUnknownValue(match));
    if (await matchesBody(body, earlyScope({ ...head, query, match: written }, body))) return verdict;
  }
  return undefined;
}

/** A path value that the upstream can't have is the error of its route, if that is selected. */
const ignoreUnknownValue =
  (match: RouteMatch) =>
  (error: unknown): RouteMatch => {
    if (error instanceof HttpError) return match;
    throw error;
  };

/** The client's object for the condition of a route. */
function bodyFor({ body }: Route, readJson: ReadJson): unknown {
  try {
    return sentObject(body, readJson);
  } catch {
    // The route reads it again, and its error is the response.
    return {};
  }
}
