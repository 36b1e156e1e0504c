/** The hosts and origins in a request: the page that caused the request, and the listener. */
import { isLoopback } from "../../base/index.ts";

/** Methods without side effects (RFC 9110 9.2.1). */
export const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Methods that read, and whose requests have no body. */
export const READ_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Values of `Sec-Fetch-Site` for a page of the same origin, and for a request without a page. */
export const SAME_SITES = new Set(["same-origin", "none"]);

/** Returns the host of an origin. Undefined for `null`, which sandboxed pages send, and for `file://`. */
export function hostOf(origin: string): string | undefined {
  return (URL.canParse(origin) && new URL(origin).host) || undefined;
}

/** Names of this machine that no DNS record can assign to a different machine. */
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Tells whether a request with this `Host` header is accepted. */
export type HostCheck = (host: string | undefined) => boolean;

/**
 * Decides which `Host` headers a listener accepts. A web page can point its own domain at the address of a listener,
 * and read responses through the browser of a visitor (DNS rebinding). The header then contains that domain.
 *
 * @param bound The address to which the listener is bound.
 * @param others Other names that clients may use.
 * @returns undefined if every name is accepted, because only the operator knows the names of an address that is not
 *   loopback.
 */
export function createHostCheck(
  bound: string | undefined,
  others: readonly string[] = [],
): HostCheck | undefined {
  const address = bound?.includes(":") && !bound.startsWith("[") ? `[${bound}]` : bound;
  if (!(bound !== undefined && isLoopback(bound)) && others.length === 0) return undefined;
  const names = new Set([...LOOPBACK, ...(address === undefined ? [] : [address]), ...others]);
  return (host = "") => names.has(host.toLowerCase().replace(/:\d+$/, ""));
}
