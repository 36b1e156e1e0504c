/** The native proxy: requests of v4's own clients are forwarded without translation, and streamed both ways. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createProxyMiddleware } from "http-proxy-middleware";
import { CLIENT_GONE } from "../../audit/record.ts";
import type { CircuitBreaker, AttemptOutcome } from "../../upstream/circuit-breaker.ts";
import { outcomeOfError, outcomeOfStatus, toUpstreamError } from "../../upstream/upstream-error.ts";
import { tokenHash } from "../../auth/token-cache.ts";
import { addressNetwork } from "../../rate-limit/client-address.ts";
import { createConnectionShares, ConnectionUnavailableError } from "../../upstream/connection-shares.ts";
import { header, type AlphaRequest } from "../context.ts";
import { roundMs } from "../recorded-request.ts";
import { delayResponseEnd } from "../http/delay-response-end.ts";
import type { NativeOutcome } from "./native-record.ts";
import type { AuthorizeNative } from "./native-authorization.ts";
import { addVary, cleanRequestHeaders, cleanResponseHeaders } from "./native-headers.ts";
import type { LookUpNativeToken } from "./native-rate-limit.ts";
import { createSlowStreamGuard, type NativeStream } from "./slow-streams.ts";

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
}

/** What the proxy needs of the active pack and of the gateway around it. */
export interface NativeHandlers {
  /** JSON body of a 500. */
  readonly failure: string;
  /** JSON body of the 503 while the circuit is open, and while all connections are in use. */
  readonly circuitOpen: string;
  /** Status and JSON body for a client with too many requests. */
  readonly limited: { readonly status: number; readonly body: string };
  /** JSON body of an error with this reason. */
  readonly errorBody: (reason: string) => string;
  /** v4's scheme, for a token that replaces the client's. */
  readonly scheme: string;
  readonly lookUp: LookUpNativeToken;
  readonly authorize: AuthorizeNative;
  /** Request headers that a response depends on, for caches: the scheme of the credentials decides between the dialects. */
  readonly vary: readonly string[];
  /** Records a request. @throws where the record cannot be written */
  readonly record: (plain: AlphaRequest, outcome: NativeOutcome, hash: string | undefined) => Promise<void>;
  /** Whether a response ends only after its record is durable. */
  readonly recordFirst: boolean;
}

/** The native proxy of a gateway. Call it with the handlers of a pack. */
export interface NativeProxy {
  (handlers: NativeHandlers): ForwardNative;
  /** Why there are too few connections; empty where there are enough. */
  shortages(): readonly string[];
}

/** A reason phrase that a response may have (RFC 9112 4): other bytes end in an exception. */
const SENDABLE_PHRASE = /^[\t\x20-\x7e\x80-\xff]*$/;

function sendError(
  response: ServerResponse | Socket,
  body: string,
  status = 500,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (!("writeHead" in response)) return void response.destroy();
  if (response.writableEnded) return;
  // A response that has started can only be broken off, so that the client sees that it is incomplete.
  if (response.headersSent) return void response.destroy();
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers });
  response.end(body);
}

/** Member of a request with its exchange. A `WeakMap` would keep both until the next full garbage collection. */
const EXCHANGE = Symbol("exchange");

type ForwardedRequest = IncomingMessage & { [EXCHANGE]?: Exchange };

/** One forwarded request. */
class Exchange implements NativeStream {
  readonly handlers: NativeHandlers;
  readonly plain: AlphaRequest;
  readonly request: ForwardedRequest;
  readonly response: ServerResponse;
  readonly token: string;
  readonly hash: string;
  bytesIn = 0;
  bytesOut = 0;
  guarded: NativeStream["guarded"];
  /** Releases its connection to v4. */
  release: (() => void) | undefined;
  /** Why the response is not v4's, or not all of it. */
  fault: string | undefined;
  /** Whether v4 has accepted the token. */
  isKnown = false;
  /** Status of v4's response; null while there is none, undefined where v4 was not called. */
  v4Status: number | null | undefined;
  /** Is called with the status and the headers of v4's response. */
  onResponse: ((status: number, headers: IncomingMessage["headers"]) => void) | undefined;
  readonly #breaker: CircuitBreaker;
  readonly #startedAt = performance.now();
  #recorded: Promise<void> | undefined;
  #hasOutcome = false;

  constructor(
    handlers: NativeHandlers,
    plain: AlphaRequest,
    [request, response]: readonly [ForwardedRequest, ServerResponse],
    breaker: CircuitBreaker,
  ) {
    this.handlers = handlers;
    this.plain = plain;
    this.request = request;
    this.response = response;
    this.#breaker = breaker;
    this.token = (header(plain, "authorization") ?? "").trim().replace(/^\S+ +/, "");
    this.hash = tokenHash(this.token);
  }

  /** Reports the outcome of the attempt to the circuit breaker. Only the first call counts. */
  reportOutcome(outcome: AttemptOutcome): void {
    if (!this.#hasOutcome) this.#breaker.record(outcome);
    this.#hasOutcome = true;
  }

  abort(reason: string): void {
    this.fault ??= reason;
    this.reportOutcome("ignored");
    this.response.destroy();
  }

  /** Records the request, once. @throws where the record cannot be written */
  record(isAborted = false): Promise<void> {
    const { bytesIn, bytesOut, fault, v4Status, response } = this;
    const warnings = [
      ...(fault === undefined ? [] : [`native proxy: ${fault}`]),
      ...(isAborted ? ["the response broke off"] : []),
    ];
    const ms = roundMs(performance.now() - this.#startedAt);
    // The client disconnected, unless something else broke the response off.
    const status = isAborted && fault === undefined ? CLIENT_GONE : response.statusCode;
    const outcome = { status, v4Status, bytesIn, bytesOut, warnings, ms };
    return (this.#recorded ??= this.handlers.record(this.plain, outcome, this.hash));
  }
}

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
    on: {
      proxyReq(upstreamRequest, request) {
        const exchange = request[EXCHANGE];
        // Without a response and without an error: v4 has switched protocols unasked, and the connection is closed.
        upstreamRequest.once("close", () => {
          if (exchange?.v4Status !== null || exchange.fault !== undefined || exchange.response.destroyed)
            return;
          exchange.fault = `${name} closed the connection without a response`;
          exchange.reportOutcome(outcomeOfStatus(502, exchange.isKnown));
          sendError(exchange.response, exchange.handlers.failure);
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
          upstreamResponse.statusCode = 500;
        }
        exchange.onResponse?.(statusCode, headers);
        exchange.reportOutcome(outcomeOfStatus(statusCode, exchange.isKnown));
        upstreamResponse.on("data", ({ length }: Buffer) => void (exchange.bytesOut += length));
        upstreamResponse.once("aborted", () => {
          if (!response.destroyed) exchange.fault ??= `${name} broke its response off`;
        });
      },
      error(error, request, response) {
        const exchange = request[EXCHANGE];
        if (exchange && !exchange.response.destroyed) exchange.fault ??= error.message;
        exchange?.reportOutcome(
          isUpstreamFailure(error, request) ? outcomeOfError(error, exchange.isKnown) : "ignored",
        );
        sendError(response, exchange?.handlers.failure ?? "");
      },
    },
  });
  const retryAfter = { "retry-after": String(Math.ceil(breaker.openMs / 1000)) };

  /** Authorizes a request, waits for a connection and forwards it. A rejection becomes a 500. */
  async function handle(exchange: Exchange): Promise<void> {
    const { handlers, plain, response, hash } = exchange;
    const found = handlers.lookUp(plain, hash);
    const token = found instanceof Promise ? await found : found;
    if (token.retryAfter !== undefined) {
      exchange.fault = `too many tokens that ${name} does not know, from this address`;
      const headers = { "retry-after": String(token.retryAfter) };
      return sendError(response, handlers.limited.body, handlers.limited.status, headers);
    }
    const decision = handlers.authorize(plain, hash, exchange.token);
    const { token: replacement, error } = decision instanceof Promise ? await decision : decision;
    // The client has disconnected, and its record is written.
    if (response.destroyed) return;
    if (error) {
      token.onResponse(error.status, {}, false);
      const headers = error.status === 503 ? retryAfter : {};
      return sendError(response, handlers.errorBody(error.reason), error.status, headers);
    }
    exchange.onResponse = (status, headers) => token.onResponse(status, headers, replacement !== undefined);
    exchange.isKnown = token.isKnown || replacement !== undefined;
    const client = { token: hash, address: addressNetwork(plain.address), isKnown: exchange.isKnown };
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
    const { handlers, request, response } = exchange;
    if (!breaker.allow()) {
      exchange.fault = `${name} fails: the circuit is open`;
      return sendError(response, handlers.circuitOpen, 503, retryAfter);
    }
    if (replacement !== undefined) request.headers.authorization = `${handlers.scheme} ${replacement}`;
    exchange.v4Status = null;
    request[EXCHANGE] = exchange;
    cleanRequestHeaders(request.headers);
    // The proxy reports an error in three ways: to its handler above, to this callback, and by a rejection.
    return proxy(request, response, () => sendError(response, handlers.failure));
  }

  function fail(error: unknown, exchange: Exchange): void {
    const { handlers, response } = exchange;
    if (!(error instanceof ConnectionUnavailableError)) return sendError(response, handlers.failure);
    exchange.fault = error.message;
    if (error.isOwnShare)
      return sendError(response, handlers.limited.body, handlers.limited.status, retryAfter);
    return sendError(response, handlers.circuitOpen, 503, retryAfter);
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
