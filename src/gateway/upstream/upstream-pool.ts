import { buildConnector, Pool } from "undici";
import { addQuery } from "../../pack/index.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { ConnectionShares, type ConnectionSharesOptions } from "./connection-shares.ts";
import type { HttpRequest, StreamRequest } from "./http-call.ts";
import { createTlsConnector, type CurrentContext } from "./open-tls.ts";
import type { ShareClient } from "./share-usage.ts";
import { causedBy, isUnsendable, outcomeOfError, outcomeOfStatus, UpstreamError } from "./upstream-error.ts";
import { watchConnections } from "./watched-connection.ts";

interface UpstreamPoolOptions extends Omit<ConnectionSharesOptions, "size" | "maxWaitMs"> {
  /** Milliseconds that a request waits for a connection. Default: as long as for its response. */
  readonly maxWaitMs?: number;
  readonly origin: URL;
  readonly connections: number;
  readonly timeoutMs: number;
  /** Maximum size of a response in bytes. */
  readonly maxResponseBytes: number;
  readonly breaker: CircuitBreaker;
  /** The certificates of connections. Default: Node's own. */
  readonly secureContext?: CurrentContext | undefined;
}

const MAX_CONNECT_MS = 10_000;

/** A request of the gateway itself is treated like one of a known client. */
const isKnown = (client: ShareClient | undefined): boolean => client === undefined || client.isKnown;

/** Persistent connections to v4 behind its circuit breaker. Each client has a share of them. They are opened on demand. */
export class UpstreamPool {
  readonly #options: UpstreamPoolOptions;
  readonly #basePath: string;
  readonly shares: ConnectionShares;
  current: Pool;

  constructor(options: UpstreamPoolOptions) {
    const { origin, connections, timeoutMs, maxWaitMs = timeoutMs } = options;
    this.#options = options;
    this.#basePath = origin.pathname.replace(/\/$/, "");
    this.shares = new ConnectionShares({ ...options, size: connections, maxWaitMs });
    this.current = this.#createPool();
  }

  #createPool(): Pool {
    const { origin, connections, timeoutMs, maxResponseBytes, secureContext } = this.#options;
    const timeout = Math.min(timeoutMs, MAX_CONNECT_MS);
    return new Pool(origin.origin, {
      connections,
      // undici treats an HTTP/2 stream that v4 cancels as the end of a response.
      allowH2: false,
      connect: watchConnections(
        secureContext
          ? createTlsConnector(secureContext, timeout)
          : buildConnector({ timeout, allowH2: false }),
      ),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxResponseSize: maxResponseBytes,
    });
  }

  /** Returns undici's options for a request. */
  optionsOf({ path, secretQuery, method, headers, body }: HttpRequest<string | Buffer> | StreamRequest) {
    const target = this.#basePath + path;
    const withSecret = secretQuery === undefined ? target : addQuery(target, secretQuery);
    return { path: withSecret, method, headers, body: body ?? null };
  }

  /**
   * Fails while the circuit is open for the client, so that no client waits for a connection in vain.
   *
   * @throws {UpstreamError} `circuit_open`
   */
  assertCircuitNotOpen(client: ShareClient | undefined): void {
    if (this.#options.breaker.isOpenFor(client))
      throw new UpstreamError("circuit_open", "the circuit is open");
  }

  /** Requests permission from the breaker; the outcome must be recorded. @throws {UpstreamError} `circuit_open` */
  enterCircuit(client: ShareClient | undefined): void {
    if (!this.#options.breaker.allow(client)) throw new UpstreamError("circuit_open", "the circuit is open");
  }

  recordStatus(status: number, client: ShareClient | undefined): void {
    this.#options.breaker.record(outcomeOfStatus(status, isKnown(client)), client);
  }

  /** @param error undefined if the outcome proves nothing about v4 */
  recordError(error: unknown, client: ShareClient | undefined): void {
    this.#options.breaker.record(outcomeOfError(error, isKnown(client)), causedBy(error, client));
  }

  /** Replaces the connections after an error that has damaged the pool. */
  replaceAfter(error: unknown): void {
    if (!isUnsendable(error)) return;
    // After a request that can't be sent, undici permanently treats its connection as busy.
    const damaged = this.current;
    this.current = this.#createPool();
    void damaged.close();
  }

  /** Closes idle connections, and waits for requests in flight. */
  close(): Promise<void> {
    return this.current.close();
  }

  /** Closes all connections at once. */
  destroy(): Promise<void> {
    return this.current.destroy();
  }
}
