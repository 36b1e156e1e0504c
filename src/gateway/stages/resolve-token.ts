/** Selects the token for v4, and finds the known facts about it. */
import { setTimeout as wait } from "node:timers/promises";
import { HttpError } from "../../pack/index.ts";
import { judge } from "../auth/permissions.ts";
import type { TokenLookup, TokenStore } from "../auth/token-store.ts";
import { isAcceptedToken, type TokenCache, type TokenInfo } from "../auth/token-cache.ts";
import type { TokenLocks } from "../auth/token-locks.ts";
import {
  NOBODY,
  type AuthenticatedClient,
  type CallAccess,
  type Credentials,
  type ResolvedCredentials,
  type ClientToken,
} from "../request/client.ts";

export interface TokenDependencies {
  readonly tokens: Pick<TokenCache, "get" | "wasAccepted">;
  readonly tokenLocks: TokenLocks;
  readonly tokenStore: Pick<TokenStore, "find" | "findReplacement">;
}

const noReplacement = async (): Promise<boolean> => false;

/** A client without its token: an invalid token must not prevent access to a public route. */
const ANONYMOUS: ResolvedCredentials = {
  credentials: NOBODY,
  issued: undefined,
  refreshAfter401: noReplacement,
};

/**
 * Replaces a token that the gateway issued, or for which it has an upstream token, with v4's token. @throws
 * {TokenUnavailableError} if the token must be refreshed first
 */
async function resolveCredentials(
  credentials: Credentials,
  tokenStore: TokenDependencies["tokenStore"],
): Promise<ResolvedCredentials> {
  const { hash, token, upstream } = credentials;
  if (upstream || hash === undefined || token === undefined)
    return { credentials: upstream ?? credentials, issued: undefined, refreshAfter401: noReplacement };
  const issued = await tokenStore.find(hash, token);
  return typeof issued === "object"
    ? withIssued({ hash, token }, issued, tokenStore)
    : { credentials, issued, refreshAfter401: noReplacement };
}

/** Returns the credentials of a token that the gateway issued. */
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
  return judge(resolved.issued) === "invalid" ? ANONYMOUS : resolved;
}

/** Maximum time in milliseconds that a request waits for the test of its token: v4 may be slow for a different reason. */
const LONGEST_WAIT_MS = 2000;

/**
 * Single flight for an unknown token: one request at a time calls v4 with it, and other requests wait for the result.
 * The request that holds the lock may still be sending its body, so the wait is limited.
 *
 * @returns the release function for the request that gets the lock, otherwise the known facts after the wait
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
 * Finds the token for v4, and the known facts about it. With an unknown token, this request calls v4 first, or waits
 * for the request that does.
 *
 * @throws {TokenUnavailableError} if the token must be refreshed but can't be refreshed now
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

  /** Refreshes a token that this process has stored as rejected, because another process may have refreshed it. */
  async function refreshIfRejected(): Promise<void> {
    if (info?.refused && (await resolved.refreshAfter401(resolved.credentials))) info = await currentInfo();
  }

  if (info?.refused) await refreshIfRejected();
  const { hash } = resolved.credentials;
  if (info === undefined && hash !== undefined && matches.length > 0 && !isPublic) {
    ({ info, release } = await waitForTokenInfo(hash, dependencies));
    await refreshIfRejected();
  }
  const isGatewayKnown = judge(resolved.issued) === "issued" || client.credentials.upstream !== undefined;
  const isAccepted = isGatewayKnown || isAcceptedToken(resolved.credentials.hash, info, tokens);
  return { resolved, info, isAccepted, release };
}

/** Returns the known facts about a token. Undefined if not found, or if there is no token. */
export const findTokenInfo = (
  { hash }: Credentials,
  tokens: Pick<TokenCache, "get">,
): TokenInfo | undefined | Promise<TokenInfo | undefined> =>
  hash === undefined ? undefined : tokens.get(hash);
