/** The native proxy: requests of v4's own clients are forwarded without translation, and streamed both ways. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createProxyMiddleware } from "http-proxy-middleware";
import type { CircuitBreaker } from "../../upstream/circuit-breaker.ts";
import { outcomeOfError, outcomeOfStatus, toUpstreamError } from "../../upstream/upstream-error.ts";
import { addressNetwork } from "../../rate-limit/client-address.ts";
import type { CurrentContext } from "../../upstream/upstream-tls.ts";
import { createConnectionShares, ConnectionUnavailableError } from "../../upstream/connection-shares.ts";
import type { AlphaRequest } from "../context.ts";
import { HEAD_TOO_LONG, isHeadTooLong } from "../http/request-context.ts";
import { delayResponseEnd } from "../http/delay-response-end.ts";
import {
  addVary,
  cleanRequestHeaders,
  cleanResponseHeaders,
  hasUnknownCoding,
  removeCorsHeaders,
} from "./native-headers.ts";
import { createAgent, wasClosedWhileIdle } from "./native-connections.ts";
import { Exchange, type NativeHandlers } from "./native-exchange.ts";
import { NativeResponse } from "./response-secrets.ts";
import { createSlowStreamGuard } from "./slow-streams.ts";

/** Forwards a request. `plain` describes it as plain data, for the audit. */
export type ForwardNative = (request: IncomingMessage, response: ServerResponse, plain: AlphaRequest) => void;

export interface NativeProxyOptions {
  /** Names the upstream in messages. */
  readonly name: string;
  readonly origin: URL;
  readonly timeoutMs: number;
  /** Requests at a time. */
  readonly connections: number;
  /** Shared with all other calls to this v4. */
  readonly breaker: CircuitBreaker;
  /** The certificates of connections. Default: Node's own. */
  readonly secureContext?: CurrentContext | undefined;
}

/** The native proxy of a gateway. Call it with the handlers of a pack. */
export interface NativeProxy {
  (handlers: NativeHandlers): ForwardNative;
  /** Why there are too few connections; empty where there are enough. */
  shortages(): readonly string[];
  /** Closes all connections. */
  close(): void;
}

/** A reason phrase that a response may have (RFC 9112 4): other bytes end in an exception. */
const SENDABLE_PHRASE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Member of a request with its exchange. A `WeakMap` would keep both until the next full garbage collection. */
const EXCHANGE = Symbol("exchange");

type ForwardedRequest = IncomingMessage & { [EXCHANGE]?: Exchange };

/**
 * Whether v4 failed. A connection that breaks while the client is still sending may be the client's doing: otherwise a
 * client could open the circuit for others.
 */
const isUpstreamFailure = (error: Error, request: IncomingMessage): boolean =>
  request.complete || toUpstreamError(error).kind === "unreachable";

/** Idempotent methods (RFC 9110 9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

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

/** Creates the native proxy to one v4. Its connections are shared by all packs. */
export function createNativeProxy({
  name,
  origin,
  timeoutMs,
  connections,
  breaker,
  secureContext,
}: NativeProxyOptions): NativeProxy {
  const shares = createConnectionShares({
    size: connections,
    perToken: Math.ceil(connections / 2),
    perAddress: Math.ceil((connections * 3) / 4),
    maxWaitMs: timeoutMs,
  });
  const slowStreams = createSlowStreamGuard(() => shares.queueLength(), timeoutMs / 4);
  const agent = createAgent(origin, connections, secureContext);
  const proxy = createProxyMiddleware<ForwardedRequest, ServerResponse>({
    target: origin.href.replace(/\/$/, ""),
    changeOrigin: true,
    xfwd: false,
    followRedirects: false,
    proxyTimeout: timeoutMs,
    agent,
    on: {
      proxyReq(upstreamRequest, request) {
        const exchange = request[EXCHANGE];
        // Also where it has the shorter limit of an idle connection.
        upstreamRequest.socket?.setTimeout(timeoutMs);
        const bytesBefore = upstreamRequest.socket?.bytesRead ?? 0;
        const sent = { request: upstreamRequest, bytesBefore, hasTimedOut: false };
        if (exchange) exchange.sent = sent;
        upstreamRequest.once("timeout", () => (sent.hasTimedOut = true));
        // Without a response and without an error: v4 has switched protocols unasked, and the connection is closed.
        upstreamRequest.once("close", () => {
          if (exchange?.sent?.request !== upstreamRequest) return;
          if (exchange.v4Status !== null || exchange.fault !== undefined || exchange.response.destroyed)
            return;
          exchange.fault = `${name} closed the connection without a response`;
          exchange.reportOutcome(outcomeOfStatus(502, exchange.isAccepted));
          exchange.fail();
        });
        if (!exchange?.isResent)
          request.on("data", ({ length }: Buffer) => exchange && (exchange.bytesIn += length));
      },
      proxyRes(upstreamResponse, request, response) {
        const { headers, statusCode = 0, statusMessage = "" } = upstreamResponse;
        const exchange = request[EXCHANGE];
        if (exchange)
          exchange.received = new NativeResponse(headers, exchange.handlers.searchedBytes(exchange.plain));
        const isUnreadable = hasUnknownCoding(headers);
        cleanResponseHeaders(headers);
        // Node would throw an error that nobody catches.
        if (!SENDABLE_PHRASE.test(statusMessage)) upstreamResponse.statusMessage = "";
        // As the client asked: the proxy would keep every connection alive.
        headers.connection = response.shouldKeepAlive ? "keep-alive" : "close";
        if (!exchange) return;
        if (exchange.handlers.hasOwnCors) removeCorsHeaders(headers);
        addVary(headers, exchange.handlers.vary);
        exchange.v4Status = statusCode;
        exchange.learn(statusCode, headers);
        if (statusCode < 200 || statusCode > 599 || isUnreadable) {
          exchange.fault = isUnreadable
            ? `${name} responded with a transfer coding that nobody asked for`
            : `${name} responded with the status ${statusCode}`;
          upstreamResponse.statusCode = 500;
          onBreakOff(upstreamResponse, () => {});
          // The proxy copies v4's head after this handler.
          process.nextTick(() => {
            upstreamResponse.unpipe(response).resume();
            exchange.fail();
          });
          return;
        }
        if (statusCode === 204) delete headers["content-length"];
        const isBodiless = statusCode === 204 || statusCode === 304;
        // Such a response ends at its head, whatever follows (RFC 9112 6.3).
        if (isBodiless || request.method === "HEAD") exchange.isComplete = true;
        upstreamResponse.once("end", () => (exchange.isComplete = true));
        upstreamResponse.on("data", (chunk: Buffer) => {
          exchange.bytesOut += chunk.length;
          exchange.received?.add(chunk);
        });
        onBreakOff(upstreamResponse, (error) => {
          upstreamResponse.unpipe(response);
          if (exchange.isComplete || response.destroyed) return;
          exchange.fault ??= `${name} broke its response off: ${error.message}`;
          exchange.fail();
        });
      },
      error(error, request, response) {
        const exchange = request[EXCHANGE];
        if (!exchange) return void response.destroy();
        if (exchange.isComplete) return;
        if (isSentAgain(exchange, error)) {
          exchange.isResent = true;
          // Until the second one has a connection: the first may close later, and says nothing any more.
          exchange.sent = undefined;
          return void proxy(exchange.request, exchange.response, () => exchange.fail());
        }
        if (!exchange.response.destroyed) exchange.fault ??= error.message;
        if (isUpstreamFailure(error, request)) {
          exchange.reportOutcome(outcomeOfError(error, exchange.isAccepted));
          return exchange.fail();
        }
        exchange.reportOutcome("ignored");
        exchange.reject({ status: 500, body: exchange.handlers.failure });
      },
    },
  });
  const retryAfter = { "retry-after": String(Math.ceil(breaker.openMs / 1000)) };

  /** Authorizes a request, waits for a connection and forwards it. A rejection becomes a 500. */
  async function handle(exchange: Exchange): Promise<void> {
    const { handlers, plain, response, hash } = exchange;
    const found = handlers.lookUp(plain, hash);
    const token = found instanceof Promise ? await found : found;
    exchange.tokenInfo = token;
    exchange.isAccepted = token.isAccepted;
    if (token.retryAfter !== undefined) {
      const reason = `too many tokens that ${name} has not accepted, from this address`;
      return exchange.rejectLimited(reason, { "retry-after": String(token.retryAfter) });
    }
    if (isHeadTooLong(exchange.request)) {
      exchange.rejectedBy = "head_size";
      const body = handlers.errorBody(HEAD_TOO_LONG, 431);
      return exchange.reject({ status: 431, body, headers: { "x-request-id": plain.id } });
    }
    const decision = handlers.authorize(plain, hash, exchange.token);
    const { token: replacement, isIssued, error } = decision instanceof Promise ? await decision : decision;
    // The client has disconnected, and its record is written.
    if (response.destroyed) return;
    if (isIssued) {
      token.onIssued();
      exchange.isAccepted = true;
    }
    if (error) {
      const { reason, status, isTemporary } = error;
      if (isTemporary) token.onFailure();
      const headers = isTemporary ? retryAfter : {};
      return exchange.reject({ status, body: handlers.errorBody(reason, status), headers });
    }
    exchange.isReplaced = replacement !== undefined;
    const client = { token: hash, address: addressNetwork(plain.address), isKnown: exchange.isAccepted };
    const share = shares.acquire(client, plain.signal);
    if (share instanceof Promise) slowStreams.start();
    const release = share instanceof Promise ? await share : share;
    if (response.destroyed) return release();
    exchange.release = release;
    slowStreams.add(exchange);
    await forward(exchange, replacement);
  }

  /** Forwards to v4, with the token that replaces the client's, where there is one. */
  function forward(exchange: Exchange, replacement: string | undefined): Promise<void> | void {
    const { handlers, response } = exchange;
    const request: ForwardedRequest = exchange.request;
    if (!breaker.allow()) {
      exchange.fault = `${name} fails: the circuit is open`;
      return exchange.fail(handlers.circuitOpen, 503, retryAfter);
    }
    if (replacement !== undefined) request.headers.authorization = `${handlers.scheme} ${replacement}`;
    exchange.v4Status = null;
    request[EXCHANGE] = exchange;
    cleanRequestHeaders(request.headers);
    // The proxy reports an error in three ways: to its handler above, to this callback, and by a rejection.
    return proxy(request, response, () => exchange.reject({ status: 500, body: handlers.failure }));
  }

  function fail(error: unknown, exchange: Exchange): void {
    // The client has disconnected.
    if (exchange.response.destroyed) return;
    if (!(error instanceof ConnectionUnavailableError)) return exchange.fail();
    if (error.isOwnShare) return exchange.rejectLimited(error.message, retryAfter);
    exchange.fault = error.message;
    exchange.fail(exchange.handlers.circuitOpen, 503, retryAfter);
  }

  const createForward = (handlers: NativeHandlers): ForwardNative =>
    function forwardNative(request, response, plain) {
      response.setHeader("vary", handlers.vary.join(", "));
      const exchange = new Exchange(handlers, plain, [request, response], breaker);
      if (handlers.recordFirst)
        delayResponseEnd(response, () =>
          exchange.record().then(
            () => undefined,
            () => () => exchange.fail(),
          ),
        );
      response.once("close", () => {
        slowStreams.remove(exchange);
        exchange.release?.();
        if (exchange.v4Status !== undefined) exchange.reportOutcome("ignored");
        // The response has ended: `record` has reported its own failure.
        exchange.record(!response.writableFinished).catch(() => {});
      });
      handle(exchange).catch((error: unknown) => fail(error, exchange));
    };

  return Object.assign(createForward, {
    shortages: () =>
      shares.isExhausted() ? [`all connections to ${name} for its own clients are in use`] : [],
    close: () => agent.destroy(),
  });
}
