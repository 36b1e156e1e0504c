import { buildConnector, Pool } from "undici";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { addQuery } from "../../pack/index.ts";
import type { ShareClient } from "./share-usage.ts";
import { causedBy, isUnsendable, outcomeOfError, outcomeOfStatus, UpstreamError } from "./upstream-error.ts";
import { createTlsConnector, type CurrentContext } from "./open-tls.ts";
import { watchConnections } from "./watched-connection.ts";

/** Persistent connections to v4, behind its circuit breaker. */
export interface UpstreamPool {
  /** The path and the query that a request is sent with. */
  target(request: { readonly path: string; readonly secretQuery?: string | undefined }): string;
  /** The pool for the next request. */
  current(): Pool;
  /** Asks the breaker for permission; the outcome must be recorded. @throws {UpstreamError} `circuit_open` */
  enterCircuit(client: ShareClient | undefined): void;
  /** Fails while the circuit is open for the client. @throws {UpstreamError} `circuit_open` */
  assertCircuitNotOpen(client: ShareClient | undefined): void;
  recordStatus(status: number, client: ShareClient | undefined): void;
  recordError(error: unknown, client: ShareClient | undefined): void;
  /** Uses new connections after an error that has damaged those of the pool. */
  replaceAfter(error: unknown): void;
  /** Closes idle connections, and waits for requests in flight. */
  close(): Promise<void>;
  /** Closes all connections. */
  destroy(): void;
}

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

/** A request of the gateway itself counts as that of a known client. */
const isKnown = (client: ShareClient | undefined): boolean => client === undefined || client.isKnown;

const circuitOpen = (): UpstreamError => new UpstreamError("circuit_open", "the circuit is open");

/** Creates a pool; connections are opened when they are needed. */
export function createUpstreamPool({
  origin,
  connections,
  timeoutMs,
  maxResponseBytes,
  breaker,
  secureContext,
}: UpstreamPoolOptions): UpstreamPool {
  const timeout = Math.min(timeoutMs, MAX_CONNECT_MS);
  const createPool = (): Pool =>
    new Pool(origin.origin, {
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
  let pool = createPool();
  const basePath = origin.pathname.replace(/\/$/, "");

  return {
    target: ({ path, secretQuery }) =>
      secretQuery === undefined ? basePath + path : addQuery(basePath + path, secretQuery),
    current: () => pool,
    enterCircuit(client) {
      if (!breaker.allow(client)) throw circuitOpen();
    },
    assertCircuitNotOpen(client) {
      if (breaker.isOpenFor(client)) throw circuitOpen();
    },
    recordStatus: (status, client) => breaker.record(outcomeOfStatus(status, isKnown(client)), client),
    recordError: (error, client) =>
      breaker.record(outcomeOfError(error, isKnown(client)), causedBy(error, client)),
    replaceAfter(error) {
      if (!isUnsendable(error)) return;
      // After a request that can't be sent, undici counts its connection as busy permanently.
      const damaged = pool;
      pool = createPool();
      void damaged.close();
    },
    close: () => pool.close(),
    destroy: () => void pool.destroy(),
  };
}
