import type { Log, Metrics } from "../../base/index.ts";
import { createBufferedCall } from "./buffered-call.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { createFileStream } from "./file-stream.ts";
import type { CallUpstream, FileUpstream, Upstream } from "./http-call.ts";
import { openBreaker } from "./open-breaker.ts";
import type { ConnectionSharesOptions } from "./connection-shares.ts";
import type { CurrentContext } from "./open-tls.ts";
import { UpstreamPool } from "./upstream-pool.ts";

export interface UpstreamOptions extends Partial<
  Pick<ConnectionSharesOptions, "perToken" | "networkPerFree" | "maxWaitMs">
> {
  /** Names the server in messages. */
  readonly name: string;
  readonly origin: URL;
  readonly timeoutMs: number;
  readonly connections: number;
  /** Maximum size of a decoded response in bytes. Default: {@link MAX_RESPONSE_BYTES}. */
  readonly maxResponseBytes?: number;
  /** Default: an own one. */
  readonly breaker?: CircuitBreaker;
  /** The certificates of connections. Default: Node's own. */
  readonly secureContext?: CurrentContext | undefined;
  /** Whether no request is sent twice. Default: false. */
  readonly neverRetries?: boolean;
  /** Whether bodies that are not UTF-8 stay as they are. Default: false. */
  readonly keepsBytes?: boolean;
}

/** The client of one v4 service. */
export interface UpstreamClient extends Upstream, FileUpstream {
  readonly call: CallUpstream;
  /** The circuit breaker, for other code that calls the same v4. */
  readonly breaker: CircuitBreaker;
  /** Closes all connections at once, including those that are being opened. */
  destroy(): Promise<void>;
  /** Returns which connections are currently exhausted. */
  shortages(): readonly string[];
}

/** Maximum size of a decoded response in bytes. */
export const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** Returns the number of connections for files, in addition to those for requests: an eighth, but at least two. */
const countFileConnections = (connections: number): number => Math.max(2, Math.floor(connections / 8));

/** Creates the client of one v4 service. Files have their own small pool, because clients can make transfers slow. */
export function createUpstream(options: UpstreamOptions): UpstreamClient {
  const { name, connections, timeoutMs, maxResponseBytes = MAX_RESPONSE_BYTES } = options;
  const { breaker = new CircuitBreaker(), neverRetries = false, keepsBytes = false } = options;
  const pool = new UpstreamPool({ ...options, maxResponseBytes, breaker });
  const fileConnections = countFileConnections(connections);
  const files = new UpstreamPool({
    ...options,
    maxResponseBytes,
    breaker,
    connections: fileConnections,
    perToken: Math.ceil(fileConnections / 4),
    networkPerFree: 1,
  });
  return {
    call: createBufferedCall({ pool, timeoutMs, maxBytes: maxResponseBytes, neverRetries, keepsBytes }),
    stream: createFileStream(files, timeoutMs),
    breaker,
    shortages: () => [
      ...(pool.shares.isExhausted() ? [`all connections to ${name} are in use`] : []),
      ...(files.shares.isExhausted() ? [`all connections to ${name} for files are in use`] : []),
    ],
    close: async () => void (await Promise.all([pool.close(), files.close()])),
    destroy: async () => void (await Promise.all([pool.destroy(), files.destroy()])),
  };
}

interface SharedUpstreamOptions extends Omit<UpstreamOptions, "breaker"> {
  /** Whether clients may share an address: see `CircuitBreakerOptions`. */
  readonly areAddressesShared: boolean;
}

/** Creates the client of v4 behind a circuit breaker that logs and counts its states. */
export function openUpstream(
  { areAddressesShared, ...options }: SharedUpstreamOptions,
  log: Log,
  metrics: Metrics,
): UpstreamClient {
  const breaker = openBreaker(
    {
      code: "AG_CIRCUIT_OPEN",
      reason: `${options.name} fails`,
      recovery: `${options.name} responds again`,
      gauge: "v4_breaker_open",
      service: "the upstream",
    },
    areAddressesShared,
    { log, metrics },
  );
  return createUpstream({ ...options, breaker });
}
