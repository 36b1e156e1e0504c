/** Requests whose method is in a header, for clients that can send no other method than GET and POST. */

/** Names of headers with a method, without their separators. */
const HEADER = /^x(?:http)?(?:method|verb)(?:override)?$|^xhttpoverride$/;

/** Whether a header may name another method. CGI, WSGI and PHP read names with underscores as names with hyphens. */
export const namesMethod = (header: string): boolean =>
  header.startsWith("x") && HEADER.test(header.replaceAll(/[^a-z\d]/g, ""));

/** Whether a header of a request names another method than the request's own. */
export function namesAnotherMethod(
  method: string,
  headers: Readonly<Record<string, readonly string[] | undefined>>,
): boolean {
  for (const name in headers)
    if (namesMethod(name) && headers[name]?.join().trim().toUpperCase() !== method) return true;
  return false;
}

/** The methods that a POST may stand for. */
const METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Returns the effective method of a request.
 *
 * @param values All lines of the header. Other requests than a POST do not have it.
 * @returns undefined if the header names no method that a POST may stand for
 */
export function overriddenMethod(method: string, values: readonly string[] | undefined): string | undefined {
  if (method !== "POST" || values === undefined) return method;
  const [value = "", ...others] = values;
  const meant = value.trim().toUpperCase();
  return others.length === 0 && METHODS.has(meant) ? meant : undefined;
}
