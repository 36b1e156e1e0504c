/** Streams the requests and responses of v4's own clients between them and v4, and notes in the exchange what passes. */
import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { createProxyMiddleware } from "http-proxy-middleware";
import { outcomeOfError, outcomeOfStatus, toUpstreamError } from "../../upstream/upstream-error.ts";
import { wasClosedWhileIdle } from "./native-connections.ts";
import type { Exchange } from "./native-exchange.ts";
import { addVary, hasUnknownCoding, removeCorsHeaders } from "./native-headers.ts";
import { hasBody } from "../http/receive-body.ts";

/** Sends the request of an exchange to v4, and v4's response to its client. */
export type StreamingProxy = (exchange: Exchange) => Promise<void>;

export interface StreamingProxyOptions {
  /** Names the upstream in messages. */
  readonly name: string;
  readonly origin: URL;
  readonly timeoutMs: number;
  /** Has the connections. */
  readonly agent: Agent;
  readonly keepsHeaderCase?: boolean | undefined;
}

/** A reason phrase that a response may have (RFC 9112 4): other bytes end in an exception. */
const SENDABLE_PHRASE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Member of a request with its exchange. A `WeakMap` would keep both until the next full garbage collection. */
const EXCHANGE = Symbol("exchange");

type ForwardedRequest = IncomingMessage & { [EXCHANGE]: Exchange };

/**
 * Whether v4 failed. A connection that breaks while the client is still sending may be the client's doing: otherwise a
 * client could open the circuit for others.
 */
const isUpstreamFailure = (error: Error, request: IncomingMessage): boolean =>
  request.complete || toUpstreamError(error).kind === "unreachable";

/** Idempotent methods (RFC 9110 9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** Whether a request is sent once more: v4 closed the idle connection at the moment when it was used again. */
const isSentAgain = ({ request, response, sent, isResent, v4Status }: Exchange, error: Error): boolean =>
  !isResent &&
  v4Status === null &&
  !response.destroyed &&
  IDEMPOTENT.has(request.method ?? "") &&
  !hasBody(request) &&
  sent !== undefined &&
  !sent.hasTimedOut &&
  wasClosedWhileIdle(sent.request, error, sent.bytesBefore);

/**
 * Calls a listener where v4's response breaks off. The proxy itself would destroy the client's response, also while an error
 * of the gateway could take its place. It adds its listeners after this call.
 */
function onBreakOff(upstreamResponse: IncomingMessage, listener: (error: Error) => void): void {
  const EVENTS = ["error", "close"] as const;
  const before = new Set<unknown>(EVENTS.flatMap((event) => upstreamResponse.listeners(event)));
  process.nextTick(() => {
    for (const event of EVENTS)
      for (const each of upstreamResponse.listeners(event))
        if (!before.has(each)) upstreamResponse.off(event, each as () => void);
    upstreamResponse.on("error", listener);
  });
}

/** Notes which request goes to v4, on which connection, and how it ends where v4 does not respond to it. */
function watchRequest(
  exchange: Exchange,
  upstreamRequest: ClientRequest,
  { name, timeoutMs }: StreamingProxyOptions,
): void {
  // Also where it has the shorter limit of an idle connection.
  upstreamRequest.socket?.setTimeout(timeoutMs);
  const bytesBefore = upstreamRequest.socket?.bytesRead ?? 0;
  const sent = { request: upstreamRequest, bytesBefore, hasTimedOut: false };
  exchange.sent = sent;
  upstreamRequest.once("timeout", () => (sent.hasTimedOut = true));
  // Without a response and without an error: v4 has switched protocols unasked, and the connection is closed.
  upstreamRequest.once("close", () => {
    if (exchange.sent?.request !== upstreamRequest) return;
    if (exchange.v4Status !== null || exchange.fault !== undefined || exchange.response.destroyed) return;
    exchange.fault = `${name} closed the connection without a response`;
    exchange.reportOutcome(outcomeOfStatus(502, exchange.isAccepted));
    exchange.fail();
  });
  if (!exchange.isResent)
    exchange.request.on("data", (chunk: Buffer) => {
      exchange.bytesIn += chunk.length;
      exchange.recording.onSent?.(chunk);
    });
  limitTimeToHead(exchange, upstreamRequest, timeoutMs, () => (sent.hasTimedOut = true));
}

/**
 * Aborts a request whose final head does not come in time. The time starts again with each progress of the request's body.
 * The socket's own limit is not enough: each byte of v4 would start it again, also one of an interim response.
 */
function limitTimeToHead(
  { request }: Exchange,
  upstreamRequest: ClientRequest,
  timeoutMs: number,
  onTimeout: () => void,
): void {
  const timer = setTimeout(() => {
    onTimeout();
    upstreamRequest.destroy();
  }, timeoutMs);
  const restart = (): void => void timer.refresh();
  function stop(): void {
    clearTimeout(timer);
    request.off("data", restart);
    upstreamRequest.off("drain", restart).off("finish", restart);
  }
  request.on("data", restart);
  upstreamRequest.on("drain", restart).on("finish", restart);
  upstreamRequest.once("response", stop).once("close", stop);
}

/** Makes v4's head one that the gateway may send. */
function prepareHead(exchange: Exchange, upstreamResponse: IncomingMessage): void {
  const { headers, statusMessage = "" } = upstreamResponse;
  const { handlers, response } = exchange;
  handlers.cleanResponse(headers);
  // Node would throw an error that nobody catches.
  if (!SENDABLE_PHRASE.test(statusMessage)) upstreamResponse.statusMessage = "";
  // As the client asked: the proxy would keep every connection alive.
  headers.connection = response.shouldKeepAlive ? "keep-alive" : "close";
  if (handlers.hasOwnCors) removeCorsHeaders(headers);
  addVary(headers, handlers.vary);
}

/** Prepares v4's response for its way to the client. */
function passResponse(exchange: Exchange, upstreamResponse: IncomingMessage, name: string): void {
  const { headers, statusCode = 0 } = upstreamResponse;
  exchange.recording.onHead(headers);
  const isUnreadable = hasUnknownCoding(headers);
  prepareHead(exchange, upstreamResponse);
  exchange.v4Status = statusCode;
  exchange.learn(statusCode, headers);
  if (isUnreadable)
    return replaceResponse(
      exchange,
      upstreamResponse,
      `${name} used a transfer coding that nobody asked for`,
    );
  if (statusCode < 200 || statusCode > 599)
    return replaceResponse(exchange, upstreamResponse, `${name} responded with the status ${statusCode}`);
  if (statusCode === 204) delete headers["content-length"];
  const isBodiless = statusCode === 204 || statusCode === 304;
  // Such a response ends at its head, whatever follows (RFC 9112 6.3).
  if (isBodiless || exchange.request.method === "HEAD") exchange.isComplete = true;
  watchBody(exchange, upstreamResponse, name);
}

/** Responds with an error in place of a response that no client may get. */
function replaceResponse(exchange: Exchange, upstreamResponse: IncomingMessage, fault: string): void {
  exchange.fault = fault;
  upstreamResponse.statusCode = 500;
  onBreakOff(upstreamResponse, () => {});
  // The proxy copies v4's head after this handler.
  process.nextTick(() => {
    upstreamResponse.unpipe(exchange.response).resume();
    exchange.fail();
  });
}

/** Notes what comes of v4's body, and whether it breaks off. */
function watchBody(exchange: Exchange, upstreamResponse: IncomingMessage, name: string): void {
  const { response } = exchange;
  upstreamResponse.once("end", () => (exchange.isComplete = true));
  upstreamResponse.on("data", (chunk: Buffer) => {
    exchange.bytesOut += chunk.length;
    exchange.recording.onReceived(chunk);
  });
  onBreakOff(upstreamResponse, (error) => {
    upstreamResponse.unpipe(response);
    if (exchange.isComplete || response.destroyed) return;
    exchange.fault ??= `${name} broke its response off: ${error.message}`;
    exchange.fail();
  });
}

/** Responds to an error of the connection to v4 or to the client, where the request is not sent again. */
function endWithError(exchange: Exchange, error: Error): void {
  if (!exchange.response.destroyed) exchange.fault ??= error.message;
  if (isUpstreamFailure(error, exchange.request)) {
    exchange.reportOutcome(outcomeOfError(error, exchange.isAccepted));
    return exchange.fail(exchange.sent?.hasTimedOut ? "timedOut" : "failed");
  }
  exchange.reportOutcome("ignored");
  exchange.reject(exchange.handlers.errors.failed);
}

/** Creates the proxy that streams. */
export function createStreamingProxy(options: StreamingProxyOptions): StreamingProxy {
  const { name, origin, timeoutMs, agent, keepsHeaderCase = false } = options;
  const proxy = createProxyMiddleware<ForwardedRequest, ServerResponse>({
    target: origin.href.replace(/\/$/, ""),
    changeOrigin: true,
    xfwd: false,
    followRedirects: false,
    preserveHeaderKeyCase: keepsHeaderCase,
    proxyTimeout: timeoutMs,
    agent,
    on: {
      proxyReq: (upstreamRequest, request) => watchRequest(request[EXCHANGE], upstreamRequest, options),
      proxyRes: (upstreamResponse, request) => passResponse(request[EXCHANGE], upstreamResponse, name),
      error(error, request) {
        const exchange = request[EXCHANGE];
        if (exchange.isComplete) return;
        if (!isSentAgain(exchange, error)) return endWithError(exchange, error);
        exchange.isResent = true;
        // Until the second one has a connection: the first may close later, and says nothing any more.
        exchange.sent = undefined;
        void proxy(request, exchange.response, () => exchange.fail());
      },
    },
  });

  return function stream(exchange) {
    const request: ForwardedRequest = Object.assign(exchange.request, { [EXCHANGE]: exchange });
    // The proxy reports an error in three ways: to its handler above, to this callback, and by a rejection.
    return proxy(request, exchange.response, () => exchange.reject(exchange.handlers.errors.failed));
  };
}
