/** Parameters of an authentication scheme, such as `token="KEY", nonce="x"` (RFC 9110, section 11.2). */

/**
 * Matches a name, `=`, and a word or a quoted text. Each part may be missing, so that the expression matches everywhere
 * and never reads a text twice.
 */
const PARAMETER = /([\w!#$%&'*+.^`|~-]*)[\t ]*(=?)[\t ]*(?:"((?:[^"\\]|\\.)*)("?)|([^\s,;"]*))/gy;
const SEPARATOR = /[\t ]*[,;]?[\t ]*/gy;

/** Returns the user and the password of Basic credentials (RFC 7617); undefined if there is no colon. */
export function readBasic(encoded: string): { decoded: string; user: string; password: string } | undefined {
  const decoded = Buffer.from(encoded, "base64").toString();
  const colon = decoded.indexOf(":");
  if (colon < 0) return undefined;
  return { decoded, user: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** Returns the values of a parameter in a text of parameters. Undefined for any other text. */
export function parameterValues(text: string, wanted: string): string[] | undefined {
  const values: string[] = [];
  let at = 0;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const [, name, equals, quoted, endQuote, word = ""] = PARAMETER.exec(text) ?? [];
    if (!name || !equals || endQuote === "") return undefined;
    if (name.toLowerCase() === wanted) values.push(quoted?.replaceAll(/\\(.)/g, "$1") ?? word);
    SEPARATOR.lastIndex = PARAMETER.lastIndex;
    SEPARATOR.exec(text);
    at = SEPARATOR.lastIndex;
  }
  return values;
}
