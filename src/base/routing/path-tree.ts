/**
 * Finds the route of a method and a path. The gateway and the sandbox use the same tree; each decides which values a
 * parameter accepts.
 *
 * Own code: Express's router tries the routes one by one, and a pack has hundreds of them.
 */

/**
 * A literal segment; a parameter for one segment or for the rest of the path (an id may have a slash); or, for a
 * segment with several parts, the literal texts around its parameters (one more than parameters).
 */
export type PathSegment = string | { readonly isRest: boolean } | { readonly literals: readonly string[] };

interface Node<R> {
  readonly literals: Map<string, Node<R>>;
  /** Segments with literal texts, sorted by decreasing length of the text. */
  readonly mixed: { readonly literals: readonly string[]; readonly node: Node<R> }[];
  parameter?: Node<R>;
  rest?: Node<R>;
  readonly routes: Map<string, R>;
}

const createNode = <R>(): Node<R> => ({ literals: new Map(), mixed: [], routes: new Map() });

/**
 * Returns the values between the literal texts of a segment; undefined if the segment does not match them. No value is
 * empty, and each but the last one ends where the text after it is found first.
 */
function valuesBetween(literals: readonly string[], segment: string): string[] | undefined {
  const [first = "", last = ""] = [literals[0], literals.at(-1)];
  if (!segment.startsWith(first) || !segment.endsWith(last)) return undefined;
  const end = segment.length - last.length;
  const values: string[] = [];
  let at = first.length;
  for (const literal of literals.slice(1, -1)) {
    const next = segment.indexOf(literal, at + 1);
    if (next < 0) return undefined;
    values.push(segment.slice(at, next));
    at = next + literal.length;
  }
  return at < end ? [...values, segment.slice(at, end)] : undefined;
}

interface PathTree<R, M> {
  /** Adds a route. @returns false if another route has this method and path. */
  add(method: string, path: readonly PathSegment[], route: R): boolean;
  /** Finds a route. @returns undefined if no route has this method and path, or accepts these values */
  match(method: string, segments: readonly string[]): M | undefined;
}

/**
 * Creates an empty tree. A literal segment is tried before one with literal texts, that before a parameter, and a
 * parameter before the rest of the path; the order of the routes does not matter.
 *
 * @param accept Turns a route and the values of its parameters, in the order of the path, into a match. It returns
 *   undefined for a value that the route does not accept; the search then continues.
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
      (node.mixed.length > 0 ? findMixed(node, method, segments, at, values) : undefined) ??
      (node.parameter && find(node.parameter, method, segments, at + 1, [...values, segment])) ??
      (node.rest && finish(node.rest, method, [...values, segments.slice(at).join("/")]))
    );
  }

  function findMixed(
    { mixed }: Node<R>,
    method: string,
    segments: readonly string[],
    at: number,
    values: readonly string[],
  ): M | undefined {
    for (const { literals, node } of mixed) {
      const found = valuesBetween(literals, segments[at] ?? "");
      const match = found && find(node, method, segments, at + 1, [...values, ...found]);
      if (match !== undefined) return match;
    }
    return undefined;
  }

  function childOf(node: Node<R>, segment: PathSegment): Node<R> {
    if (typeof segment !== "string" && "literals" in segment) {
      const { literals } = segment;
      const existing = node.mixed.find((each) => each.literals.join("/") === literals.join("/"));
      if (existing) return existing.node;
      const created = createNode<R>();
      node.mixed.push({ literals, node: created });
      node.mixed.sort((one, other) => other.literals.join("").length - one.literals.join("").length);
      return created;
    }
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
