/** Requests that contain their method in a header, for clients that can only send GET and POST. */

/** Matches names of headers that contain a method, without their separators. */
const HEADER = /^x(?:http)?(?:method|verb)(?:override)?$|^xhttpoverride$/;

/** Whether a header may contain a method. CGI, WSGI and PHP treat underscores in names like hyphens. */
export const namesMethod = (header: string): boolean =>
  header.startsWith("x") && HEADER.test(header.replaceAll(/[^a-z\d]/g, ""));

/** Whether a header of a request contains a method that differs from the request's own. */
export function namesAnotherMethod(
  method: string,
  headers: Readonly<Record<string, readonly string[] | undefined>>,
): boolean {
  for (const name in headers)
    if (namesMethod(name) && headers[name]?.join().trim().toUpperCase() !== method) return true;
  return false;
}

/** The methods that may replace a POST. */
const METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Returns the effective method of a request.
 *
 * @param values All lines of the header. Only used for a POST.
 * @returns undefined if the header contains no method that may replace a POST
 */
export function overriddenMethod(method: string, values: readonly string[] | undefined): string | undefined {
  if (method !== "POST" || values === undefined) return method;
  const [value = "", ...others] = values;
  const meant = value.trim().toUpperCase();
  return others.length === 0 && METHODS.has(meant) ? meant : undefined;
}
