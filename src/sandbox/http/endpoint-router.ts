import { createPathTree } from "../../base/index.ts";

interface Match<E> {
  readonly endpoint: E;
  readonly params: Readonly<Record<string, string>>;
}

export interface Router<E> {
  /** Returns the endpoint of this method and path; undefined if not found. */
  find(method: string, segments: readonly string[]): Match<E> | undefined;
}

/**
 * Creates the router of the sandbox's endpoints. `:plan` in `/vm/types/:plan` matches one segment; `*image` in
 * `/images/*image` matches the rest of the path (an id with a slash has two segments). Segments are matched as
 * received and decoded afterwards, so that an escaped slash does not split a segment.
 *
 * @throws {Error} if two endpoints have the same method and path.
 */
export function createRouter<E extends { readonly method: string; readonly path: string }>(
  endpoints: readonly E[],
): Router<E> {
  type Entry = { readonly endpoint: E; readonly names: readonly string[] };
  const tree = createPathTree<Entry, Match<E>>(({ endpoint, names }, values) => {
    try {
      const params = names.map((name, index) => [name, decodeURIComponent(values[index] ?? "")] as const);
      return { endpoint, params: Object.fromEntries(params) };
    } catch {
      // The path contains a malformed escape.
      return undefined;
    }
  });
  for (const endpoint of endpoints) {
    const segments = endpoint.path.split("/").slice(1);
    const path = segments.map((segment) =>
      /^[:*]/.test(segment) ? { isRest: segment.startsWith("*") } : segment,
    );
    const names = segments.filter((segment) => /^[:*]/.test(segment)).map((segment) => segment.slice(1));
    if (!tree.add(endpoint.method, path, { endpoint, names }))
      throw new Error(`Two endpoints: ${endpoint.method} ${endpoint.path}`);
  }
  return { find: tree.match };
}
