/** IP addresses as values of paths and expressions: one address has many spellings, v4 is asked in one. */
import { isIPv4, isIPv6 } from "node:net";

/**
 * An IP address in its shortest spelling; undefined for everything else, addresses with a zone too.
 *
 * That is RFC 5952 4 in general. Services also write `::` for a single group of zeros, and know the address by it.
 */
export function shortestAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const plain = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  return text.length < plain.length ? text.toLowerCase() : plain;
}

/** The eight groups of an IPv6 address in its shortest spelling. */
function groupsOf(address: string): number[] {
  const [before = [], after = []] = address
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/**
 * The first address of the IPv6 network that an address lies in (RFC 4291 2.3).
 *
 * @param prefix Length of the network's part, 0 to 128.
 * @returns undefined for what is no IPv6 address and length.
 */
export function networkAddress(address: unknown, prefix: unknown): string | undefined {
  const shortest = typeof address === "string" ? shortestAddress(address) : undefined;
  if (!shortest?.includes(":") || typeof prefix !== "number" || !(prefix >= 0 && prefix <= 128))
    return undefined;
  const kept = groupsOf(shortest).map((group, index) => {
    const bits = Math.min(16, Math.max(0, prefix - 16 * index));
    return (group & (0xffff << (16 - bits)) & 0xffff).toString(16);
  });
  return shortestAddress(kept.join(":"));
}
