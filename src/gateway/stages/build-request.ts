/** Builds the v4 request of a route: its path, and its query or its body. Before that, reads the catalogs that it may need. */
import { INVALID_TOKEN } from "../auth/permissions.ts";
import type { TokenCache } from "../auth/token-cache.ts";
import {
  type BodyRules,
  type Endpoint,
  HttpError,
  INVALID_VALUE,
  isText,
  type JsonObject,
  type Pack,
  REQUIRED,
  type Route,
  ValidationError,
} from "../../pack/index.ts";
import { isObject } from "../../base/index.ts";
import type { CatalogCache } from "../upstream/catalog-cache.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { RouteMatch } from "../request/context.ts";
import { type ClientToken } from "../request/client.ts";
import { requestWithoutBody, type PreparedRequest } from "../calls/prepared-request.ts";
import { buildListRequest } from "./build-list-request.ts";
import { callBefore } from "./call-before.ts";
import { partsEquivalent } from "./call-parts.ts";
import { createFetchCurrent, translateBody, translateItems } from "./translate-body.ts";

interface CatalogDependencies {
  readonly catalogs: Pick<CatalogCache, "awaitsToken" | "refreshWith">;
  readonly tokens: Pick<TokenCache, "get">;
  readonly pack: Pick<Pack, "credentials">;
}

/**
 * Reads the catalogs that are due with the token of a request, if v4 has accepted it. A request for a catalog that was
 * never read makes no v4 call with an unknown token: the token is checked first.
 *
 * @param askAbout checks the token with v4, within limits
 * @throws {HttpError} 401 for a token that v4 rejects, on a route that is not public
 */
export async function readCatalogsWithToken(
  { route: { source, access } }: RouteMatch,
  { resolved, info: knownInfo }: ClientToken,
  askAbout: () => Promise<void> | undefined,
  { catalogs, tokens, pack }: CatalogDependencies,
): Promise<void> {
  const { hash, token } = resolved.credentials;
  if (hash === undefined || token === undefined) return;
  let info = knownInfo;
  if (info === undefined && "catalog" in source && catalogs.awaitsToken(source.catalog.name)) {
    await askAbout();
    info = await tokens.get(hash);
    if (info?.refused && access !== "public") throw new HttpError(401, INVALID_TOKEN);
  }
  if (info?.refused === false) await catalogs.refreshWith(hash, pack.credentials.upstream?.write(token));
}

/** Returns the v4 call of a route. Must not be called for a kind of route without a call. */
export function endpointOf({ name, source }: Route): Endpoint {
  if (!("call" in source)) throw new Error(`${name} makes no v4 call`);
  return source.call;
}

/**
 * Builds the v4 request of a route: with a page and a filter, with a body, or with neither.
 *
 * @throws {HttpError} 400 if the request breaks a rule of alpha, or can't be expressed in v4
 */
export async function buildUpstreamRequest(authorized: AuthorizedRequest): Promise<PreparedRequest> {
  const prepared = await buildMainCall(authorized);
  return authorized.match.route.callOrder.parts.length > 0
    ? { ...prepared, equivalent: partsEquivalent(prepared, authorized) }
    : prepared;
}

async function buildMainCall(authorized: AuthorizedRequest): Promise<PreparedRequest> {
  const { route } = authorized.match;
  const endpoint = endpointOf(route);
  if (route.body && (endpoint.method !== "GET" || route.body.toPath.size > 0))
    return buildPage(await buildWrite(endpoint, route.body, authorized), authorized);
  const prepared = await buildWithoutBody(endpoint, authorized);
  const { search } = route;
  if (search) {
    const equivalent = `${prepared.method} ${prepared.path}`;
    return { ...(await buildListRequest(prepared, authorized)), search, equivalent };
  }
  return buildPage(prepared, authorized);
}

/** Adds the page and the filter to a call that reads a list. */
const buildPage = async (
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<PreparedRequest> =>
  prepared.method === "GET" && authorized.match.route.response === "list"
    ? buildListRequest(prepared, authorized)
    : prepared;

/** Builds a call with a body. An edit that sends nothing becomes a read of the same object. */
async function buildWrite(
  endpoint: Endpoint,
  rules: BodyRules,
  authorized: AuthorizedRequest,
): Promise<PreparedRequest> {
  const { match, services, readJson } = authorized;
  const { readRoute: readRouteName } = match.route;
  const readRoute = readRouteName === undefined ? undefined : services.pack.route(readRouteName);
  const sent = readJson();
  const body = rules.unwrap(sent);
  const written = Array.isArray(body)
    ? await translateItems(body, sent.isForm, rules, authorized)
    : await translateBody(
        body as JsonObject,
        sent.isForm,
        rules,
        authorized,
        createFetchCurrent(readRoute, authorized),
      );
  const { v4, calls, version, added, alpha, sent: clientSent, losses } = written;
  if (written.empty && readRoute && "call" in readRoute.source)
    return { ...requestWithoutBody(readRoute.source.call, match.parameters), alpha, losses };
  const values = { ...match.parameters, ...calls, ...takePathValues(v4, rules) };
  const prepared = { ...requestWithoutBody(endpoint, values), ...version, calls };
  if (rules.toPath.size > 0 && !mayHaveBody(endpoint, v4)) return { ...prepared, clientSent, alpha, losses };
  const format = { rules: rules.format, path: match.parameters };
  return { ...prepared, body: v4, format, gatewayFields: added, clientSent, alpha, losses };
}

/** Whether a request contains a body. A GET contains none, and a DELETE only if the body has members. */
const mayHaveBody = ({ method }: Endpoint, v4: object): boolean =>
  method !== "GET" && (method !== "DELETE" || Object.keys(v4).length > 0);

/** Moves members of a translated body to the path. @throws {HttpError} 400 for a value that a path can't contain */
function takePathValues(
  v4: JsonObject | readonly JsonObject[],
  { toPath }: BodyRules,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  if (toPath.size === 0 || !isObject(v4)) return values;
  for (const [parameter, { field, get, remove }] of toPath) {
    const value = get(v4);
    if (value === undefined || value === null)
      throw new ValidationError([{ field, reason: REQUIRED, rule: "required" }]);
    const isValid = typeof value === "number" || (typeof value === "string" && isText(value));
    if (!isValid) throw new ValidationError([{ field, reason: INVALID_VALUE }]);
    remove(v4);
    values[parameter] = value;
  }
  return values;
}

/** Builds a call without a body, after the calls before it. @throws {HttpError} 400 with the errors of their checks */
export async function buildWithoutBody(
  endpoint: Endpoint,
  authorized: AuthorizedRequest,
): Promise<PreparedRequest> {
  const { parameters, route } = authorized.match;
  if (route.callOrder.before.length === 0) return requestWithoutBody(endpoint, parameters);
  const {
    values: calls,
    version,
    ...earlier
  } = await callBefore({ body: {}, errors: [], findFaults: () => [] }, authorized);
  const errors = [...earlier.errors, ...(await earlier.check({}))];
  if (errors.length > 0) throw new ValidationError(errors);
  return { ...requestWithoutBody(endpoint, { ...parameters, ...calls }), ...version, calls };
}
