/** The browser's headers about the page that makes it send a request. */

/** Methods that change nothing (RFC 9110 9.2.1). */
export const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Values of `Sec-Fetch-Site` for a page of the same origin, and for a request without a page. */
export const SAME_SITES = new Set(["same-origin", "none"]);

/** Returns the host of an origin. `null`, which sandboxed pages send, has none, and neither has `file://`. */
export function hostOf(origin: string): string | undefined {
  return (URL.canParse(origin) && new URL(origin).host) || undefined;
}
