/** Requests whose method is in a header, for clients that can send no other method than GET and POST. */

/** What a POST may stand for. */
const METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Returns the method that a request stands for.
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
