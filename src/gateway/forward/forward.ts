/**
 * Forwards requests in the upstream's own dialect, and requests for the old service, without translation. Both
 * directions are streamed. A policy decides which requests are forwarded.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CircuitBreaker } from "../upstream/circuit-breaker.ts";
import { ConnectionShares, ConnectionUnavailableError } from "../upstream/connection-shares.ts";
import type { AlphaRequest } from "../request/request.ts";
import { varyBy } from "../http/forwarded-headers.ts";
import { createSlowStreamGuard, type SlowStreamGuard } from "../bodies/slow-streams.ts";
import { Exchange, type ForwardObserver, type ForwardPolicy } from "./exchange.ts";
import type { UpstreamOptions } from "../upstream/client.ts";
import { createProxy, type Proxy } from "./proxy.ts";

/** Milliseconds between two checks for slow streams. It is shorter than the time-outs of most clients. */
const LONGEST_WINDOW_MS = 5000;

/** Forwards a request, and always ends its response. `plain` is the same request as plain data, for the audit. */
export type ForwardRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  plain: AlphaRequest,
  observer?: ForwardObserver,
) => void;

interface ForwardOptions extends UpstreamOptions {
  /**
   * Whether the upstream has accepted any token. Default: true. If so, half of the connections are reserved for
   * accepted tokens.
   */
  readonly isAnyoneKnown?: () => boolean;
  /**
   * Called once after clients have waited for some seconds because all connections are in use, until no client waits
   * any more.
   */
  readonly onShortage?: (reason: string) => void;
  /** Shared with all other calls to this v4. */
  readonly breaker: CircuitBreaker;
}

/** Forwards requests to one upstream. All packs share its connections. */
export class Forward {
  readonly #name: string;
  readonly #breaker: CircuitBreaker;
  readonly #shares: ConnectionShares;
  readonly #slowStreams: SlowStreamGuard;
  readonly #proxy: Proxy;

  constructor(options: ForwardOptions) {
    const { name, timeoutMs, connections: size, breaker, isAnyoneKnown, onShortage } = options;
    this.#name = name;
    this.#breaker = breaker;
    this.#shares = new ConnectionShares({
      size,
      ...(isAnyoneKnown && { isAnyoneKnown }),
      maxWaitMs: timeoutMs,
    });
    this.#slowStreams = createSlowStreamGuard({
      shares: this.#shares,
      windowMs: Math.min(timeoutMs / 4, LONGEST_WINDOW_MS),
      onExhausted: onShortage && (() => onShortage(this.#shortage())),
    });
    this.#proxy = createProxy(options);
  }

  #shortage(): string {
    return `all connections to ${this.#name} for its own clients are in use`;
  }

  /** Returns why there are too few connections. Empty if there are enough. */
  shortages(): readonly string[] {
    return this.#shares.isExhausted() ? [this.#shortage()] : [];
  }

  /** Closes all connections. */
  close(): void {
    this.#proxy.close();
  }

  /** Returns the function that forwards requests of a lane, and records each request after its response has ended. */
  for(policy: ForwardPolicy): ForwardRequest {
    return (request, response, plain, observer) => {
      // The library, the stream and the gateway all listen to the response's end, which exceeds Node's default limit of
      // listeners.
      response.setMaxListeners(30);
      // Forwarded responses contain the upstream's own headers for browsers.
      response.removeHeader("x-content-type-options");
      varyBy(response, policy.vary);
      const exchange = new Exchange(policy, plain, [request, response], this.#breaker, observer);
      response.once("close", () => {
        this.#slowStreams.remove(exchange);
        exchange.release?.();
        if (exchange.upstreamStatus !== undefined) exchange.reportOutcome("ignored");
        exchange.cancel?.();
        // The response has ended. `record` has reported its own failure.
        exchange.record(!response.writableFinished).catch(() => {});
      });
      this.#handle(exchange).catch((error: unknown) => this.#fail(error, exchange));
    };
  }

  /** Waits for a connection, and forwards a request that may use the upstream. */
  async #handle(exchange: Exchange): Promise<void> {
    const { policy, plain, request, response } = exchange;
    if (!(await policy.admit(exchange))) return;
    const client = exchange.shareClient();
    const share = this.#shares.acquire(client, plain.signal);
    if (share instanceof Promise) this.#slowStreams.start();
    const release = await share;
    if (response.destroyed) return release();
    exchange.client = client;
    exchange.release = release;
    this.#slowStreams.add(exchange);
    if (!this.#breaker.allow(client)) {
      exchange.fault = `${this.#name} fails: the circuit is open`;
      return exchange.fail("unavailable", exchange.retryAfter);
    }
    exchange.upstreamStatus = null;
    policy.prepareRequest(request);
    exchange.observer?.onSent();
    this.#proxy.forward(exchange);
  }

  /** Turns an error into an error of the gateway. */
  #fail(error: unknown, exchange: Exchange): void {
    // The client has disconnected.
    if (exchange.response.destroyed) return;
    if (!(error instanceof ConnectionUnavailableError)) return exchange.fail();
    if (error.isOwnShare) return exchange.rejectLimited(error.message, exchange.retryAfter);
    exchange.fault = error.message;
    exchange.fail("unavailable", exchange.retryAfter);
  }
}
