import type { Match, Pack } from "../../mapping/pack.ts";
import { splitPath } from "../../mapping/router.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import { hasFragment, type AlphaRequest, type RouteMatch } from "../context.ts";

/**
 * The route of a request, fixed by its head, before anything is rewritten; several where the body chooses. Those
 * have one name and one limit. A HEAD is a GET whose answer is not sent.
 *
 * @returns undefined for paths and methods that alpha does not have; a refusal for a path that lies outside of
 *   alpha, 404, or whose escapes are broken, 400. Both are counted like any other request before they are refused.
 */
export function matchRoute(request: AlphaRequest, pack: Pack): Match | HttpError | undefined {
  if (hasFragment(request)) return new HttpError(400, "The address has a fragment.");
  const segments = splitPath(request.path);
  if (!segments) return new HttpError(400, "The path has a broken escape.");
  const { prefix } = pack;
  if (!prefix.every((segment, index) => segments[index] === segment)) {
    return new HttpError(404, "Not found");
  }
  const method = request.method === "HEAD" ? "GET" : request.method;
  return pack.match(method, segments.slice(prefix.length));
}

/** What a request may be for, as far as its head tells: one route, or those that its body will choose from. */
export const routeCandidates = (found: Match | HttpError | undefined): readonly RouteMatch[] | HttpError =>
  found instanceof HttpError
    ? found
    : (found?.routes ?? []).map((route) => ({ route, parameters: found?.parameters ?? {} }));

/**
 * Of several routes of one path, the one that the body asks for. A body that can't be read is refused by the route
 * that is chosen without one.
 *
 * @throws {HttpError} 404 where the body asks for none of them
 */
export async function chooseRoute(
  targets: readonly RouteMatch[],
  readBody: () => JsonObject,
): Promise<RouteMatch> {
  let body: JsonObject = {};
  try {
    body = readBody();
  } catch {
    // It is read again by the route.
  }
  for (const target of targets) {
    if (!target.route.matchesBody || (await target.route.matchesBody(body))) return target;
  }
  throw new HttpError(404, "Not found");
}
