import { HttpError } from "../../dialect/http-error.ts";
import { type TokenCache, tokenHash } from "../../auth/token-cache.ts";
import {
  hasFragment,
  NOBODY,
  type AlphaRequest,
  type AuthenticatedClient,
  type Credentials,
} from "../context.ts";

const MALFORMED = "The Authorization header is malformed.";

/** RFC 9110 11.4: a scheme, spaces, and a token of visible characters. */
const CREDENTIALS = /^([A-Za-z][A-Za-z0-9-]*) +([\x21-\x7e]{1,4096})$/;

/** The scheme of credentials in lower case; undefined where they are missing or malformed. */
export const credentialScheme = (authorization: string | undefined): string | undefined =>
  CREDENTIALS.exec(authorization ?? "")?.[1]?.toLowerCase();

const invalid = (reason: string, status = 401): Credentials => ({
  ...NOBODY,
  error: new HttpError(status, reason),
});

/**
 * Parses the credentials of a request. Two `Authorization` lines are an error: each server on the way could use
 * another one. Errors are returned, not thrown: such a request counts for the rate limit before it is rejected.
 *
 * @param native scheme of the native proxy, where that is on: this request has a path that it does not forward
 * @returns with an error, 401 for malformed credentials and other schemes, 404 for the native proxy's
 */
export function parseCredentials(
  request: AlphaRequest,
  scheme: string | undefined,
  native?: string,
): Credentials {
  if (scheme === undefined) return NOBODY;
  const lines = request.headers["authorization"] ?? [];
  if (lines.length > 1) return invalid("There is more than one Authorization header.");
  const [line] = lines;
  if (line === undefined || line.trim() === "") return NOBODY;
  const [, given, token] = CREDENTIALS.exec(line.trim()) ?? [];
  if (token !== undefined && native !== undefined && given?.toLowerCase() === native.toLowerCase())
    return invalid("Not found", 404);
  if (token === undefined || given?.toLowerCase() !== scheme.toLowerCase()) return invalid(MALFORMED);
  return { token, hash: tokenHash(token) };
}

/** Parses the credentials, and looks the token up in the cache. Returns a promise only where the cache does. */
export function authenticate(
  request: AlphaRequest,
  schemes: { readonly alpha: string | undefined; readonly native: string | undefined },
  tokens: Pick<TokenCache, "get">,
): AuthenticatedClient | Promise<AuthenticatedClient> {
  const credentials = parseCredentials(request, schemes.alpha, schemes.native);
  const tokenInfo = credentials.hash === undefined ? undefined : tokens.get(credentials.hash);
  return tokenInfo instanceof Promise
    ? tokenInfo.then((found) => ({ credentials, tokenInfo: found }))
    : { credentials, tokenInfo };
}

/** Scheme of the credentials, and prefix of the paths, of requests that are forwarded without translation. */
export interface NativeRequests {
  readonly scheme: string;
  readonly prefix: string;
}

/**
 * A path that becomes another one once its dot segments are resolved. Some server on the way could resolve them after
 * decoding, with backslashes read as slashes, or with `;parameters` removed.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:(?:;|%3b)[^/\\]*)?(?:[/\\]|%2f|%5c|$)/i;

/**
 * Whether the native proxy forwards a request. The scheme decides, never the path alone: both dialects use one prefix.
 * A target with a fragment is invalid (RFC 9112 3.2): servers disagree on where its path ends.
 */
export function isNative(
  { headers, path, query }: AlphaRequest,
  { scheme, prefix }: NativeRequests,
): boolean {
  const lines = headers["authorization"] ?? [];
  return (
    lines.length === 1 &&
    credentialScheme(lines[0]) === scheme.toLowerCase() &&
    path.startsWith(`${prefix}/`) &&
    !DOT_SEGMENT.test(path) &&
    !hasFragment({ path, query })
  );
}
