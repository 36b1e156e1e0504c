/** Finds the route of a recorded call. */
import { isParameter, type ApiRoute } from "./api-description.ts";

interface Node {
  readonly children: Map<string, Node>;
  /** Routes that end here, by method. */
  readonly routes: Map<string, ApiRoute>;
}

const createNode = (): Node => ({ children: new Map(), routes: new Map() });

/** The pattern of all parameters. No segment of a path has a slash. */
const PARAMETER = "/";

const segmentsOf = (path: string): string[] => path.split("/").filter((segment) => segment !== "");

/** Returns a function that finds the route of a path with the base path. A written segment goes before a parameter. */
export function findRoute(
  routes: readonly ApiRoute[],
  basePath: string,
): (method: string, path: string) => ApiRoute | undefined {
  const root = createNode();
  const prefix = segmentsOf(basePath);
  for (const route of routes) {
    let node = root;
    for (const segment of route.segments) {
      const key = isParameter(segment) ? PARAMETER : segment;
      const next = node.children.get(key) ?? createNode();
      node.children.set(key, next);
      node = next;
    }
    node.routes.set(route.method, route);
  }
  function find(node: Node, segments: readonly string[], method: string): ApiRoute | undefined {
    const [first, ...rest] = segments;
    if (first === undefined) return node.routes.get(method);
    const [written, parameter] = [node.children.get(first), node.children.get(PARAMETER)];
    return (written && find(written, rest, method)) ?? (parameter && find(parameter, rest, method));
  }
  return (method, path) => {
    const segments = segmentsOf(path);
    const hasPrefix = prefix.every((segment, index) => segments[index] === segment);
    return hasPrefix && segments.length < 100 ? find(root, segments.slice(prefix.length), method) : undefined;
  };
}
