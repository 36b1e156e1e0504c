/**
 * Forwards requests in the upstream's own dialect and requests for the old service without translation, streamed both
 * ways. A policy makes the decisions before that.
 */
import { addressNetworks } from "../../base/index.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CircuitBreaker } from "../upstream/circuit-breaker.ts";
import { namesAnotherMethod } from "../../pack/index.ts";
import { ConnectionShares, ConnectionUnavailableError } from "../upstream/connection-shares.ts";
import type { AlphaRequest } from "../request/request.ts";
import { varyBy } from "../http/forwarded-headers.ts";
import { HEAD_TOO_LONG, isHeadTooLong } from "../http/request-context.ts";
import { Exchange, type ForwardGate, type ForwardPolicy } from "./exchange.ts";
import { createProxy, type Proxy, type ProxyOptions } from "./proxy.ts";
import { createSlowStreamGuard, type SlowStreamGuard } from "../bodies/slow-streams.ts";

const OTHER_METHOD = "A header names another method than the request has. Send the request with that method.";

/** Milliseconds between two checks for slow streams. Clients give up soon after. */
const LONGEST_WINDOW_MS = 5000;

/** Why there are too few connections. */
const allInUse = (name: string): string => `all connections to ${name} for its own clients are in use`;

/** Forwards a request. `plain` describes it as plain data, for the audit. */
export type ForwardRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  plain: AlphaRequest,
) => void;

export interface ForwardOptions extends ProxyOptions {
  /**
   * Whether the upstream has accepted any token. Default: yes. Then other clients leave half of the connections to
   * accepted ones.
   */
  readonly isAnyoneKnown?: () => boolean;
  /** Called when clients have waited for some seconds because all connections are in use, once until nobody waits. */
  readonly onShortage?: (reason: string) => void;
  /** Shared with all other calls to this v4. */
  readonly breaker: CircuitBreaker;
}

/** The forward to one upstream. A policy configures each use. */
export type Forward = ReturnType<typeof createForward>;

/** Forwards the requests of all packs to one v4, over shared connections. */
class Forwarder {
  readonly shares: ConnectionShares;
  readonly #name: string;
  readonly #breaker: CircuitBreaker;
  readonly #slowStreams: SlowStreamGuard;
  readonly #proxy: Proxy;
  /** Headers of a response that asks the client to try again later. */
  readonly #retryAfter: Readonly<Record<string, string>>;

  constructor(options: ForwardOptions) {
    const { name, timeoutMs, connections, breaker, isAnyoneKnown, onShortage } = options;
    const shares = new ConnectionShares({
      size: connections,
      ...(isAnyoneKnown && { isAnyoneKnown }),
      maxWaitMs: timeoutMs,
    });
    this.shares = shares;
    this.#name = name;
    this.#breaker = breaker;
    this.#slowStreams = createSlowStreamGuard({
      shares,
      windowMs: Math.min(timeoutMs / 4, LONGEST_WINDOW_MS),
      onExhausted: onShortage && (() => onShortage(allInUse(name))),
    });
    this.#proxy = createProxy(options);
    this.#retryAfter = { "retry-after": String(Math.ceil(breaker.openMs / 1000)) };
  }

  /** Forwards one request, and records it when its response has ended. */
  start(
    policy: ForwardPolicy,
    plain: AlphaRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    // The library, the stream and the gateway all listen to its end, which is more than Node expects.
    response.setMaxListeners(30);
    // Forwarded responses have the upstream's own headers for browsers.
    response.removeHeader("x-content-type-options");
    varyBy(response, policy.vary);
    const exchange = new Exchange(policy, plain, [request, response], this.#breaker);
    response.once("close", () => {
      this.#slowStreams.remove(exchange);
      exchange.release?.();
      if (exchange.upstreamStatus !== undefined) exchange.reportOutcome("ignored");
      exchange.forwarding?.cancel();
      // The response has ended. `record` has reported its own failure.
      exchange.record(!response.writableFinished).catch(() => {});
    });
    this.#handle(exchange).catch((error: unknown) => this.#fail(error, exchange));
  }

  close(): void {
    this.#proxy.close();
  }

  /** Authorizes a request, waits for a connection and forwards it. A rejection becomes an error of the gateway. */
  async #handle(exchange: Exchange): Promise<void> {
    const { policy, plain, response, hash } = exchange;
    const refusal = policy.refuse?.(exchange.request);
    if (refusal) {
      exchange.fault = refusal.fault;
      return exchange.reject(refusal);
    }
    const admission = policy.gate ? await this.#admit(exchange, policy.gate) : {};
    if (!admission) return;
    const isKnown = policy.gate ? exchange.isAccepted : hash !== undefined && policy.isKnown?.(hash) === true;
    const client = { token: hash, networks: addressNetworks(plain.address), isKnown };
    const share = this.shares.acquire(client, plain.signal);
    if (share instanceof Promise) this.#slowStreams.start();
    const release = await share;
    if (response.destroyed) return release();
    exchange.client = client;
    exchange.release = release;
    this.#slowStreams.add(exchange);
    this.#forward(exchange, admission);
  }

  /**
   * Looks the client's token up, and authorizes the request.
   *
   * @returns undefined if the response was sent, or the client has disconnected
   */
  async #admit(
    exchange: Exchange,
    { lookUp, authorize, errorBody, scheme }: ForwardGate,
  ): Promise<{ readonly authorization?: string } | undefined> {
    const { plain, response, hash = "" } = exchange;
    const token = await lookUp(plain, hash);
    exchange.tokenInfo = token;
    exchange.isAccepted = token.isAccepted;
    if (token.retryAfter !== undefined) {
      const reason = `too many tokens that ${this.#name} has not accepted, from this address`;
      exchange.rejectLimited(reason, { "retry-after": String(token.retryAfter) });
      return undefined;
    }
    if (isHeadTooLong(exchange.request)) {
      exchange.rejectedBy = "head_size";
      const body = errorBody(HEAD_TOO_LONG, 431);
      exchange.reject({ status: 431, body, headers: { "x-request-id": plain.id } });
      return undefined;
    }
    if (namesAnotherMethod(plain.method, plain.headers)) {
      exchange.reject({ status: 400, body: errorBody(OTHER_METHOD, 400) });
      return undefined;
    }
    const decision = await authorize(plain, hash, exchange.token);
    const { token: replacement, isIssued, application, error } = decision;
    exchange.application = application;
    // The client has disconnected, and the record is written.
    if (response.destroyed) return undefined;
    if (isIssued) {
      token.onIssued();
      exchange.isAccepted = true;
    }
    if (error) {
      const { reason, status, isTemporary } = error;
      if (isTemporary) token.onFailure();
      exchange.reject({
        status,
        body: errorBody(reason, status),
        headers: isTemporary ? this.#retryAfter : {},
      });
      return undefined;
    }
    exchange.isReplaced = replacement !== undefined;
    return replacement === undefined ? {} : { authorization: `${scheme} ${replacement}` };
  }

  /** Forwards to v4, with the credentials that replace the client's, if there are any. */
  #forward(exchange: Exchange, { authorization }: { readonly authorization?: string }): void {
    const { policy, request } = exchange;
    if (!this.#breaker.allow(exchange.client)) {
      exchange.fault = `${this.#name} fails: the circuit is open`;
      return exchange.fail("unavailable", this.#retryAfter);
    }
    if (authorization !== undefined) request.headers.authorization = authorization;
    exchange.upstreamStatus = null;
    policy.prepareRequest(request);
    this.#proxy.forward(exchange);
  }

  #fail(error: unknown, exchange: Exchange): void {
    // The client has disconnected.
    if (exchange.response.destroyed) return;
    if (!(error instanceof ConnectionUnavailableError)) return exchange.fail();
    if (error.isOwnShare) return exchange.rejectLimited(error.message, this.#retryAfter);
    exchange.fault = error.message;
    exchange.fail("unavailable", this.#retryAfter);
  }
}

/** Creates the forward to one upstream. All packs share its connections. */
export function createForward(options: ForwardOptions) {
  const forwarder = new Forwarder(options);
  const follow = (policy: ForwardPolicy): ForwardRequest =>
    function forward(request, response, plain) {
      forwarder.start(policy, plain, request, response);
    };
  return Object.assign(follow, {
    /** Why there are too few connections. Empty if there are enough. */
    shortages: (): readonly string[] => (forwarder.shares.isExhausted() ? [allInUse(options.name)] : []),
    /** Closes all connections. */
    close: () => forwarder.close(),
  });
}
