/**
 * The start and the end of every request: errors become responses, responses get their headers, and a record is
 * written.
 */
import { finished } from "node:stream/promises";
import { CLIENT_GONE, type RequestSpan } from "../../base/index.ts";
import {
  HttpError,
  inCallback,
  type Pack,
  type RateLimitHeaders,
  type RateLimitValues,
  readRetryAfter,
  rejectedByUpstream,
} from "../../pack/index.ts";
import { provenIdentity, forEachStage, RequestContext } from "../request/context.ts";
import type {
  AlphaResponse,
  HandlerResult,
  RequestOutcome,
  ResponseBody,
  ResultMeaning,
} from "../request/response.ts";
import type { AlphaRequest } from "../request/request.ts";
import { cancelError } from "../upstream/cancel-signal.ts";
import { toErrorResult } from "../responses/error-result.ts";
import { FIELD_HEADER } from "../responses/shape-bodies.ts";
import { addErrorHeaders } from "../responses/passed-headers.ts";
import type { PlanRules } from "../request/plan.ts";
import type { ResponseDefaults } from "./pipeline-config.ts";

/** Turns a client's request into its response. It never rejects. */
export type AlphaHandler = (request: AlphaRequest) => Promise<AlphaResponse>;

type MeantResult = HandlerResult & { readonly meaning: ResultMeaning };

export interface LifecycleDependencies {
  readonly pack: Pack;
  readonly style: ResponseDefaults;
  /** The headers of responses that announce the end of the client's API. */
  readonly plan: Pick<PlanRules, "headersFor" | "isActive" | "judge" | "link">;
  /** The v4 call of a request that was refused before it was built, for its response. */
  readonly equivalentOf?: (request: AlphaRequest, context: RequestContext) => string;
  /** Starts a request's span; undefined if tracing is off. */
  readonly startSpan?: ((request: AlphaRequest) => RequestSpan | undefined) | undefined;
  /** Records a request. Returns a promise if the response must wait for the record. It reports its own failures. */
  readonly record: (
    request: AlphaRequest,
    outcome: RequestOutcome,
    context: RequestContext,
  ) => void | Promise<void>;
  /** Called with unexpected errors. */
  readonly onUnexpectedError: (error: unknown, request: AlphaRequest, context: RequestContext) => void;
}

/** Wraps a handler: this is the only code that turns errors into responses, and writes the record of every request. */
export function withLifecycle(
  handle: (request: AlphaRequest, context: RequestContext) => Promise<HandlerResult>,
  dependencies: LifecycleDependencies,
): AlphaHandler {
  const { pack, style, equivalentOf, startSpan, record, onUnexpectedError } = dependencies;

  function resultOf(error: unknown, request: AlphaRequest, context: RequestContext): MeantResult {
    if (error instanceof HttpError && error.rejection) {
      const { by, warning } = error.rejection;
      context.rejectedBy = by;
      if (warning !== undefined) context.warnings.push(warning);
    }
    if (style.upstreamHeader !== undefined) context.upstreamEquivalent ??= equivalentOf?.(request, context);
    const { isUnexpected, writeBody, ...result } = toErrorResult(error, request, context, pack);
    if (isUnexpected) onUnexpectedError(error, request, context);
    const rules = context.match ? context.match.route.headers : pack.commonHeaders;
    // Headers may depend on the body, and the body may contain the seconds of a header. Such headers use the body
    // without the seconds.
    const headers = rules?.error
      ? addErrorHeaders(request, { ...result, writeBody }, rules.error, context, style)
      : result.headers;
    const limit = result.meaning === "limited" ? limitStatusOf(context) : undefined;
    const retryAfter = readRetryAfter(headers?.["retry-after"]) ?? limit?.retryAfter;
    return { ...result, body: writeBody(retryAfter), ...(headers && { headers }) };
  }

  /**
   * Writes the record of a file when the file ends, which is after the start of its response.
   *
   * @returns the response that replaces the file, if the record had to be durable and is not
   */
  async function recordAtEnd(
    request: AlphaRequest,
    outcome: RequestOutcome,
    context: RequestContext,
  ): Promise<AlphaResponse | undefined> {
    const { stream } = outcome.response.file ?? {};
    let isGone = false;
    if (stream)
      await finished(stream, { writable: false }).catch(() => {
        // If v4 ends the file early, the client is still connected at this moment.
        isGone = request.signal.aborted;
      });
    try {
      await record(request, isGone ? { ...outcome, status: CLIENT_GONE } : outcome, context);
      return undefined;
    } catch (error) {
      return finalizeResponse(request, resultOf(error, request, context), dependencies, context);
    }
  }

  return async function handleRequest(request) {
    const context = new RequestContext(request.startedAt, startSpan?.(request), request.time);
    let result: MeantResult;
    try {
      result = { ...(await handle(request, context)), meaning: "succeeded" };
    } catch (error) {
      result = resultOf(error, request, context);
    } finally {
      context.token?.release?.();
    }
    const response = finalizeResponse(request, result, dependencies, context);
    const { meaning } = result;
    const isGone = request.signal.aborted && meaning === "failed";
    if (isGone) warnOfDisconnect(request, context);
    const outcome = { status: isGone ? CLIENT_GONE : result.status, meaning, response };
    if (response.file) return { ...response, recorded: recordAtEnd(request, outcome, context) };
    try {
      const recorded = record(request, outcome, context);
      if (recorded) await recorded;
      return response;
    } catch (error) {
      // The record must be durable before the response. If it is not, there is no response.
      return finalizeResponse(request, resultOf(error, request, context), dependencies, context);
    }
  };
}

/** Adds a warning that the client has disconnected, unless a call that was in flight has added it. */
function warnOfDisconnect({ signal }: AlphaRequest, { warnings }: RequestContext): void {
  const { kind, message } = cancelError(signal);
  const text = `${kind}, ${message}`;
  if (!warnings.some((warning) => warning.endsWith(text))) warnings.push(text);
}

/** Returns the client's rate limit status at the gateway, or v4's if v4 rejected the request (R-6). */
const limitStatusOf = ({
  rateLimitStatus,
  upstreamRateLimit,
}: Pick<RequestContext, "rateLimitStatus" | "upstreamRateLimit">): RateLimitValues | undefined =>
  rateLimitStatus && upstreamRateLimit
    ? rejectedByUpstream(rateLimitStatus, upstreamRateLimit)
    : rateLimitStatus;

/**
 * Adds the status of the rate limit.
 *
 * @param isLimited whether a limit rejected the request: the gateway's, v4's or the login server's
 */
function addLimitHeaders(
  values: RequestContext,
  rateLimitHeaders: RateLimitHeaders,
  isLimited: boolean,
  headers: Record<string, string>,
): void {
  const status = limitStatusOf(values);
  if (!status) return;
  rateLimitHeaders.write(status, headers);
  if (isLimited) headers["retry-after"] = String(status.retryAfter);
}

/** Adds the headers of a list. An existing `Link` is kept, because `Link` is a list (RFC 8288, section 3). */
function addListHeaders(
  { link, ...others }: NonNullable<RequestContext["listHeaders"]>,
  headers: Record<string, string>,
): void {
  Object.assign(headers, others);
  if (link !== undefined)
    headers["link"] = headers["link"] === undefined ? link : `${headers["link"]}, ${link}`;
}

/** Formats the milliseconds of each stage (W3C Server Timing). The audit follows the response, so it is not included. */
function serverTimingOf(values: RequestContext): string {
  const entries: string[] = [];
  forEachStage(values, (stage, ms) => entries.push(`${stage};dur=${ms.toFixed(3)}`));
  return entries.join(", ");
}

const NO_BYTES = Buffer.alloc(0);

/** Matches a call with one method and path, in the form for clients. */
const ONE_CALL = /^[A-Z]+ (\/[^\s<>"{}]*)$/;

/** Returns the headers that announce the end, with the call that replaces this one (RFC 5829, section 3.4). */
function planHeaders(
  request: AlphaRequest,
  plan: Pick<PlanRules, "headersFor">,
  { client, token, application, match, upstreamEquivalent = "", hiddenFields }: RequestContext,
): Readonly<Record<string, string>> | undefined {
  const headers = plan.headersFor(
    () => provenIdentity(request, { client, token, application }),
    match?.route.name ?? null,
  );
  if (!headers) return undefined;
  const [, successor] = ONE_CALL.exec(upstreamEquivalent) ?? [];
  const link = [headers["link"], successor && `<${successor}>; rel="successor-version"`]
    .filter(Boolean)
    .join(", ");
  return {
    ...headers,
    ...(link !== "" && { link }),
    ...(hiddenFields && { [FIELD_HEADER]: hiddenFields.join(", ") }),
  };
}

/** Adds the headers to a response. A client that always requests 200 gets the true status in a header. */
function finalizeResponse(
  request: AlphaRequest,
  { status, body, headers: ownHeaders, meaning }: MeantResult,
  { pack, style, plan }: Pick<LifecycleDependencies, "pack" | "style" | "plan">,
  values: RequestContext,
): AlphaResponse {
  const { statuses, responseTypes, rateLimitHeaders } = pack;
  const { headers: defaults, upstreamHeader, serverTiming } = style;
  const { isAlwaysOk = false, callback } = style.askedForm?.(request) ?? {};
  const phrase = statuses.phrases[status];
  const headers: Record<string, string> = {
    ...defaults,
    ...planHeaders(request, plan, values),
    "content-type": meaning === "succeeded" ? responseTypes.success : responseTypes.error,
    "x-request-id": request.id,
  };
  addLimitHeaders(values, rateLimitHeaders.client, meaning === "limited", headers);
  if (upstreamHeader !== undefined && values.upstreamEquivalent !== undefined)
    headers[upstreamHeader] = values.upstreamEquivalent;
  if (style.upstreamFilterHeader !== undefined && values.upstreamFilter !== undefined)
    headers[style.upstreamFilterHeader] = values.upstreamFilter;
  if (values.listHeaders) addListHeaders(values.listHeaders, headers);
  if (serverTiming) headers["server-timing"] = serverTimingOf(values);
  // HTTP requires this header with this status, regardless of the reason.
  if (status === 401 && style.challenge !== undefined) headers["www-authenticate"] = style.challenge;
  if (ownHeaders) Object.assign(headers, ownHeaders);
  if (body === "") delete headers["content-type"];
  if (isAlwaysOk && style.statusHeader !== undefined) headers[style.statusHeader] = String(status);
  const file = typeof body === "string" || Buffer.isBuffer(body) ? undefined : body;
  if (file) headers["content-type"] = file.type;
  if (file?.coding !== undefined) headers["content-encoding"] = file.coding;
  const isText = ownHeaders?.["content-type"] !== undefined;
  const isScript = callback !== undefined && !file && !isText && body !== "";
  if (isScript) headers["content-type"] = "text/javascript; charset=utf-8";
  const isOk = isAlwaysOk || isScript;
  return {
    status: isOk ? 200 : status,
    ...(phrase !== undefined && !isOk && { phrase }),
    headers,
    body: isScript ? Buffer.from(inCallback(callback, bytesOf(body).toString())) : bytesOf(body),
    ...((isText || isScript) && { isText: true }),
    ...(file && { file }),
  };
}

function bytesOf(body: ResponseBody): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  return Buffer.isBuffer(body) ? body : NO_BYTES;
}
