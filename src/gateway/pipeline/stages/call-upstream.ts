/** The v4 calls of a route: the call itself, what it waits for, and what its response is built from. */
import pMap from "p-map";
import {
  type Endpoint,
  type ErrorFormats,
  errorsOf,
  InvalidPathValueError,
  NOT_MODIFIED,
  partLoss,
  type ReadAfterWrite,
  relatedLoss,
  type RelatedRequest,
  RESPONSE,
  responseLoss,
  type Route,
  ValidationError,
  valueAt,
} from "../../../pack/index.ts";
import { isObject, printJson } from "../../../base/index.ts";
import type { AuthorizedRequest } from "../authorized-request.ts";
import { throwTranslatedError } from "../../responses/translate-error.ts";
import { requestWithoutBody, type PreparedRequest } from "../prepared-request.ts";
import { unfinishedBody, pollOperation } from "./poll-operation.ts";
import type { UpstreamResponse } from "../upstream-response.ts";
import { waitUntil } from "./wait-until.ts";
import { fetchAllPages } from "./fetch-all-pages.ts";

/** v4 calls that one client request may have in progress. */
const MAX_CONCURRENT_REQUESTS = 8;

const NOTHING_RELATED = {};

/** v4's success, and the related responses that alpha's response needs too. */
export interface UpstreamResult {
  readonly response: UpstreamResponse;
  /** By name; without those that could not be fetched. */
  readonly related: Readonly<Record<string, unknown>>;
  /** Alpha's body, where the call succeeded and the read after it did not, and where nothing is translated. */
  readonly fallback?: string;
}

/**
 * Makes the call of a route, after its wait; then the read after it, and the related requests.
 *
 * @throws {HttpError} v4's error, translated; 400 for a body that needs too many related requests
 */
export async function callUpstream(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<UpstreamResult> {
  const { route } = authorized.match;
  const eachValues = await readEachValues(prepared, route);
  if (route.wait) await waitUntil(route.wait, prepared, authorized);
  const response = await callWithRetry(prepared, authorized);
  const { poll } = route;
  if (response.status !== poll?.status) return useResponse(response, eachValues, prepared, authorized);
  const result = await pollOperation(poll, response, prepared, authorized);
  if (result) return useResponse(result, eachValues, prepared, authorized);
  const fallback = await unfinishedBody(poll, response, authorized);
  // Only a success has headers of the call: an error is the gateway's, and says nothing like "ask me in 5 seconds".
  if (route.headers) authorized.report.upstreamHead = response;
  return { response, related: NOTHING_RELATED, fallback };
}

/** Throws v4's error. After a success: the read after the call, and the related requests. */
async function useResponse(
  response: UpstreamResponse,
  eachValues: EachValues,
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<UpstreamResult> {
  const { match, report } = authorized;
  const { route } = match;
  if (route.headers && (response.success || isNotModified(response, prepared))) {
    report.upstreamHead = response;
    if (!response.success) return { response, related: {}, fallback: "" };
  }
  if (!response.success) throwTranslatedError(response, route, prepared, authorized);
  for (const loss of prepared.losses ?? []) report.losses.add(loss);
  if (!route.readAfterWrite && route.related.length === 0) return { response, related: NOTHING_RELATED };
  const first = { response, values: prepared.values };
  const read = { eachValues, first };
  if (!route.readAfterWrite) return withRelated(response, read, authorized);
  const current = await readAfterWrite(route.readAfterWrite, first, authorized);
  if (current && report.upstreamHead)
    report.upstreamHead = {
      status: response.status,
      headers: { ...response.headers, ...current.headers },
      json: current.json,
    };
  if (current) return withRelated(current, read, authorized);
  return { response, related: {}, fallback: await fallbackBody(route.readAfterWrite, response, authorized) };
}

/** Whether v4 says that the client's copy is current. It counts only if the client has sent which copy it has. */
const isNotModified = ({ status }: UpstreamResponse, { headers }: PreparedRequest): boolean =>
  status === NOT_MODIFIED &&
  (headers?.["if-none-match"] !== undefined || headers?.["if-modified-since"] !== undefined);

/** Whether v4 rejected nothing but the one member that the gateway had added. Then nothing was created. */
function rejectsAddedMember(
  response: UpstreamResponse,
  prepared: PreparedRequest,
  member: string,
  { upstream }: ErrorFormats,
): boolean {
  const errors =
    response.status === 400 && prepared.gatewayFields.has(member)
      ? upstream.read(response.json)?.details
      : undefined;
  return errors !== undefined && errors.every(({ field }) => field === member);
}

/** Only a GET is ever repeated, except after a clear error: this one, and that of a token (upstream-call.ts). */
async function callWithRetry(
  prepared: PreparedRequest,
  { upstream, services, match }: AuthorizedRequest,
): Promise<UpstreamResponse> {
  const response = await upstream.call(prepared);
  const { retryWithout } = match.route;
  if (
    retryWithout === undefined ||
    !rejectsAddedMember(response, prepared, retryWithout, errorsOf(match.route, services.translation))
  )
    return response;
  const { [retryWithout]: _rejected, ...body } = isObject(prepared.body) ? prepared.body : {};
  return upstream.call({ ...prepared, body });
}

/** The call of a route, and what the paths of the calls after it may have of it. */
interface FirstCall {
  readonly response: UpstreamResponse;
  /** What its own path may have. */
  readonly values: PreparedRequest["values"];
}

/**
 * A call after the call of a route; undefined where the response does not have a value of its path. The response is parsed
 * where the path has one.
 */
function prepareLater(endpoint: Endpoint, { response, values }: FirstCall): PreparedRequest | undefined {
  try {
    const readsResponse = endpoint.names.has(RESPONSE);
    return requestWithoutBody(endpoint, readsResponse ? { ...values, [RESPONSE]: response.json } : values);
  } catch (error) {
    if (error instanceof InvalidPathValueError) return undefined;
    throw error;
  }
}

/** The read after a write, whose response is the route's; undefined where it fails. */
async function readAfterWrite(
  { endpoint }: ReadAfterWrite,
  first: FirstCall,
  { upstream }: AuthorizedRequest,
): Promise<UpstreamResponse | undefined> {
  const prepared = prepareLater(endpoint, first);
  const response = prepared && (await upstream.call(prepared).catch(() => undefined));
  return response?.success && isObject(response.json) ? response : undefined;
}

/** The write succeeded, so the response is not an error: it has what is known (T-1.3). */
async function fallbackBody(
  { fallbackBody: bodyFrom }: ReadAfterWrite,
  response: UpstreamResponse,
  { match, report, services }: AuthorizedRequest,
): Promise<string> {
  report.losses.add(responseLoss(services.translation.upstreamName));
  const body = await bodyFrom(response.json, match.parameters);
  return printJson(isObject(body) ? body : {});
}

/** Fetches related responses, in parallel. One that fails costs its fields, not the response (T-1.3). */
async function withRelated(
  response: UpstreamResponse,
  { eachValues, first }: { readonly eachValues: EachValues; readonly first: FirstCall },
  authorized: AuthorizedRequest,
): Promise<UpstreamResult> {
  const { route } = authorized.match;
  if (route.related.length === 0) return { response, related: NOTHING_RELATED };
  const object = route.response === "list" ? response.json : valueAt(response.json, route.upstreamPath);
  const found = await Promise.all(
    route.related.map(async (related) => {
      if (!(await related.isNeeded(object))) return [];
      const value = await fetchRelated(related, eachValues.get(related), first, authorized);
      if (value !== undefined) return [[related.name, value] as const];
      authorized.report.losses.add(relatedLoss(related.name, authorized.services.translation.upstreamName));
      return [];
    }),
  );
  return { response, related: Object.fromEntries(found.flat()) };
}

function fetchRelated(
  related: RelatedRequest,
  each: readonly unknown[] | undefined,
  first: FirstCall,
  authorized: AuthorizedRequest,
): Promise<unknown> {
  if (each) return fetchEach(related, each, first, authorized);
  return related.allPages ? fetchRows(related, first, authorized) : fetchOne(related, first, authorized);
}

/** v4's JSON, from the cache where the route allows it; undefined where the request fails. */
async function fetchOne(
  { endpoint, cacheSeconds }: RelatedRequest,
  first: FirstCall,
  { upstream, services, client }: AuthorizedRequest,
): Promise<unknown> {
  const prepared = prepareLater(endpoint, first);
  if (!prepared) return undefined;
  const fetch = () => upstream.call(prepared).catch(() => undefined);
  if (cacheSeconds === 0 || client.hash === undefined) return jsonOf(await fetch());
  const cache = services.responseCache.of(client.hash);
  const cached = cache.get(prepared.path);
  if (cached !== undefined) {
    (upstream.activity.cachedReads ??= []).push({ path: prepared.path, json: cached });
    return cached;
  }
  upstream.activity.cacheMisses += 1;
  const response = await fetch();
  const json = jsonOf(response);
  if (json !== undefined) cache.set(prepared.path, json, response?.bytes.length ?? 0, cacheSeconds);
  return json;
}

const jsonOf = (response: UpstreamResponse | undefined): unknown =>
  response?.success ? response.json : undefined;

/** Related requests for the values of one body. */
const MOST_EACH_VALUES = 100;

/** The values of a body for each of which a related request is sent. */
type EachValues = ReadonlyMap<RelatedRequest, readonly unknown[]>;

/** Reads these values. @throws {HttpError} 400 for too many of them, before anything is written */
async function readEachValues(
  { body = {} }: PreparedRequest,
  { related, errorField }: Route,
): Promise<EachValues> {
  const eachValues = new Map<RelatedRequest, readonly unknown[]>();
  for (const request of related) {
    if (!request.eachValue) continue;
    const values = [(await request.eachValue(body)) ?? []].flat();
    if (new Set(values).size > MOST_EACH_VALUES) {
      const field = request.eachMember === undefined ? undefined : errorField(request.eachMember);
      const reason = `Must be at most ${MOST_EACH_VALUES} different values.`;
      throw new ValidationError([{ reason, rule: "maxItems", ...(field !== undefined && { field }) }]);
    }
    eachValues.set(request, values);
  }
  return eachValues;
}

/** One request for each different value of the body that was sent. Those that fail are left out. */
async function fetchEach(
  related: RelatedRequest,
  each: readonly unknown[],
  first: FirstCall,
  authorized: AuthorizedRequest,
): Promise<unknown[]> {
  const distinct = [...new Set(each)];
  const fetchValue = (value: unknown) =>
    fetchOne(related, { ...first, values: { ...first.values, each: value } }, authorized);
  const fetched = await pMap(distinct, fetchValue, { concurrency: MAX_CONCURRENT_REQUESTS });
  const byValue = new Map(distinct.map((value, index) => [value, fetched[index]]));
  const found = each.map((value) => byValue.get(value));
  if (found.includes(undefined))
    authorized.report.losses.add(partLoss(related.name, authorized.services.translation.upstreamName));
  return found.filter((value) => value !== undefined);
}

/** Rows of a related list. A longer list counts as one that cannot be fetched. */
const MOST_RELATED_ROWS = 1000;

async function fetchRows(
  { endpoint }: RelatedRequest,
  first: FirstCall,
  authorized: AuthorizedRequest,
): Promise<unknown> {
  const prepared = prepareLater(endpoint, first);
  if (!prepared) return undefined;
  const most = MOST_RELATED_ROWS;
  // It is another list than that of the route, whose pages may be its own.
  const { paging } = authorized.services.pack;
  const lists = { paging, parseList: authorized.match.route.lists.parseList };
  const list = await fetchAllPages(prepared, { most, readWrapped: undefined, lists }, authorized).catch(
    () => undefined,
  );
  return list && "rows" in list ? list.rows : undefined;
}
