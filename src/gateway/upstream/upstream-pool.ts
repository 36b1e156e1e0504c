import { buildConnector, Pool } from "undici";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { addQuery } from "../../pack/index.ts";
import type { ShareClient } from "./share-usage.ts";
import { causedBy, isUnsendable, outcomeOfError, outcomeOfStatus, UpstreamError } from "./upstream-error.ts";
import { createTlsConnector, type CurrentContext } from "./open-tls.ts";
import { watchConnections } from "./watched-connection.ts";

export interface UpstreamPoolOptions {
  readonly origin: URL;
  readonly connections: number;
  readonly timeoutMs: number;
  /** Largest response in bytes; -1: any. */
  readonly maxResponseBytes: number;
  readonly breaker: CircuitBreaker;
  /** The certificates of connections. Default: Node's own. */
  readonly secureContext?: CurrentContext | undefined;
}

const MAX_CONNECT_MS = 10_000;

/** A request of the gateway itself counts as a known client's. */
const isKnown = (client: ShareClient | undefined): boolean => client === undefined || client.isKnown;

const circuitOpen = (): UpstreamError => new UpstreamError("circuit_open", "the circuit is open");

/** Persistent connections to v4, behind its circuit breaker. They are opened when they are needed. */
export class UpstreamPool {
  readonly #options: UpstreamPoolOptions;
  readonly #basePath: string;
  #pool: Pool;

  constructor(options: UpstreamPoolOptions) {
    this.#options = options;
    this.#basePath = options.origin.pathname.replace(/\/$/, "");
    this.#pool = this.#createPool();
  }

  #createPool(): Pool {
    const { origin, connections, timeoutMs, maxResponseBytes, secureContext } = this.#options;
    const timeout = Math.min(timeoutMs, MAX_CONNECT_MS);
    return new Pool(origin.origin, {
      connections,
      // undici takes an HTTP/2 stream that v4 cancels for the end of a response.
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

  /** The path and the query that a request is sent with. */
  target({
    path,
    secretQuery,
  }: {
    readonly path: string;
    readonly secretQuery?: string | undefined;
  }): string {
    return secretQuery === undefined ? this.#basePath + path : addQuery(this.#basePath + path, secretQuery);
  }

  /** The pool for the next request. */
  current(): Pool {
    return this.#pool;
  }

  /** Asks the breaker for permission; the outcome must be recorded. @throws {UpstreamError} `circuit_open` */
  enterCircuit(client: ShareClient | undefined): void {
    if (!this.#options.breaker.allow(client)) throw circuitOpen();
  }

  /** Fails while the circuit is open for the client. @throws {UpstreamError} `circuit_open` */
  assertCircuitNotOpen(client: ShareClient | undefined): void {
    if (this.#options.breaker.isOpenFor(client)) throw circuitOpen();
  }

  recordStatus(status: number, client: ShareClient | undefined): void {
    this.#options.breaker.record(outcomeOfStatus(status, isKnown(client)), client);
  }

  recordError(error: unknown, client: ShareClient | undefined): void {
    this.#options.breaker.record(outcomeOfError(error, isKnown(client)), causedBy(error, client));
  }

  /** Opens new connections after an error that has damaged the pool. */
  replaceAfter(error: unknown): void {
    if (!isUnsendable(error)) return;
    // After a request that can't be sent, undici counts its connection as busy permanently.
    const damaged = this.#pool;
    this.#pool = this.#createPool();
    void damaged.close();
  }

  /** Closes idle connections, and waits for requests in flight. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
