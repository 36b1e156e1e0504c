import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import type { IncomingMessage } from "node:http";

const GROUPS = 8;
const OF_NETWORK = 4;

/** An IPv6 address in brackets, and an IPv4 address, each with or without a port. */
const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/;

/** An IPv4 address in an IPv6 address (RFC 4291 2.5.5.2), in the spelling of the URL standard. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * An IP address in its one plain spelling: without a port, brackets and a zone; an IPv4 address that is mapped into
 * IPv6 as IPv4. A port or a spelling would else make another client of the same one.
 *
 * @returns undefined for what is no IP address
 */
export function normalizeAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [, inBrackets, withPort] = WITH_PORT.exec(text) ?? [];
  const [address = ""] = (inBrackets ?? withPort ?? text).split("%", 1);
  if (!isIPv6(address)) return isIPv4(address) ? address : undefined;
  const shortest = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(shortest) ?? [];
  if (high === undefined || low === undefined) return shortest;
  const bytes = [high, low].map((group) => Number.parseInt(group, 16));
  return bytes.flatMap((group) => [group >> 8, group & 0xff]).join(".");
}

function addressList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    const plain = normalizeAddress(address) ?? address;
    const family = isIP(plain) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(plain, family);
    else list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

/**
 * Makes the function that tells a client's address: that of the connection, and where that is a trusted proxy, the
 * last address of `X-Forwarded-For` that no trusted proxy has. An entry that is no address ends the search: the
 * proxy that wrote it counts then.
 *
 * @param trusted addresses and networks (`10.0.0.0/8`) of proxies
 */
export function clientAddresses(trusted: readonly string[]): (request: IncomingMessage) => string {
  const proxies = addressList(trusted);
  const isProxy = (address: string): boolean => proxies.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return ({ socket, headers }) => {
    let address = normalizeAddress(socket.remoteAddress ?? "") ?? "";
    if (trusted.length === 0 || address === "") return address;
    let rest = String(headers["x-forwarded-for"] ?? "");
    while (rest !== "" && isProxy(address)) {
      const comma = rest.lastIndexOf(",");
      const before = normalizeAddress(rest.slice(comma + 1).trim());
      if (before === undefined) return address;
      address = before;
      rest = rest.slice(0, Math.max(0, comma));
    }
    return address;
  };
}

/**
 * What is counted as one client address: an IPv4 address, and of an IPv6 address its first 64 bits, since the
 * rest is its owner's to choose (RFC 4291 2.5.4).
 */
export function addressNetwork(address: string): string {
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

/**
 * The networks that one client address stands in, the smallest first: of an IPv4 address itself, of an IPv6 address
 * its /64, and the /56 and /48 that providers give to a customer (RFC 6177).
 */
export function addressNetworks(address: string): readonly string[] {
  const network = addressNetwork(address);
  if (!network.endsWith("::/64")) return [network];
  const [one, two, three, four = ""] = network.replace("::/64", "").split(":");
  const of56 = (Number.parseInt(four, 16) & 0xff00).toString(16);
  return [network, `${one}:${two}:${three}:${of56}::/56`, `${one}:${two}:${three}::/48`];
}
