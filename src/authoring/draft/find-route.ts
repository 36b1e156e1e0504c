/** Finds the route of a recorded call. */
import { isParameter, type ApiRoute } from "./api-description.ts";

type Route = Pick<ApiRoute, "method" | "segments">;

interface Node<Found> {
  readonly children: Map<string, Node<Found>>;
  /** Routes that end here, by method. */
  readonly routes: Map<string, Found>;
}

const createNode = <Found>(): Node<Found> => ({ children: new Map(), routes: new Map() });

/** The key of all parameters. No segment of a path has a slash. */
const PARAMETER = "/";

export const segmentsOf = (path: string): string[] => path.split("/").filter((segment) => segment !== "");

/**
 * Returns a function that finds the route of a path with the base path. A written segment goes before a parameter.
 *
 * @param hasSlashes Whether the value of the last parameter may have slashes
 */
export function findRoute<Found extends Route>(
  routes: readonly Found[],
  basePath: string,
  hasSlashes = false,
): (method: string, path: string) => Found | undefined {
  const root = createNode<Found>();
  const prefix = segmentsOf(basePath);
  for (const route of routes) {
    let node = root;
    for (const segment of route.segments) {
      const key = isParameter(segment) ? PARAMETER : segment;
      const next = node.children.get(key) ?? createNode<Found>();
      node.children.set(key, next);
      node = next;
    }
    node.routes.set(route.method, route);
  }
  function find(node: Node<Found>, segments: readonly string[], method: string): Found | undefined {
    const [first, ...rest] = segments;
    if (first === undefined) return node.routes.get(method);
    const [written, parameter] = [node.children.get(first), node.children.get(PARAMETER)];
    return (
      (written && find(written, rest, method)) ??
      (parameter && find(parameter, rest, method)) ??
      (hasSlashes ? parameter?.routes.get(method) : undefined)
    );
  }
  return (method, path) => {
    const segments = segmentsOf(path);
    const hasPrefix = prefix.every((segment, index) => segments[index] === segment);
    return hasPrefix && segments.length < 100 ? find(root, segments.slice(prefix.length), method) : undefined;
  };
}
