/** Names of this machine that no web page can point at another one. */
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Decides which `Host` headers a listener accepts. A web page can point its own domain at 127.0.0.1 and read a loopback
 * listener through the browser of a visitor (DNS rebinding): the header has that domain. On other addresses the operator
 * decides which names are used.
 *
 * @param bound The address to which the listener is bound.
 * @param others Other names that clients may use, of a proxy on this machine that passes `Host` on.
 */
export function createHostCheck(
  bound: string | undefined,
  others: readonly string[] = [],
): (host: string | undefined) => boolean {
  const address = bound?.includes(":") && !bound.startsWith("[") ? `[${bound}]` : bound;
  if (address === undefined || !(LOOPBACK.includes(address) || address.startsWith("127."))) return () => true;
  const names = new Set([...LOOPBACK, address, ...others]);
  return (host = "") => names.has(host.toLowerCase().replace(/:\d+$/, ""));
}
