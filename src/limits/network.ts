import { isIPv6 } from "node:net";

const GROUPS = 8;
const OF_NETWORK = 4;

/** On a listener of both families an IPv4 client comes in IPv6's clothes (RFC 4291 2.5.5.2). */
export const plainAddress = (address: string): string =>
  address.includes(":") ? address.replace(/^::ffff:(?=\d+\.)/i, "") : address;

/**
 * What is counted as one client address: an IPv4 address, and of an IPv6 address its first 64 bits, since the
 * rest is its owner's to choose (RFC 4291 2.5.4).
 */
export function network(address: string): string {
  if (!isIPv6(address)) return address;
  const [plain = ""] = address.toLowerCase().split("%");
  const [before = "", after] = plain.split("::");
  const groups = (part: string): string[] => part.split(":").filter(Boolean);
  const head = groups(before);
  const tail = groups(after ?? "");
  // An IPv4 address at the end (`64:ff9b::192.0.2.1`) stands for two groups.
  const given = head.length + tail.length + (plain.includes(".") ? 1 : 0);
  const zeros = after === undefined ? [] : Array.from({ length: Math.max(0, GROUPS - given) }, () => "0");
  const all = [...head, ...zeros, ...tail].slice(0, OF_NETWORK);
  return `${all.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}
