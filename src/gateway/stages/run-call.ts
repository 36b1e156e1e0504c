/** Sends one call of a route, in addition to the main call: once, for each value, or until its response meets a condition. */
import {
  type ErrorDetail,
  InvalidPathValueError,
  type JsonObject,
  partLoss,
  RESPONSE,
  type RouteCall,
  type Scope,
  ValidationError,
} from "../../pack/index.ts";
import { isObject } from "../../base/index.ts";
import { ExpressionError } from "../../jsonata/index.ts";
import { throwTranslatedError } from "../calls/translate-error.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import { type PreparedRequest, requestWithoutBody } from "../calls/prepared-request.ts";
import type { UpstreamResponse } from "../calls/upstream-response.ts";
import { type CallOutcome, type CallResponse, type FailedCall, repeatCall, warnOnce } from "./repeat-call.ts";
import { fetchAllPages } from "./fetch-all-pages.ts";
import pMap from "p-map";

/** Maximum number of v4 calls that one client request may have in progress. */
const MAX_CONCURRENT_REQUESTS = 8;

/** Maximum number of rows of a list that a call reads. A longer list is treated as a failed call. */
const MOST_ROWS = 1000;

/** The inputs of a call. */
interface CallInput {
  /** The input of the call's expressions: the client's body, or v4's object. */
  readonly input: unknown;
  readonly scope: Scope;
  /** Values for the call's path: of the main call, of the client's body, and of earlier calls. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The values, if they are already known. One call is sent for each value. */
  readonly each?: readonly unknown[] | undefined;
}

/** Prepares the request of a call. @throws {InvalidPathValueError} if a value of its path is missing; {ExpressionError} */
async function prepareCall(
  call: RouteCall,
  { input, scope, values }: Omit<CallInput, "each">,
  { match }: AuthorizedRequest,
): Promise<PreparedRequest> {
  const own = await call.valuesOf(input, scope);
  const readsResponse = call.place === "after" && call.endpoint.names.has(RESPONSE);
  const all = { ...values, ...(readsResponse && { [RESPONSE]: scope.response?.json }), ...own };
  const prepared = requestWithoutBody(call.endpoint, all);
  if (!call.body) return prepared;
  const body = await call.body.of(input, scope);
  if (!isObject(body) && !Array.isArray(body)) return prepared;
  const format = { rules: call.body.format, path: match.parameters };
  return { ...prepared, body: body as JsonObject | readonly JsonObject[], format };
}

/** Returns v4's response, from the cache if the pack allows it. */
async function sendCached(
  { cacheSeconds }: RouteCall,
  prepared: PreparedRequest,
  { upstream, services, client, headers = {} }: AuthorizedRequest,
): Promise<CallResponse | UpstreamResponse> {
  if (cacheSeconds === 0 || client.hash === undefined) return upstream.call(prepared);
  const cache = services.responseCache.of(client.hash);
  // Responses in a different language, or for a different account, need a different key.
  const key = [prepared.path, ...Object.entries(headers).flat()].join("\n");
  const cached = cache.get(key);
  if (cached !== undefined) {
    (upstream.activity.cachedReads ??= []).push({ path: prepared.path, json: cached });
    return { success: true, json: cached };
  }
  upstream.activity.cacheMisses += 1;
  const response = await upstream.call(prepared);
  const { success, json, bytes } = response;
  if (success && json !== undefined) cache.set(key, json, bytes.length, cacheSeconds);
  return response;
}

async function sendOnce(
  call: RouteCall,
  input: CallInput,
  authorized: AuthorizedRequest,
): Promise<CallOutcome> {
  const prepared = await prepareCall(call, input, authorized);
  const response = await sendCached(call, prepared, authorized);
  return response.success
    ? { value: response.json, response }
    : { failure: { response: response as UpstreamResponse, prepared } };
}

/** Sends one request for each distinct value. An optional call omits the requests that fail. */
async function sendForEach(
  call: RouteCall,
  { each, ...input }: CallInput,
  authorized: AuthorizedRequest,
): Promise<CallOutcome> {
  const given = each ?? [(await call.eachValue?.(input.input, input.scope)) ?? []].flat();
  const distinct = [...new Set(given)];
  const sendFor = (value: unknown) =>
    catchFailure(sendOnce(call, { ...input, values: { ...input.values, each: value } }, authorized));
  const outcomes = await pMap(distinct, sendFor, { concurrency: MAX_CONCURRENT_REQUESTS });
  const failed = outcomes.find((outcome) => "failure" in outcome);
  if (failed && !call.isOptional) return failed;
  const byValue = new Map(distinct.map((value, index) => [value, outcomes[index]]));
  const found = given.map((value) => {
    const outcome = byValue.get(value);
    return outcome && "value" in outcome ? outcome.value : undefined;
  });
  if (found.includes(undefined))
    authorized.report.losses.add(partLoss(call.name, authorized.services.pack.dialect.upstream.name));
  return { value: found.filter((value) => value !== undefined) };
}

/** Reads all rows of a list. It is not the route's list, so its pages may differ. */
async function readRows(prepared: PreparedRequest, authorized: AuthorizedRequest): Promise<CallOutcome> {
  const { paging } = authorized.services.pack;
  const lists = { paging, parseList: authorized.match.route.lists.parseList };
  const list = await fetchAllPages(prepared, { most: MOST_ROWS, readWrapped: undefined, lists }, authorized);
  return "rows" in list
    ? { value: list.rows.map(({ row }) => row) }
    : { failure: { response: list.rejected, prepared } };
}

const catchFailure = (outcome: Promise<CallOutcome>): Promise<CallOutcome> =>
  outcome.catch((error: unknown) => ({ failure: { error } }));

async function send(call: RouteCall, input: CallInput, authorized: AuthorizedRequest): Promise<CallOutcome> {
  if (call.eachValue) return sendForEach(call, input, authorized);
  if (!call.allPages && !call.repeats) return sendOnce(call, input, authorized);
  const prepared = await prepareCall(call, input, authorized);
  return call.repeats
    ? repeatCall(call, call.repeats, prepared, input.scope, authorized)
    : readRows(prepared, authorized);
}

/** Sends a call if it is needed. An error of the call, or of its condition, is returned as the outcome. */
export async function runCall(
  call: RouteCall,
  input: CallInput,
  authorized: AuthorizedRequest,
): Promise<CallOutcome | undefined> {
  try {
    if (!(await call.isNeeded(input.input, input.scope))) return undefined;
    return await send(call, input, authorized);
  } catch (error) {
    return { failure: { error } };
  }
}

/** Whether a call was not sent, because a value that it needs is missing or an expression of it fails. */
export const isAboutValue = (error: unknown): boolean =>
  error instanceof InvalidPathValueError || error instanceof ExpressionError;

/** Adds the failed expression to the record, if its error is not the request's error. */
export function warnAbout(error: unknown, authorized: AuthorizedRequest): void {
  const causes = error instanceof ValidationError ? error.details.map(({ cause }) => cause) : [error];
  for (const cause of causes) if (cause instanceof ExpressionError) warnOnce(authorized, cause.message);
}

/** Returns why a check of an optional call failed on a value. The request continues without the call. */
export const ignoredFailure = (
  errors: readonly ErrorDetail[],
  { isOptional }: Pick<RouteCall, "isOptional">,
): Error | undefined => (isOptional ? errors.find(({ cause }) => cause)?.cause : undefined);

/** Throws the failure of a required call. @throws {HttpError} v4's error, translated */
export function throwFailure(
  { response, prepared, error }: FailedCall,
  { failure }: RouteCall,
  authorized: AuthorizedRequest,
): never {
  if (!response || !prepared) throw error;
  return throwTranslatedError(response, authorized.match.route, { ...prepared, failure }, authorized);
}
