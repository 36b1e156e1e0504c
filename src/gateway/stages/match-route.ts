import {
  type ClientHead,
  HttpError,
  overriddenMethod,
  type Pack,
  splitPath,
  type TranslatedQuery,
} from "../../pack/index.ts";
import type { RouteMatch } from "../request/context.ts";
import { earlyScope } from "../calls/request-scope.ts";
import { hasFragment, sentObject, type AlphaRequest, type ReadJson } from "../request/request.ts";

const METHOD_NOT_ALLOWED = 405;

/** The routes of a request's method and path: one, several from which the body selects one, or the error of the path. */
export type RouteCandidates = readonly RouteMatch[] | HttpError;

/**
 * Matches a request by its head. Several candidates share one name and one rate limit. A HEAD request matches as GET.
 *
 * @returns an empty list for paths and methods that do not exist in alpha; an error for a path outside of alpha (404),
 *   or with invalid escapes (400). Errors are returned, not thrown: such a request is first counted for the rate limit.
 */
export function matchRoute(request: AlphaRequest, pack: Pack): RouteCandidates {
  if (hasFragment(request)) return new HttpError(400, "The address has a fragment.");
  const segments = splitPath(request.path);
  if (!segments) return new HttpError(400, "The path has a broken escape.");
  const { prefix } = pack;
  if (!prefix.every((segment, index) => segments[index] === segment)) return new HttpError(404, "Not found");
  if (namesNoMethod(request, pack))
    return new HttpError(400, `${pack.dialect.client.method_header} must be PUT, PATCH or DELETE.`);
  const method = request.method === "HEAD" ? "GET" : request.method;
  const path = segments.slice(prefix.length);
  const found = findRoutes(method, path, request, pack);
  if (!found) return wrongMethod(path, request, pack) ?? [];
  return found.routes.map((route) => ({ route, parameters: found.parameters }));
}

/** Whether a POST has an invalid method override. {@link overriddenMethod} did not change its method. */
const namesNoMethod = ({ method, headers }: AlphaRequest, { methodHeader }: Pack): boolean =>
  methodHeader !== undefined &&
  headers[methodHeader] !== undefined &&
  overriddenMethod(method, headers[methodHeader]) === undefined;

/**
 * Returns the routes of a method and path. Undefined if not found, or if they do not accept the slashes of the
 * path.
 */
function findRoutes(
  method: string,
  segments: readonly string[],
  { path }: AlphaRequest,
  { match, acceptsSlashes }: Pack,
): ReturnType<Pack["match"]> {
  const found = match(method, segments);
  const isAccepted = !acceptsSlashes || found?.routes.every(({ name }) => acceptsSlashes(path, name));
  return isAccepted ? found : undefined;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Returns the error of a path that only supports other methods. Undefined if it supports none, or if the client's
 * dialect has no status 405.
 */
function wrongMethod(path: readonly string[], request: AlphaRequest, pack: Pack): HttpError | undefined {
  if (pack.statuses.translate(METHOD_NOT_ALLOWED) !== METHOD_NOT_ALLOWED) return undefined;
  const allowed = METHODS.filter((method) => findRoutes(method, path, request, pack));
  if (allowed.length === 0) return undefined;
  const allow = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
  return new HttpError(METHOD_NOT_ALLOWED, "The method is not allowed.", undefined, { allow });
}

/**
 * Returns a match with the upstream's values of its path parameters, including values from the query.
 *
 * @throws {HttpError} 404 for a value that the upstream can't have
 */
export async function withPathValues(
  match: RouteMatch,
  fromQuery: Readonly<Record<string, string>>,
): Promise<RouteMatch> {
  const { route, parameters } = match;
  if (!route.writeParameters && Object.keys(fromQuery).length === 0) return match;
  const written = (await route.writeParameters?.(parameters)) ?? parameters;
  return { route, parameters: { ...written, ...fromQuery } };
}

/**
 * Returns a match with all values for the upstream's paths: from the path, the query and the headers of the request,
 * and from `values` of the route. Values that are not texts or numbers are omitted, so that a path with them can't be
 * built.
 *
 * @throws {HttpError} 400 and 404 for values that are missing or invalid
 */
export async function withRequestValues(
  match: RouteMatch,
  { path, query }: Pick<TranslatedQuery, "path" | "query">,
  sent: { readonly request: AlphaRequest; readonly time: Date },
  readJson: ReadJson,
): Promise<RouteMatch> {
  const found = await withPathValues(match, path);
  const { headers, values, body } = match.route;
  if (!headers?.path && !values) return found;
  const { route, parameters } = found;
  const scope = () => earlyScope({ ...sent, query, match: found }, body && sentObject(body, readJson));
  const fromHeaders = headers?.path?.({ headers: sent.request.headers, scope });
  const known = values && scope();
  const own = values && known ? await values(known.body, known) : {};
  const texts = Object.entries(own).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number" ? [[name, String(value)] as const] : [],
  );
  return { route, parameters: { ...parameters, ...fromHeaders, ...Object.fromEntries(texts) } };
}

/** Translates the query parameters that the pack defines. @throws {HttpError} 400 */
export const translateQuery = (match: RouteMatch, head: ClientHead, readJson: ReadJson) => {
  const { query: rules, body } = match.route;
  return rules.translate(head.query, async (query) => {
    const scopeHead = { ...head, query, match: await withPathValues(match, {}) };
    return earlyScope(scopeHead, body && sentObject(body, readJson));
  });
};

/** Returns the candidate that represents all candidates until the body has selected one. */
export const firstCandidate = (candidates: RouteCandidates): RouteMatch | undefined =>
  candidates instanceof HttpError ? undefined : candidates[0];
