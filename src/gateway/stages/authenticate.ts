import {
  credentialScheme,
  hasDotSegment,
  HttpError,
  type Pack,
  type TokenCarrier,
} from "../../pack/index.ts";
import { INVALID_TOKEN } from "../auth/permissions.ts";
import { isAcceptedToken, tokenHash, type TokenCache } from "../auth/token-cache.ts";
import type { UpstreamTokens } from "../auth/upstream-tokens.ts";
import { NOBODY, type AuthenticatedClient, type Credentials } from "../request/client.ts";
import { hasFragment, type AlphaRequest } from "../request/request.ts";

const invalid = (reason: string, status = 401): Credentials => ({
  ...NOBODY,
  error: new HttpError(status, reason),
});

/** How the credentials of requests are read. */
interface CredentialsOptions {
  readonly credentials: Pack["credentials"];
  /** Scheme of the native proxy, if it is on: a request with this scheme has a path that the proxy does not forward. */
  readonly nativeScheme: string | undefined;
  /** The listed v4 tokens; undefined if the clients' tokens are sent to v4. */
  readonly upstreamTokens: UpstreamTokens | undefined;
}

/** The credentials of a request. */
export type ReadCredentials = (request: TokenCarrier) => Credentials;

/**
 * Creates the reader of credentials. Errors are returned, not thrown: such a request is counted for the rate limit
 * before it is rejected.
 *
 * @returns a reader. Its errors are 401 for malformed credentials, other schemes and unknown tokens, 404 for
 *   credentials of the native proxy
 */
export function createCredentialsReader({
  credentials: { client, upstream },
  nativeScheme,
  upstreamTokens,
}: CredentialsOptions): ReadCredentials {
  if (!client) return () => NOBODY;
  const native = nativeScheme?.toLowerCase();

  function isForNativeProxy({ headers }: TokenCarrier): boolean {
    const [line, ...others] = headers["authorization"] ?? [];
    return native !== undefined && others.length === 0 && credentialScheme(line?.trim()) === native;
  }

  return function readCredentials(request) {
    const found = client.read(request);
    if (!found) return NOBODY;
    if ("problem" in found)
      return isForNativeProxy(request) ? invalid("Not found", 404) : invalid(found.problem);
    const { token } = found;
    const hash = tokenHash(token);
    if (!upstreamTokens)
      return !upstream || upstream.accepts(token) ? { token, hash } : invalid(INVALID_TOKEN);
    const upstreamToken = upstreamTokens.find(hash);
    return upstreamToken ? { token, hash, upstream: upstreamToken } : invalid(INVALID_TOKEN);
  };
}

/** Reads the credentials, and looks up the token in the cache. */
export async function authenticate(
  request: AlphaRequest,
  readCredentials: ReadCredentials,
  tokens: Pick<TokenCache, "get" | "wasAccepted">,
): Promise<AuthenticatedClient> {
  const credentials = readCredentials(request);
  const { hash, upstream } = credentials;
  const tokenInfo = hash === undefined ? undefined : await tokens.get(hash);
  const isAccepted = upstream !== undefined || isAcceptedToken(hash, tokenInfo, tokens);
  return { credentials, tokenInfo, isAccepted };
}

/**
 * Whether the native proxy forwards a request. The path is not sufficient, because both dialects use one prefix: the
 * scheme decides. A target with a fragment is invalid (RFC 9112 3.2), because servers interpret the end of its path
 * differently.
 */
export function isNative(
  { headers, path, query }: AlphaRequest,
  { nativeScheme, dialect }: Pick<Pack, "nativeScheme" | "dialect">,
): boolean {
  const lines = headers["authorization"] ?? [];
  return (
    nativeScheme !== undefined &&
    lines.length === 1 &&
    credentialScheme(lines[0]) === nativeScheme.toLowerCase() &&
    path.startsWith(`${dialect.upstream.base_path}/`) &&
    !hasDotSegment(path) &&
    !hasFragment({ path, query })
  );
}
