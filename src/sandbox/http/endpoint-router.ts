/**
 * Finds the endpoint of a method and path. Segments are matched as received and decoded
 * afterwards, so that an escaped slash does not split a segment.
 */

interface Route<E> {
  readonly endpoint: E;
  readonly params: Readonly<Record<string, string>>;
}

export interface Router<E> {
  /** Returns undefined if no endpoint has this method and path. */
  find(method: string, segments: readonly string[]): Route<E> | undefined;
}

interface Node<E> {
  readonly fixed: Map<string, Node<E>>;
  param?: { readonly name: string; readonly node: Node<E> };
  readonly endpoints: Map<string, E>;
}

/**
 * `:plan` in `/vm/types/:plan` matches one segment; `*image` in `/images/*image` matches the rest of the path
 * (an id with a slash has two segments). Fixed segments win over parameters.
 */
export function createRouter<E extends { readonly method: string; readonly path: string }>(
  endpoints: readonly E[],
): Router<E> {
  const root = createNode<E>();
  for (const endpoint of endpoints) {
    const end = insertPath(root, endpoint.path);
    if (end.endpoints.has(endpoint.method)) throw new Error(`Twice: ${endpoint.method} ${endpoint.path}`);
    end.endpoints.set(endpoint.method, endpoint);
  }
  return {
    find(method, segments) {
      const params: Record<string, string> = {};
      let at = root;
      for (const [index, segment] of segments.entries()) {
        const fixed = at.fixed.get(segment);
        if (fixed) at = fixed;
        else if (at.param) {
          const rest = at.param.name.startsWith("*");
          const value = decode(rest ? segments.slice(index).join("/") : segment);
          if (value === undefined) return undefined;
          params[at.param.name.slice(1)] = value;
          at = at.param.node;
          if (rest) break;
        } else return undefined;
      }
      const endpoint = at.endpoints.get(method);
      return endpoint && { endpoint, params };
    },
  };
}

function insertPath<E>(root: Node<E>, path: string): Node<E> {
  let at = root;
  for (const segment of path.split("/").slice(1)) {
    if (/^[:*]/.test(segment)) {
      at.param ??= { name: segment, node: createNode() };
      if (at.param.name !== segment)
        throw new Error(`${path}: ${segment} is called ${at.param.name} elsewhere`);
      at = at.param.node;
      continue;
    }
    const next = at.fixed.get(segment) ?? createNode<E>();
    at.fixed.set(segment, next);
    at = next;
  }
  return at;
}

function createNode<E>(): Node<E> {
  return { fixed: new Map(), endpoints: new Map() };
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
