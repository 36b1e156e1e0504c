import { hasFragment, type AlphaRequest } from "../context.ts";
import { credentialScheme } from "../stages/authenticate.ts";

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
