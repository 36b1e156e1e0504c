/** A call that is repeated until its response meets a condition, because an operation must end first. */
import {
  failureAsValue,
  GATEWAY_TIMEOUT,
  HttpError,
  type OperationState,
  type Repetition,
  type RouteCall,
  type Scope,
  TranslatedError,
} from "../../pack/index.ts";
import { ExpressionError, type MaybePromise } from "../../jsonata/index.ts";
import { pauseUntilAborted, TimeLimit } from "../upstream/cancel-signal.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { PreparedRequest, UpstreamRequest } from "../calls/prepared-request.ts";
import { InvalidUpstreamResponseError, type UpstreamResponse } from "../calls/upstream-response.ts";
import { isObject, printJson } from "../../base/index.ts";

/** Statuses that the next request would get as well: the operation is hidden, or no longer exists. */
const LASTING_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410]);

/** Errors of a single request. After the main call, the operation continues regardless of them. */
const ERRORS_OF_A_REQUEST = [UpstreamError, HttpError, InvalidUpstreamResponseError, ExpressionError];

/** Adds a warning to a report, unless the report already contains it. */
export function warnOnce({ report }: AuthorizedRequest, text: string): void {
  if (!report.warnings.includes(text)) report.warnings.push(text);
}

/**
 * Returns one response about the operation, and its state. Undefined if there is no response.
 *
 * @throws the request's error if the client has disconnected or the main call has not been sent
 */
async function askForState(
  { stateOf }: Repetition,
  isBefore: boolean,
  request: UpstreamRequest,
  scope: Scope,
  authorized: AuthorizedRequest,
): Promise<{ readonly response: UpstreamResponse; readonly state: OperationState } | undefined> {
  try {
    const response = await authorized.upstream.call(request);
    return { response, state: response.status < 400 ? await stateOf(response, scope) : "in progress" };
  } catch (error) {
    const isOfRequest = ERRORS_OF_A_REQUEST.some((kind) => error instanceof kind);
    if (isBefore || authorized.request.signal.aborted || !isOfRequest) throw error;
    // The call has already added a warning about its failure.
    if (!(error instanceof UpstreamError)) warnOnce(authorized, (error as Error).message);
    return undefined;
  }
}

/**
 * Returns v4's response for a failed operation, as if the call itself had failed. If the operation's error can't be
 * read, the whole response is used.
 */
async function errorOf(
  repetition: Repetition,
  response: UpstreamResponse,
  scope: Scope,
  authorized: AuthorizedRequest,
): Promise<UpstreamResponse> {
  const { headers, bytes } = response;
  const error = await failureAsValue(() => repetition.errorOf(response, scope));
  if (error instanceof ExpressionError) warnOnce(authorized, error.message);
  const json = error instanceof ExpressionError ? response.json : error;
  return { status: repetition.errorStatus, success: false, headers, bytes, json };
}

/**
 * Sends a call until its response meets the condition, within the time of the pack and of the request.
 *
 * @throws {UpstreamError} if the client has disconnected
 */
export async function repeatCall(
  { place }: RouteCall,
  repetition: Repetition,
  prepared: PreparedRequest,
  scope: Scope,
  authorized: AuthorizedRequest,
): Promise<CallOutcome> {
  const { request, services } = authorized;
  const { upstream } = services.pack.rateLimitHeaders;
  const leftMs = Math.max(0, (authorized.deadline ?? Infinity) - performance.now());
  const limitMs = Math.min(repetition.timeoutMs, leftMs);
  const signal = new TimeLimit(
    request.signal,
    limitMs,
    () => new UpstreamError("deadline", `no result in ${limitMs} ms`),
  );
  const isBefore = place === "before";
  const pauseUntilNext = async (headers: UpstreamResponse["headers"]): Promise<boolean> => {
    const ms = Math.max(repetition.intervalMs, 1000 * (upstream.read(headers).retryAfter ?? 0));
    if (ms >= signal.remainingMs) return false;
    await pauseUntilAborted(ms, signal);
    if (request.signal.aborted) throw new UpstreamError("client_aborted", "the client disconnected");
    return true;
  };
  try {
    // An operation never ends right after the call that started it.
    if (!isBefore && !(await pauseUntilNext(scope.response?.headers ?? {}))) return { isUnfinished: true };
    for (;;) {
      const answer = await askForState(repetition, isBefore, { ...prepared, signal }, scope, authorized);
      const { response, state } = answer ?? {};
      if (response && state === "done") return { value: response.json, response };
      if (response && state === "failed")
        return { failure: { response: await errorOf(repetition, response, scope, authorized), prepared } };
      if (response && isBefore && !response.success) return { failure: { response, prepared } };
      if (response && LASTING_STATUSES.has(response.status)) return { isUnfinished: true };
      if (!(await pauseUntilNext(response?.headers ?? {}))) return { isUnfinished: true };
    }
  } finally {
    signal.release();
  }
}

/** v4's response. If it came from the cache, it only contains the JSON. */
export type CallResponse = Pick<UpstreamResponse, "success" | "json"> & Partial<UpstreamResponse>;

/** The reason why a call has no value: v4's error, or an error of the call itself. */
export interface FailedCall {
  readonly response?: UpstreamResponse;
  readonly prepared?: PreparedRequest;
  readonly error?: unknown;
}

/** The outcome of a call. */
export type CallOutcome =
  | { readonly value: unknown; readonly response?: CallResponse }
  | { readonly failure: FailedCall }
  /** The call's response did not meet the condition in time. */
  | { readonly isUnfinished: true };

/** Throws the error of an operation in progress: the client must not repeat the request. @throws {HttpError} always */
export function throwUnfinished({ unfinished }: RouteCall, authorized: AuthorizedRequest): never {
  warnOnce(authorized, "the operation is still in progress");
  if (unfinished && "error" in unfinished)
    throw new TranslatedError(unfinished.error.status, unfinished.error.reason);
  throw new HttpError(
    GATEWAY_TIMEOUT,
    "The request was accepted and is still in progress. Do not send it again.",
  );
}

/**
 * Returns the client's object while an operation is in progress.
 *
 * @throws {HttpError} if the pack defines none
 */
export async function unfinishedBody(
  call: RouteCall,
  scope: Scope,
  authorized: AuthorizedRequest,
): Promise<string> {
  const { unfinished } = call;
  if (!unfinished || "error" in unfinished) return throwUnfinished(call, authorized);
  warnOnce(authorized, "the operation is still in progress");
  authorized.report.successStatus = unfinished.status;
  return printOwnObject(unfinished.body, scope, authorized);
}

/**
 * Returns the result of an expression that replaces a response with the client's object. The object has no members if
 * the expression returns nothing, or fails.
 */
export async function printOwnObject(
  objectOf: (scope: Scope) => MaybePromise<unknown>,
  scope: Scope,
  authorized: AuthorizedRequest,
): Promise<string> {
  const object = await failureAsValue(() => objectOf(scope));
  const hasFailed = object instanceof ExpressionError;
  if (hasFailed) warnOnce(authorized, object.message);
  return printJson(!hasFailed && isObject(object) ? object : {});
}
