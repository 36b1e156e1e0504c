import { cancelError, type CancelSignal } from "./cancel-signal.ts";
import { UpstreamError } from "./upstream-error.ts";
import { type ShareClient, ShareUsage } from "./share-usage.ts";

/** No connection was free in time. */
export class ConnectionUnavailableError extends UpstreamError {
  /** Whether the client's own share was used up. If not, all connections for clients of its kind were in use. */
  readonly isOwnShare: boolean;

  constructor(isOwnShare: boolean, waitedMs: number) {
    const what = isOwnShare ? "the client's share of the connections was" : "all connections were";
    super("no_connection", `${what} in use for ${Math.round(waitedMs)} ms`);
    this.isOwnShare = isOwnShare;
  }
}

export interface ConnectionSharesOptions {
  /** Number of connections. */
  readonly size: number;
  /** Maximum number of connections for one token. Default: half of them. */
  readonly perToken?: number;
  /**
   * Maximum number of connections for one network, as a multiple of those that it leaves free. Default: 3, which is
   * three quarters.
   */
  readonly networkPerFree?: number;
  /**
   * Whether any token was accepted. If not, no part of the connections is reserved for accepted tokens. Default: true.
   */
  readonly isAnyoneKnown?: () => boolean;
  /** Maximum wait in milliseconds. */
  readonly maxWaitMs: number;
}

/** Maximum length of the queue, per connection. */
const QUEUE_PER_CONNECTION = 16;

/**
 * One network may use nearly all places in the queue for tokens that were not accepted, because many clients may share
 * one address.
 */
const QUEUE_PER_FREE = 16;

/** Milliseconds. A shorter wait is treated as a burst. */
const EXHAUSTED_MS = 1000;

/**
 * If at most this part of the connections is free, all of them are treated as in use: networks with many connections
 * never get the last ones.
 */
const LAST_PART = 1 / 16;

interface Waiter {
  readonly client: ShareClient | undefined;
  readonly since: number;
  readonly onAcquired: () => void;
}

/**
 * A bounded set of connections. Each client gets at most its share, so that slow clients can't use up all of them, and
 * each network must leave enough for other networks.
 *
 * All clients whose token v4 has not accepted share half of the connections, so that clients with invented tokens can't
 * block clients with valid tokens. They also share three quarters of the queue.
 */
export class ConnectionShares {
  readonly #size: number;
  readonly #maxWaitMs: number;
  readonly #inUse: ShareUsage;
  readonly #queued: ShareUsage;
  readonly #waiters = new Set<Waiter>();

  constructor({
    size,
    perToken = Math.ceil(size / 2),
    networkPerFree = 3,
    isAnyoneKnown = () => true,
    maxWaitMs,
  }: ConnectionSharesOptions) {
    this.#size = size;
    this.#maxWaitMs = maxWaitMs;
    const ofUnknown = (count: number): number => (isAnyoneKnown() ? count : Infinity);
    this.#inUse = new ShareUsage({
      size,
      token: perToken,
      networkPerFree,
      get unknown() {
        return ofUnknown(Math.max(1, Math.floor(size / 2)));
      },
      unknownPerFree: 1,
    });
    this.#queued = new ShareUsage({
      size: size * QUEUE_PER_CONNECTION,
      token: perToken * QUEUE_PER_CONNECTION,
      networkPerFree,
      get unknown() {
        return ofUnknown(Math.ceil((size * 3) / 4) * QUEUE_PER_CONNECTION);
      },
      unknownPerFree: QUEUE_PER_FREE,
    });
  }

  /**
   * Acquires a connection, and waits if none is free. The returned function releases it. Further calls of it have no
   * effect.
   *
   * @param client undefined: the gateway itself, which is not limited
   * @param signal Ends the wait if the client disconnects, or a time limit ends.
   * @throws {ConnectionUnavailableError} if none was free in time, or the queue is full. {UpstreamError} if the client
   *   disconnected.
   */
  acquire(client: ShareClient | undefined, signal: CancelSignal): (() => void) | Promise<() => void> {
    return this.#tryAcquire(client) ? this.#createRelease(client) : this.#waitFor(client, signal);
  }

  /** Whether nearly all connections have been in use for a second while a client within its share waits. */
  isExhausted(): boolean {
    if (!this.#isFull()) return false;
    const before = performance.now() - EXHAUSTED_MS;
    for (const { client, since } of this.#waiters)
      if (since <= before && this.#inUse.isWithinOwn(client)) return true;
    return false;
  }

  /** Returns the number of waiting clients. */
  queueLength(): number {
    return this.#waiters.size;
  }

  /** Whether a waiting client would get the connection of this client if it were released. */
  isAwaited(client: ShareClient): boolean {
    this.#inUse.count(client, -1);
    try {
      for (const waiter of this.#waiters) if (this.#inUse.isWithin(waiter.client)) return true;
      return false;
    } finally {
      this.#inUse.count(client, 1);
    }
  }

  #tryAcquire(client: ShareClient | undefined): boolean {
    const isFree = this.#inUse.isWithin(client);
    if (isFree) this.#inUse.count(client, 1);
    return isFree;
  }

  #createRelease(client: ShareClient | undefined): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#inUse.count(client, -1);
      // The client that uses most connections may also have filled the queue: clients without any connection come first.
      this.#serve((waiting) => this.#inUse.hasNone(waiting));
      this.#serve(() => true);
    };
  }

  /** Assigns free connections to waiting clients, in the order of their arrival. */
  #serve(isServed: (waiting: ShareClient | undefined) => boolean): void {
    for (const waiter of this.#waiters) {
      if (this.#inUse.all >= this.#size) return;
      if (isServed(waiter.client) && this.#tryAcquire(waiter.client)) waiter.onAcquired();
    }
  }

  /** Whether only networks with few connections get one. */
  #isFull(): boolean {
    return this.#size - this.#inUse.all <= this.#size * LAST_PART;
  }

  /** Creates the error for a client that waited in vain. */
  #unavailable(waitedMs: number): ConnectionUnavailableError {
    return new ConnectionUnavailableError(!this.#isFull(), waitedMs);
  }

  #waitFor(client: ShareClient | undefined, signal: CancelSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(cancelError(signal));
      if (this.#queued.all >= this.#size * QUEUE_PER_CONNECTION) return reject(this.#unavailable(0));
      if (!this.#queued.isWithin(client)) return reject(new ConnectionUnavailableError(true, 0));
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiters.delete(waiter);
        this.#queued.count(client, -1);
      };
      const waiter = {
        client,
        since: performance.now(),
        onAcquired: (): void => {
          leave();
          resolve(this.#createRelease(client));
        },
      };
      const fail = (error: UpstreamError): void => {
        leave();
        reject(error);
      };
      const onTimeout = (): void => fail(this.#unavailable(this.#maxWaitMs));
      const onAbort = (): void => {
        const error = cancelError(signal);
        // The time of the call ended before the time of the wait.
        if (error.kind === "timed_out") onTimeout();
        else fail(error);
      };
      const timer = setTimeout(onTimeout, this.#maxWaitMs);
      signal.addEventListener("abort", onAbort);
      this.#waiters.add(waiter);
      this.#queued.count(client, 1);
    });
  }
}
