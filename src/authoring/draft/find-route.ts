/** Finds the route of a recorded call. */
import { createPathTree, type PathSegment } from "../../base/index.ts";
import { isParameter, type ApiRoute } from "./api-description.ts";

/** Maximum number of segments of a searched path. No described API has longer paths. */
const MAX_SEGMENTS = 100;

export const segmentsOf = (path: string): string[] => path.split("/").filter((segment) => segment !== "");

/**
 * Returns a function that finds the route of a path with the base path. A literal segment takes precedence over a
 * parameter.
 *
 * @param hasSlashes Whether the value of the last parameter may have slashes
 */
export function findRoute<Found extends Pick<ApiRoute, "method" | "segments">>(
  routes: readonly Found[],
  basePath: string,
  hasSlashes = false,
): (method: string, path: string) => Found | undefined {
  const tree = createPathTree<Found, Found>((route) => route);
  for (const route of routes) {
    const path = [...segmentsOf(basePath), ...route.segments].map((segment): PathSegment =>
      isParameter(segment) ? { isRest: false } : segment,
    );
    tree.add(route.method, path, route);
    if (hasSlashes && typeof path.at(-1) !== "string")
      tree.add(route.method, [...path.slice(0, -1), { isRest: true }], route);
  }
  return (method, path) => {
    const segments = segmentsOf(path);
    return segments.length < MAX_SEGMENTS ? tree.match(method, segments) : undefined;
  };
}
