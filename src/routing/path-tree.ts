/**
 * Finds the route of a method and a path. The gateway and the sandbox use the same tree; each decides for itself which
 * values a parameter takes.
 *
 * Own code: Express's router tries one route after the other, and a pack has hundreds of them.
 */

/** A literal segment, or a parameter for one segment or for the rest of the path (an id may have a slash). */
export type PathSegment = string | { readonly isRest: boolean };

interface Node<R> {
  readonly literals: Map<string, Node<R>>;
  parameter?: Node<R>;
  rest?: Node<R>;
  readonly routes: Map<string, R>;
}

const createNode = <R>(): Node<R> => ({ literals: new Map(), routes: new Map() });

export interface PathTree<R, M> {
  /** Adds a route. @returns false if another route has this method and path. */
  add(method: string, path: readonly PathSegment[], route: R): boolean;
  /** Finds a route. @returns undefined if none has this method and path, or takes these values. */
  match(method: string, segments: readonly string[]): M | undefined;
}

/**
 * Creates an empty tree. A literal segment is tried before a parameter, and a parameter before the rest of the path;
 * the order of the routes does not matter.
 *
 * @param accept Turns a route and the values of its parameters, in the order of the path, into a match. It returns
 *   undefined for a value that the route does not take; the search then goes on.
 */
export function createPathTree<R, M>(
  accept: (route: R, values: readonly string[]) => M | undefined,
): PathTree<R, M> {
  const root = createNode<R>();

  function finish(node: Node<R>, method: string, values: readonly string[]): M | undefined {
    const route = node.routes.get(method);
    return route === undefined ? undefined : accept(route, values);
  }

  function find(
    node: Node<R>,
    method: string,
    segments: readonly string[],
    at: number,
    values: readonly string[],
  ): M | undefined {
    const segment = segments[at];
    if (segment === undefined) return finish(node, method, values);
    const literal = node.literals.get(segment);
    return (
      (literal && find(literal, method, segments, at + 1, values)) ??
      (node.parameter && find(node.parameter, method, segments, at + 1, [...values, segment])) ??
      (node.rest && finish(node.rest, method, [...values, segments.slice(at).join("/")]))
    );
  }

  function childOf(node: Node<R>, segment: PathSegment): Node<R> {
    if (typeof segment !== "string")
      return segment.isRest ? (node.rest ??= createNode()) : (node.parameter ??= createNode());
    const child = node.literals.get(segment) ?? createNode<R>();
    node.literals.set(segment, child);
    return child;
  }

  return {
    add(method, path, route) {
      const { routes } = path.reduce(childOf, root);
      if (routes.has(method)) return false;
      routes.set(method, route);
      return true;
    },
    match: (method, segments) => find(root, method, segments, 0, []),
  };
}
