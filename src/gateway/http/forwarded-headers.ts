/** Headers that the proxies do not forward. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { namesMethod } from "../../pack/index.ts";

/** Hop-by-hop headers (RFC 9110 7.6.1), except those that frame the body. */
export const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
];

/** The headers that are never sent to v4, and the headers of v4 that are never sent to a client. */
const NEVER_TO_V4 = [...HOP_BY_HOP, "cookie", "expect"];
const NEVER_TO_CLIENT = [...HOP_BY_HOP, "server", "set-cookie"];

/** Splits patterns of names, which are separated by spaces. */
const wordsOf = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * These headers make servers assume a client, host, path, method or scheme that differs from the request's own. None of
 * them is sent to v4, because a client could send any value. A list of permitted headers would break clients, which may
 * send v4 any header. This list contains the names that proxies, load balancers and identity providers document. It
 * does not protect a v4 that trusts other names. The gateway is v4's client, as in the alpha pipeline, so it sends no
 * `Via` (docs/internals/decisions.md). `.*-ip` matches names of any vendor: `X-Real-IP`, `Fly-Client-IP`.
 */
const FORWARDING = wordsOf(`
  forwarded via proxy front-end-https x-https x-ssl x-(?:url-)?scheme x-proto(?:col)?
  x-(?:http-|real-)?host(?:-override)? x-request-uri x-http-(?:path-override|destinationurl) x-sendfile-type
  x-rewrite-ur[il] x-script-name (?:.*-)?userinfo (?:.*-)?jwt-assertion
  .*-ip (?:.*-)?(?:client|real|remote|socket|source)ip
`);

/** Headers in which proxies describe a connection, its TLS, and the authenticated user. */
const FORWARDING_PREFIXES = wordsOf(`
  x-forward x-original- x-originating- x-remote- remote- x-ssl- ssl- x-tls- x-mtls- client-cert
  x-client-(?:cert|dn|issuer|s-dn|i-dn|ssl|subject|tls|verify) x-auth-request- x-authentik- x-consumer-
  x-credential- x-vouch- x-pomerium- x-accel- x-ms-token- oidc- (?:x-)?shib- tailscale- x-authenticated-
  x-webauth- x-envoy- cf- cloudfront- fastly- fly- x-azure- x-vercel- x-arr- x-ms-client-principal x-appengine-
  x-goog-(?:authenticated|iap)- x-amzn-(?:mtls|oidc|tls)-
`);

/** Some servers treat underscores, or any other punctuation, in names as hyphens. */
const FORWARDING_NAME = new RegExp(
  `^(?:(?:${FORWARDING.join("|")})$|${FORWARDING_PREFIXES.join("|")})`.replaceAll("-", "[^a-z\\d]"),
);

/** Whether a header may make a server assume a client, host, path, method or scheme that differs from the request's own. */
const isForwardingName = (name: string): boolean => FORWARDING_NAME.test(name) || namesMethod(name);

/** These frame the message and authenticate the client. */
const END_TO_END = new Set(["content-length", "transfer-encoding", "host", "authorization"]);

/**
 * Returns the headers that a `Connection` header makes hop-by-hop. It must not name headers for all recipients (RFC
 * 9110 7.6.1). Otherwise, a client could remove a header that a proxy has added, such as `X-Forwarded-For`.
 */
export const connectionOptions = (connection: string): readonly string[] =>
  connection
    .split(",")
    .map((option) => option.trim().toLowerCase())
    .filter((name) => !END_TO_END.has(name) && !isForwardingName(name));

function removeHeaders(headers: IncomingHttpHeaders, never: readonly string[]): void {
  const { connection } = headers;
  for (const name of never) if (headers[name] !== undefined) delete headers[name];
  if (connection === undefined || connection === "keep-alive") return;
  for (const name of connectionOptions(connection)) delete headers[name];
}

/** Removes the headers of a request that must not be sent to v4, before the proxy copies them (L-17). */
export function cleanRequestHeaders(headers: IncomingHttpHeaders): void {
  removeHeaders(headers, NEVER_TO_V4);
  for (const name in headers) if (isForwardingName(name)) delete headers[name];
  // The gateway frames the body, regardless of the spelling of the client's header.
  if (headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked";
}

/**
 * Removes hop-by-hop headers from a request to the old service. All other headers are kept, because the client's
 * credentials and cookies are meant for the old service.
 *
 * @param address The address of the connection. It is added to `X-Forwarded-For`, and `X-Forwarded-Host` gets the
 *   client's `Host`. Undefined if a trusted proxy has already set them
 */
export function cleanLegacyRequestHeaders(headers: IncomingHttpHeaders, address: string | undefined): void {
  removeHeaders(headers, [...HOP_BY_HOP, "expect"]);
  if (headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked";
  if (address === undefined) return;
  const before = headers["x-forwarded-for"];
  headers["x-forwarded-for"] = [...(before === undefined ? [] : [before].flat()), address].join(", ");
  if (headers.host === undefined) delete headers["x-forwarded-host"];
  else headers["x-forwarded-host"] = headers.host;
}

/** Removes hop-by-hop headers from the old service's response. */
export function cleanLegacyResponseHeaders(headers: IncomingHttpHeaders): void {
  removeHeaders(headers, HOP_BY_HOP);
  delete headers["transfer-encoding"];
}

/** Whether a header of a client's request is forwarded to v4. @param connection The `Connection` header of the request */
export function isForwarded(name: string, connection: string | undefined): boolean {
  const headers: IncomingHttpHeaders = { [name]: "", ...(connection !== undefined && { connection }) };
  cleanRequestHeaders(headers);
  return headers[name] !== undefined;
}

/** Removes the headers of v4's response that must not be sent to clients. */
export function cleanResponseHeaders(headers: IncomingHttpHeaders): void {
  removeHeaders(headers, NEVER_TO_CLIENT);
  // Node has decoded the framing of v4's response, and frames the new response itself.
  delete headers["transfer-encoding"];
}

/**
 * Whether v4's response has a transfer coding that Node has not decoded. It was not requested (RFC 9112 7.4), so the
 * client could not read its bytes.
 */
export const hasUnknownCoding = ({ "transfer-encoding": coding }: IncomingHttpHeaders): boolean =>
  coding !== undefined && !/^(?:chunked|identity)$/i.test(coding.trim());

/** Removes v4's CORS headers. They could allow an origin that the gateway does not allow. */
export function removeCorsHeaders(headers: IncomingHttpHeaders): void {
  for (const name in headers) if (name.startsWith("access-control-")) delete headers[name];
}

const namesIn = (vary: string): string[] => vary.split(",").flatMap((name) => name.trim() || []);

/** Adds names to a `Vary` header. `*` includes all names. */
function addNames(vary: string, added: readonly string[]): string {
  const names = new Set(namesIn(vary.toLowerCase()));
  if (names.has("*")) return vary;
  const missing = added.filter((name) => !names.has(name.toLowerCase()));
  return [...(vary === "" ? [] : [vary]), ...missing].join(", ");
}

const varyOf = (response: ServerResponse): string => [response.getHeader("vary") ?? []].flat().join(", ");

/** Adds these request headers to the `Vary` header of a response. */
export function varyBy(response: ServerResponse, names: readonly string[]): void {
  const vary = addNames(names.join(", "), namesIn(varyOf(response)));
  if (vary !== "") response.setHeader("vary", vary);
}

/** Adds the existing `Vary` header of a response to the upstream's. */
export function addVary(headers: IncomingHttpHeaders, response: ServerResponse): void {
  const own = varyOf(response);
  if (own !== "") headers.vary = addNames(headers.vary ?? "", namesIn(own));
}

/**
 * Prepares headers so that Node sends their bytes unchanged. After a length, Node reads a `Content-Disposition` as
 * UTF-8 and sends it as Latin-1. So the length comes first, and the bytes are encoded once more.
 */
export function forNode(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { "content-length": length, "content-disposition": disposition } = headers;
  if (disposition === undefined || !Number(length)) return headers;
  const encoded = Buffer.from(disposition, "utf8").toString("latin1");
  return { "content-length": length, ...headers, "content-disposition": encoded };
}

/** Sets the given headers, except for values that no server may send. */
export function setHeaders(response: ServerResponse, headers: IncomingHttpHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    try {
      response.setHeader(name, value);
    } catch {
      // A header that no server may send.
    }
  }
}
