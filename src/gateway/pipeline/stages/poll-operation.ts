/** The result of a call that the upstream has accepted and not yet carried out. */
import {
  GATEWAY_TIMEOUT,
  HttpError,
  InvalidPathValueError,
  type OperationState,
  type Poll,
  TranslatedError,
} from "../../../pack/index.ts";
import { isObject, printJson } from "../../../base/index.ts";
import { ExpressionError } from "../../../jsonata/index.ts";
import { DeadlineSignal } from "../../upstream/deadline-signal.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import type { AuthorizedRequest } from "../authorized-request.ts";
import { pauseUntilAborted } from "./wait-until.ts";
import { requestWithoutBody, type PreparedRequest, type UpstreamRequest } from "../prepared-request.ts";
import { throwTranslatedError } from "../../responses/translate-error.ts";
import { InvalidUpstreamResponseError, type UpstreamResponse } from "../upstream-response.ts";

/** Statuses that the next poll would have as well: the operation is hidden, or no longer known. */
const LASTING_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410]);

/** Errors of a single poll. The operation goes on whatever became of it. */
const ERRORS_OF_A_POLL = [UpstreamError, HttpError, InvalidUpstreamResponseError, ExpressionError];

function warnOnce({ report }: AuthorizedRequest, text: string): void {
  if (!report.warnings.includes(text)) report.warnings.push(text);
}

/** The GET of an operation; undefined where the upstream's response to the call does not say which one it is. */
async function preparePoll(
  poll: Poll,
  call: UpstreamResponse,
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<PreparedRequest | undefined> {
  try {
    const operation = await poll.operationOf(call);
    return requestWithoutBody(poll.endpoint, { ...prepared.values, response: call.json, operation });
  } catch (error) {
    const isInvalid =
      error instanceof InvalidPathValueError ||
      error instanceof ExpressionError ||
      error instanceof InvalidUpstreamResponseError;
    if (!isInvalid) throw error;
    warnOnce(authorized, error.message);
    return undefined;
  }
}

/** One answer about the operation, and its state; undefined where there is none. @throws when the client is gone */
async function askForState(
  poll: Poll,
  get: UpstreamRequest,
  authorized: AuthorizedRequest,
): Promise<{ readonly response: UpstreamResponse; readonly state: OperationState } | undefined> {
  try {
    const response = await authorized.upstream.call(get);
    return { response, state: response.status < 400 ? await poll.stateOf(response) : "in progress" };
  } catch (error) {
    const isOfPoll = ERRORS_OF_A_POLL.some((kind) => error instanceof kind);
    if (authorized.request.signal.aborted || !isOfPoll) throw error;
    // The call has already warned of its own failure.
    if (!(error instanceof UpstreamError)) warnOnce(authorized, (error as Error).message);
    return undefined;
  }
}

/** What the call would have responded with, with the headers of both responses. */
async function resultOf(
  poll: Poll,
  call: UpstreamResponse,
  last: UpstreamResponse,
): Promise<UpstreamResponse> {
  const headers = { ...call.headers, ...last.headers };
  const whole = { status: last.status, success: true, headers };
  if (!poll.resultOf) return { ...whole, bytes: last.bytes, json: last.json };
  const json = await poll.resultOf(last);
  return { ...whole, bytes: Buffer.from(json === undefined ? "" : printJson(json)), json };
}

/**
 * Polls an operation until it is done, within the time of the route and of the request. The call itself is never repeated.
 *
 * @param call the upstream's response to it
 * @returns the result, as if the upstream had responded with it; undefined while the operation is in progress
 * @throws {HttpError} the error of an operation that has failed, translated; {UpstreamError} when the client is gone
 */
export async function pollOperation(
  poll: Poll,
  call: UpstreamResponse,
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<UpstreamResponse | undefined> {
  const { request, services, match } = authorized;
  const { upstream } = services.translation.rateLimitHeaders;
  const get = await preparePoll(poll, call, prepared, authorized);
  if (!get) return undefined;
  const leftMs = Math.max(0, (authorized.deadline ?? Infinity) - performance.now());
  const signal = new DeadlineSignal(request.signal, Math.min(poll.timeoutMs, leftMs));
  try {
    let { headers } = call;
    for (;;) {
      const pauseMs = Math.max(poll.intervalMs, 1000 * (upstream.read(headers).retryAfter ?? 0));
      if (pauseMs >= signal.remainingMs) return undefined;
      await pauseUntilAborted(pauseMs, signal);
      if (request.signal.aborted) throw new UpstreamError("client_aborted", "the client disconnected");
      const answer = await askForState(poll, { ...get, signal }, authorized);
      const { response, state } = answer ?? {};
      headers = response?.headers ?? {};
      if (!response || state === undefined) continue;
      if (state === "done") return await resultOf(poll, call, response);
      if (state === "failed") {
        const error = { ...response, status: poll.errorStatus, success: false };
        const json = await poll.errorOf(response);
        throwTranslatedError(
          { ...error, headers, bytes: response.bytes, json },
          match.route,
          prepared,
          authorized,
        );
      }
      if (LASTING_STATUSES.has(response.status)) return undefined;
    }
  } finally {
    signal.release();
  }
}

/**
 * The client's body while an operation is in progress.
 *
 * @param call the upstream's response to the call
 * @throws {HttpError} where the pack has no body for it: the client must not repeat the call
 */
export async function unfinishedBody(
  { unfinished }: Poll,
  call: UpstreamResponse,
  authorized: AuthorizedRequest,
): Promise<string> {
  warnOnce(authorized, "the operation is still in progress");
  if (!unfinished)
    throw new HttpError(
      GATEWAY_TIMEOUT,
      "The request was accepted and is still in progress. Do not send it again.",
    );
  if ("error" in unfinished) throw new TranslatedError(unfinished.error.status, unfinished.error.reason);
  authorized.report.successStatus = unfinished.status;
  const body = await unfinished.body(call.json, authorized.match.parameters);
  return printJson(isObject(body) ? body : {});
}
