import type { Match, Pack } from "../mapping/pack.ts";
import { splitPath } from "../mapping/router.ts";
import { Refusal } from "../dialect/refusal.ts";
import type { JsonObject } from "../mapping/reading.ts";
import { hasFragment, type AlphaRequest, type Target } from "./exchange.ts";
import { readBody } from "./read-body.ts";

/** A body that can't be read is refused later, with the route that was found. */
function bodyIfAny(request: AlphaRequest): JsonObject {
  try {
    return readBody(request);
  } catch {
    return {};
  }
}

/** Of several routes of one path, the one that the body asks for. */
async function choose(request: AlphaRequest, { routes, parameters }: Match): Promise<Target | undefined> {
  const [first] = routes;
  if (first && routes.length === 1) return { route: first, parameters };
  const body = bodyIfAny(request);
  for (const route of routes) {
    if (!route.chosen || (await route.chosen(body))) return { route, parameters };
  }
  return undefined;
}

/**
 * The route of a request, fixed by what came in, before anything is rewritten. A HEAD is a GET whose answer
 * is not sent.
 *
 * @returns undefined for paths and methods that alpha does not have; a refusal for a path that lies outside of
 *   alpha, 404, or whose escapes are broken, 400. Both are counted like any other request before they are refused.
 */
export async function findRoute(request: AlphaRequest, pack: Pack): Promise<Target | Refusal | undefined> {
  if (hasFragment(request)) return new Refusal(400, "The address has a fragment.");
  const segments = splitPath(request.path);
  if (!segments) return new Refusal(400, "The path has a broken escape.");
  const { prefix } = pack;
  if (!prefix.every((segment, index) => segments[index] === segment)) {
    return new Refusal(404, "Not found");
  }
  const method = request.method === "HEAD" ? "GET" : request.method;
  const match = pack.match(method, segments.slice(prefix.length));
  return match && choose(request, match);
}

/** Whether the body of a request is a file, which goes on as it comes. */
export function takesFile(pack: Pack, method: string, path: string): boolean {
  if (!pack.takesFiles.has(method)) return false;
  const segments = splitPath(path);
  const { prefix } = pack;
  if (!segments || !prefix.every((segment, index) => segments[index] === segment)) return false;
  const found = pack.match(method, segments.slice(prefix.length));
  return found?.routes[0]?.takes !== undefined;
}
