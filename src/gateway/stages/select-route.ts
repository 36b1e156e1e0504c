/** Selects one of several routes of a path, by the body of a request. */
import { type ClientHead, HttpError, type Route } from "../../pack/index.ts";
import type { RouteMatch } from "../request/context.ts";
import { earlyScope } from "../calls/request-scope.ts";
import { type ReadJson, sentObject } from "../request/request.ts";
import type { RouteAccess } from "./authorize.ts";
import { withPathValues } from "./match-route.ts";

/**
 * Selects one of several routes of a path by the body. An unreadable body is an error, even if the selected route would
 * not read it.
 *
 * @throws {HttpError} 404 if no route matches the body; the error of a route that the token must not use; the errors of
 *   {@link ReadJson}
 */
export async function selectRoute(
  verdicts: readonly RouteAccess[],
  readJson: ReadJson,
  head: ClientHead,
): Promise<RouteMatch> {
  const verdict = verdicts.length > 1 ? await selectByBody(verdicts, readJson, head) : verdicts[0];
  if (!verdict) throw new HttpError(404, "Not found");
  if (verdict.error !== undefined) throw verdict.error;
  if (verdicts.length > 1) readJson();
  return verdict.match;
}

async function selectByBody(
  verdicts: readonly RouteAccess[],
  readJson: ReadJson,
  head: ClientHead,
): Promise<RouteAccess | undefined> {
  for (const verdict of verdicts) {
    const { match } = verdict;
    const { matchesBody } = match.route;
    if (!matchesBody) return verdict;
    const body = bodyFor(match.route, readJson);
    const query = match.route.query.withDefaults(head.query);
    const written = await withPathValues(match, {}).catch(ignoreUnknownValue(match));
    if (await matchesBody(body, earlyScope({ ...head, query, match: written }, body))) return verdict;
  }
  return undefined;
}

/** Ignores a path value that the upstream can't have: it is the error of its route, if that route is selected. */
const ignoreUnknownValue =
  (match: RouteMatch) =>
  (error: unknown): RouteMatch => {
    if (error instanceof HttpError) return match;
    throw error;
  };

/** Returns the client's object for the condition of a route. */
function bodyFor({ body }: Route, readJson: ReadJson): unknown {
  try {
    return sentObject(body, readJson);
  } catch {
    // The route reads the body again, and the error of that read is the response.
    return {};
  }
}
