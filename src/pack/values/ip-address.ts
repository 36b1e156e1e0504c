/** IP addresses as values of paths and expressions: an address has many spellings, and only one is sent to v4. */
import { isIP, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Spells an IP address in its shortest form (RFC 5952 4).
 *
 * Exception: a spelling that is even shorter is kept in lower case. Some services write `::` for a single group of
 * zeros, and only find the address by that spelling.
 *
 * @returns undefined if the text is not an IP address, or contains a zone.
 */
export function shortestAddress(text: string): string | undefined {
  // ipaddr.js also accepts `127.1` and octal numbers, which other programs interpret differently.
  if (!isIP(text) || text.includes("%")) return undefined;
  const shortest = ipaddr.parse(text).toString();
  return text.length < shortest.length ? text.toLowerCase() : shortest;
}

/**
 * Returns the first address of the IPv6 network that contains an address (RFC 4291 2.3).
 *
 * @param prefix Length of the network's part, 0 to 128 bits.
 * @returns undefined if the arguments are not an IPv6 address and such a length.
 */
export function networkAddress(address: unknown, prefix: unknown): string | undefined {
  if (typeof address !== "string" || !isIPv6(address) || address.includes("%")) return undefined;
  if (!Number.isInteger(prefix) || Number(prefix) < 0 || Number(prefix) > 128) return undefined;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${String(prefix)}`).toString();
}
