/** Where a browser is sent back to (document 2, Authentication). */

/** Undefined for what is no absolute URL, and for one with a fragment or credentials (RFC 6749 3.1.2). */
function normalizeUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return !url || url.hash !== "" || text.includes("#") || url.username !== "" || url.password !== ""
    ? undefined
    : url.href;
}

/**
 * The address asked for where the registered one is its beginning, else the registered one. The beginning ends
 * at a boundary of the path, and both are compared after `..` and its like are followed: as plain text
 * `https://app.example` would also let in `https://app.example.evil.net`, and `/callback` also `/callback/../x`.
 */
export function resolveRedirectUri(registered: string, asked: string | undefined): string {
  const wanted = asked === undefined ? undefined : normalizeUrl(asked);
  const own = normalizeUrl(registered);
  if (wanted === undefined || own === undefined || !wanted.startsWith(own)) return registered;
  const [next] = wanted.slice(own.length);
  const boundaries = own.includes("?") ? "&" : "/?";
  return next === undefined || boundaries.includes(next) || (own.endsWith("/") && !own.includes("?"))
    ? wanted
    : registered;
}

/**
 * Adds parameters to an address.
 *
 * @param state as it came, still encoded: it goes back byte for byte.
 */
export function addParameters(
  address: string,
  parameters: Readonly<Record<string, string>>,
  state: string | undefined,
): string {
  const pairs = [
    ...Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
    ...(state === undefined ? [] : [`state=${state}`]),
  ];
  return `${address}${address.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}
