import { BlockList, isIP, isIPv4, isIPv6, type Socket } from "node:net";
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import type { Log } from "../../base/index.ts";

/** Matches an IPv6 address in brackets, and an IPv4 address, each with or without a port. */
const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/;

/**
 * Normalizes an IP address. It removes a port, brackets and a zone, and uses the shortest spelling. An IPv4 address
 * that is mapped into IPv6 (RFC 4291 2.5.5.2) becomes IPv4. Otherwise, a client could be counted several times by its
 * port or spelling.
 *
 * @returns undefined if the text is not an IP address.
 */
export function normalizeAddress(text: string): string | undefined {
  // A socket that listens on `::` reports IPv4 clients in this form. This shortcut is twenty times faster.
  const plain = text.startsWith("::ffff:") ? text.slice("::ffff:".length) : text;
  if (isIPv4(plain)) return plain;
  const [, inBrackets, withPort] = WITH_PORT.exec(text) ?? [];
  const [address = ""] = (inBrackets ?? withPort ?? text).split("%", 1);
  // ipaddr.js also accepts `127.1` and octal numbers, which other programs interpret differently.
  return isIP(address) ? ipaddr.process(address).toString() : undefined;
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIPv6(address) ? "ipv6" : "ipv4");

/**
 * Creates the test whether an address is in a list. Node's own list is native code, which matters because it runs for
 * each request behind a proxy.
 */
function createAddressTest(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    if (prefix !== undefined) list.addSubnet(address, Number(prefix), familyOf(address));
    else {
      const normalized = normalizeAddress(address) ?? address;
      list.addAddress(normalized, familyOf(normalized));
    }
  }
  return (address) => list.check(address, familyOf(address));
}

/** Creates the test whether a request comes from a trusted proxy. @param trusted Addresses and networks of proxies. */
export function trustedProxies(
  trusted: readonly string[],
): (request: Pick<IncomingMessage, "socket">) => boolean {
  const isProxy = createAddressTest(trusted);
  return ({ socket }) => {
    const address = connectionAddress(socket);
    return address !== "" && isProxy(address);
  };
}

/** The member of a socket that contains the address of its client. */
const ADDRESS = Symbol("address of the connection");

/** Returns the address of a connection, normalized once for all its requests. */
export const connectionAddress = (socket: Socket & { [ADDRESS]?: string }): string =>
  (socket[ADDRESS] ??= normalizeAddress(socket.remoteAddress ?? "") ?? "");

/** Called with the address of a connection whose forwarding header is ignored, because the proxy is not trusted. */
export type OnUntrustedProxy = (address: string) => void;

/**
 * Creates the function that finds a client's address. It is the address of the connection or, if that is a trusted
 * proxy, the last address of `X-Forwarded-For` that is not a trusted proxy's. An entry that is not an address ends the
 * search: the proxy that wrote it is then treated as the client.
 *
 * @param trusted Addresses and networks (`10.0.0.0/8`) of proxies.
 */
export function clientAddresses(
  trusted: readonly string[],
  onUntrustedProxy: OnUntrustedProxy = () => {},
): (request: IncomingMessage) => string {
  const isProxy = createAddressTest(trusted);
  return ({ socket, headers }) => {
    let address = connectionAddress(socket);
    let rest = String(headers["x-forwarded-for"] ?? "");
    const isForwarded = rest !== "" || headers.forwarded !== undefined;
    if (address === "" || !isForwarded) return address;
    if (!isProxy(address)) {
      onUntrustedProxy(address);
      return address;
    }
    while (rest !== "" && isProxy(address)) {
      const comma = rest.lastIndexOf(",");
      const previous = normalizeAddress(rest.slice(comma + 1).trim());
      if (previous === undefined) return address;
      address = previous;
      rest = rest.slice(0, Math.max(0, comma));
    }
    return address;
  };
}

/** Warns about the first untrusted proxy. Any client can send such a header, so a process only logs one line. */
export function createProxyWarning(log: Log): OnUntrustedProxy {
  let hasWarned = false;
  return function warnOfUntrustedProxy(address) {
    if (hasWarned) return;
    hasWarned = true;
    log.warn(
      { code: "AG_PROXY_NOT_TRUSTED", address },
      "X-Forwarded-For or Forwarded came from an address that is not in TRUST_PROXY, and has no effect: " +
        "all clients behind this address share one rate limit. If it is your proxy, set TRUST_PROXY to its address",
    );
  };
}
