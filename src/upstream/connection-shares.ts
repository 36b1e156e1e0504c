import { UpstreamError } from "./errors.ts";

/** Who wants a connection. */
export interface ShareClient {
  /** Hash of its token; undefined without one. */
  readonly token: string | undefined;
  /** What is counted as one client address. */
  readonly address: string;
  /** Is the token one that v4 has taken? */
  readonly known: boolean;
}

/** No connection was free in time. */
export class ConnectionUnavailableError extends UpstreamError {
  /** The client's own share was used up, or all connections that clients like it may have. */
  readonly own: boolean;

  constructor(own: boolean, ms: number) {
    const what = own ? "the client's share of the connections was" : "all connections were";
    super("overloaded", `${what} in use for ${Math.round(ms)} ms`);
    this.own = own;
  }
}

/** Connections that clients can hold for long, each no more than its share of them. */
export interface ConnectionShares {
  /**
   * Takes a connection; the result gives it back, and may be called again without effect. Waits where none is free.
   *
   * @param signal ends the wait
   * @throws {ConnectionUnavailableError} where none was free in time, or too many wait; {UpstreamFault} where the client went away
   */
  take(client: ShareClient, signal: AbortSignal): (() => void) | Promise<() => void>;
  /** Have all connections been in use for a while, with somebody waiting for one? */
  exhausted(): boolean;
  /** How many wait. */
  waiting(): number;
}

export interface ConnectionSharesOptions {
  /** Connections. */
  readonly size: number;
  /** Most of them that one token, and one address, can have. */
  readonly perToken: number;
  readonly perAddress: number;
  /** Longest wait, in milliseconds. */
  readonly patienceMs: number;
}

/** As many may wait for each connection. */
const WAITING_PER_CONNECTION = 16;

/** For how long all must be in use before they count as exhausted: shorter is a burst. */
const EXHAUSTED_MS = 1000;

interface Waiter {
  readonly keys: readonly string[];
  grant(give: () => void): void;
}

/**
 * Makes the shares of a set of connections.
 *
 * A client whose token v4 has not taken yet has half the share of an address, and all such clients together have half
 * of the connections: whoever makes up tokens can't keep out those whose tokens are good.
 */
export function createConnectionShares({
  size,
  perToken,
  perAddress,
  patienceMs,
}: ConnectionSharesOptions): ConnectionShares {
  const used = new Map<string, number>();
  const waiters = new Set<Waiter>();
  /** Since when somebody has been waiting with all in use. */
  let fullSince: number | undefined;
  const most = {
    all: size,
    unknown: half(size),
    token: perToken,
    address: perAddress,
    stranger: half(perAddress),
  };

  const keysOf = ({ token, address, known }: ShareClient): readonly string[] =>
    known && token !== undefined
      ? ["all", `token ${token}`, `address ${address}`]
      : ["all", "unknown", `stranger ${address}`, `address ${address}`];
  const inUse = (key: string): number => used.get(key) ?? 0;
  const isFree = (key: string): boolean => inUse(key) < most[key.split(" ", 1)[0] as keyof typeof most];

  function add(key: string, count: 1 | -1): void {
    const now = inUse(key) + count;
    if (now === 0) used.delete(key);
    else used.set(key, now);
  }

  function give(keys: readonly string[]): () => void {
    for (const key of keys) add(key, 1);
    let given = false;
    return function release() {
      if (given) return;
      given = true;
      for (const key of keys) add(key, -1);
      for (const waiter of waiters) if (isFree("all") && waiter.keys.every(isFree)) next(waiter);
      look();
    };
  }

  function next(waiter: Waiter): void {
    waiters.delete(waiter);
    waiter.grant(give(waiter.keys));
  }

  function look(): void {
    const full = waiters.size > 0 && inUse("all") >= size;
    fullSince = full ? (fullSince ?? performance.now()) : undefined;
  }

  function wait(keys: readonly string[], signal: AbortSignal): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    function end(error: UpstreamError): void {
      waiters.delete(waiter);
      clear();
      look();
      reject(error);
    }
    const isOwn = (): boolean => isFree("all");
    const timer = setTimeout(() => end(new ConnectionUnavailableError(isOwn(), patienceMs)), patienceMs);
    const gone = (): void => end(new UpstreamError("gone", "the client went away"));
    function clear(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", gone);
    }
    const waiter: Waiter = {
      keys,
      grant(release) {
        clear();
        resolve(release);
      },
    };
    signal.addEventListener("abort", gone, { once: true });
    waiters.add(waiter);
    look();
    return promise;
  }

  return {
    take(client, signal) {
      const keys = keysOf(client);
      if (keys.every(isFree)) return give(keys);
      if (signal.aborted) return Promise.reject(new UpstreamError("gone", "the client went away"));
      if (waiters.size >= size * WAITING_PER_CONNECTION)
        return Promise.reject(new ConnectionUnavailableError(isFree("all"), 0));
      return wait(keys, signal);
    },
    exhausted: () => fullSince !== undefined && performance.now() - fullSince >= EXHAUSTED_MS,
    waiting: () => waiters.size,
  };
}

const half = (count: number): number => Math.max(1, Math.floor(count / 2));
