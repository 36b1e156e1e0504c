/**
 * The networks of client addresses. The owner of a network chooses the last bits of an address, so one client may use
 * many addresses.
 */
import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

const partsOf = (address: string): readonly number[] => ipaddr.IPv6.parse(address).parts;

/** The network of an IPv6 address, as its first groups and its length: `2001:db8:1:2::/64`. */
function networkOf(parts: readonly number[], bits: number): string {
  const groups = parts
    .slice(0, Math.ceil(bits / 16))
    .map((group, index) => group & (0xffff << Math.max(0, 16 * (index + 1) - bits)));
  return `${groups.map((group) => group.toString(16)).join(":")}::/${bits}`;
}

const hasNetworks = (address: string): boolean => address.includes(":") && isIPv6(address);

/** The network of an address: an IPv4 address itself, and the first bits of an IPv6 address. */
const networkWith = (address: string, bits: number): string =>
  hasNetworks(address) ? networkOf(partsOf(address), bits) : address;

/**
 * The network of a client: an IPv4 address, and the first 48 bits of an IPv6 address. The owner of an IPv6 address chooses
 * its last 64 bits (RFC 4291 2.5.4), and a provider may give a customer a whole /48 (RFC 6177).
 */
export const addressNetwork = (address: string): string => networkWith(address, 48);

/**
 * Returns the networks that contain a client address, the smallest first: an IPv4 address itself; the /64 of an IPv6
 * address, and the /56 and /48 that providers assign to a customer (RFC 6177).
 */
export function addressNetworks(address: string): readonly string[] {
  if (!hasNetworks(address)) return [address];
  const parts = partsOf(address);
  return [64, 56, 48].map((bits) => networkOf(parts, bits));
}
