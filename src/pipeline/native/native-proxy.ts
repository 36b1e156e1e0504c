/** The native proxy: requests of v4's own clients are forwarded without translation, and streamed both ways. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createProxyMiddleware } from "http-proxy-middleware";
import type { CircuitBreaker } from "../../upstream/circuit-breaker.ts";
import { outcomeOfError, outcomeOfStatus, toUpstreamError } from "../../upstream/upstream-error.ts";
import { addressNetwork } from "../../rate-limit/client-address.ts";
import { TlsAgent, type CurrentContext } from "../../upstream/upstream-tls.ts";
import { createConnectionShares, ConnectionUnavailableError } from "../../upstream/connection-shares.ts";
import type { AlphaRequest } from "../context.ts";
import { delayResponseEnd } from "../http/delay-response-end.ts";
import { addVary, cleanRequestHeaders, cleanResponseHeaders } from "./native-headers.ts";
import { Exchange, sendError, type NativeHandlers } from "./native-exchange.ts";
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
  const proxy = createProxyMiddleware<ForwardedRequest, ServerResponse>({
    target: origin.href.replace(/\/$/, ""),
    changeOrigin: true,
    xfwd: false,
    followRedirects: false,
    proxyTimeout: timeoutMs,
    ...(secureContext && { agent: new TlsAgent(secureContext, { keepAlive: true }) }),
    on: {
      proxyReq(upstreamRequest, request) {
        const exchange = request[EXCHANGE];
        // Without a response and without an error: v4 has switched protocols unasked, and the connection is closed.
        upstreamRequest.once("close", () => {
          if (exchange?.v4Status !== null || exchange.fault !== undefined || exchange.response.destroyed)
            return;
          exchange.fault = `${name} closed the connection without a response`;
          exchange.reportOutcome(outcomeOfStatus(502, exchange.isAccepted));
          exchange.fail();
        });
        request.on("data", ({ length }: Buffer) => exchange && (exchange.bytesIn += length));
      },
      proxyRes(upstreamResponse, request, response) {
        const { headers, statusCode = 0, statusMessage = "" } = upstreamResponse;
        cleanResponseHeaders(headers);
        // Node would throw an error that nobody catches.
        if (!SENDABLE_PHRASE.test(statusMessage)) upstreamResponse.statusMessage = "";
        // As the client asked: the proxy would keep every connection alive.
        headers.connection = response.shouldKeepAlive ? "keep-alive" : "close";
        const exchange = request[EXCHANGE];
        if (!exchange) return;
        addVary(headers, exchange.handlers.vary);
        exchange.v4Status = statusCode;
        if (statusCode < 200 || statusCode > 599) {
          exchange.fault = `${name} responded with the status ${statusCode}`;
          exchange.hasFailed = true;
          upstreamResponse.statusCode = 500;
        }
        exchange.learn(statusCode, headers);
        upstreamResponse.on("data", ({ length }: Buffer) => void (exchange.bytesOut += length));
        upstreamResponse.once("aborted", () => {
          if (!response.destroyed) exchange.fault ??= `${name} broke its response off`;
        });
      },
      error(error, request, response) {
        const exchange = request[EXCHANGE];
        if (!exchange) return sendError(response, "");
        if (!exchange.response.destroyed) exchange.fault ??= error.message;
        if (isUpstreamFailure(error, request)) {
          exchange.reportOutcome(outcomeOfError(error, exchange.isAccepted));
          return exchange.fail();
        }
        exchange.reportOutcome("ignored");
        sendError(response, exchange.handlers.failure);
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
      return sendError(response, handlers.errorBody(reason), status, isTemporary ? retryAfter : {});
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
    return proxy(request, response, () => sendError(response, handlers.failure));
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
      const exchange = new Exchange(handlers, plain, [request, response], breaker);
      response.setHeader("vary", handlers.vary.join(", "));
      if (handlers.recordFirst) delayResponseEnd(response, () => exchange.record());
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
  });
}
