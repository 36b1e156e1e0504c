import { cancelError, type CancelSignal } from "./cancel-signal.ts";
import { UpstreamError } from "./upstream-error.ts";
import { type ShareClient, ShareUsage } from "./share-usage.ts";

/** No connection was free in time. */
export class ConnectionUnavailableError extends UpstreamError {
  /** Whether the client's own share was used up. Otherwise the connections for all clients like it were. */
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
  /**
   * Most connections of one token, and of one network: an IPv4 address, or the /64 of an IPv6 address. Default: a half, and
   * three quarters.
   */
  readonly perToken?: number;
  readonly perNetwork?: number;
  /**
   * Whether anybody's token was accepted. While nobody's was, there is nobody to leave a part of the connections to. Default: yes.
   */
  readonly isAnyoneKnown?: () => boolean;
  /** Longest wait, in milliseconds. */
  readonly maxWaitMs: number;
}

/** One network gets nearly all places of unaccepted tokens, because there may be many clients behind one address. */
const MOST_OF_FREE_PLACES = 16;

/** Length of the queue, per connection. */
const QUEUE_PER_CONNECTION = 16;

/** A shorter wait is a burst. */
const EXHAUSTED_MS = 1000;

interface Waiter {
  readonly client: ShareClient | undefined;
  readonly since: number;
  readonly onAcquired: () => void;
}

const isSame = (one: ShareClient | undefined, other: ShareClient | undefined): boolean =>
  one?.token === other?.token && one?.networks[0] === other?.networks[0] && one?.isKnown === other?.isKnown;

const half = (count: number): number => Math.max(1, Math.floor(count / 2));

/** With this part of the connections free, or less, all of them count as in use: networks with many never get the last ones. */
const LAST_PART = 1 / 16;

/**
 * A bounded set of connections. Each client gets at most its share, so that slow clients can't use up all of them, and each
 * network only as much as leaves enough to others.
 *
 * All clients whose token v4 has not accepted get half of the connections together. So clients that invent tokens can't keep
 * out clients with valid tokens. The queue is shared out too: such clients get three quarters of it.
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
    perNetwork = Math.ceil((size * 3) / 4),
    isAnyoneKnown = () => true,
    maxWaitMs,
  }: ConnectionSharesOptions) {
    this.#size = size;
    this.#maxWaitMs = maxWaitMs;
    const ofUnknown = (count: number): number => (isAnyoneKnown() ? count : Infinity);
    this.#inUse = new ShareUsage({
      size,
      token: perToken,
      network: perNetwork,
      get unknown() {
        return ofUnknown(half(size));
      },
      unknownPerNetwork: perNetwork,
    });
    this.#queued = new ShareUsage({
      size: size * QUEUE_PER_CONNECTION,
      token: perToken * QUEUE_PER_CONNECTION,
      network: perNetwork * QUEUE_PER_CONNECTION,
      get unknown() {
        return ofUnknown(Math.ceil((size * 3) / 4) * QUEUE_PER_CONNECTION);
      },
      unknownPerNetwork: perNetwork * QUEUE_PER_CONNECTION,
      mostOfFreeUnknown: MOST_OF_FREE_PLACES,
    });
  }

  /**
   * Acquires a connection, and waits if none is free. The returned function releases it. Further calls of it have no
   * effect.
   *
   * @param client undefined: the gateway itself, which has no share
   * @param signal Ends the wait when the client disconnects, or a time is up.
   * @throws {ConnectionUnavailableError} if none was free in time, or the queue is full. {UpstreamError} if the
   * client disconnected.
   */
  acquire(client: ShareClient | undefined, signal: CancelSignal): (() => void) | Promise<() => void> {
    return this.#tryAcquire(client) ? this.#createRelease(client) : this.#waitFor(client, signal);
  }

  /** Acquires a connection if one is free. */
  #tryAcquire(client: ShareClient | undefined): boolean {
    if (!this.#inUse.isWithin(client)) return false;
    this.#inUse.count(client, 1);
    return true;
  }

  /** Releases a connection that was acquired for this client. */
  #release(client: ShareClient | undefined): void {
    this.#inUse.count(client, -1);
    // The customer that has filled the connections may also have filled the queue: customers without any connection come first.
    if (this.#serve(client, (waiting) => this.#inUse.hasNone(waiting))) return;
    this.#serve(client, () => true);
  }

  /**
   * Gives free connections to waiting clients, in the order of their arrival. @returns whether the others can get
   * none
   */
  #serve(
    released: ShareClient | undefined,
    isServed: (waiting: ShareClient | undefined) => boolean,
  ): boolean {
    for (const waiter of this.#waiters) {
      if (this.#inUse.all >= this.#size) return true;
      if (!isServed(waiter.client) || !this.#tryAcquire(waiter.client)) continue;
      this.#leaveQueue(waiter);
      waiter.onAcquired();
      // The waiter takes the released connection, so no other waiter can get more than before.
      if (isSame(waiter.client, released)) return true;
    }
    return false;
  }

  /**
   * Waits in the queue: `onAcquired` is called when a connection was acquired. The result leaves the queue.
   *
   * @throws {ConnectionUnavailableError} if the queue is full, or the client's share of it.
   */
  #enqueue(client: ShareClient | undefined, onAcquired: () => void): () => void {
    const places = this.#size * QUEUE_PER_CONNECTION;
    if (this.#queued.all >= places) throw this.#unavailable(0);
    if (!this.#queued.isWithin(client)) throw new ConnectionUnavailableError(true, 0);
    const waiter = { client, since: performance.now(), onAcquired };
    this.#waiters.add(waiter);
    this.#queued.count(client, 1);
    return () => this.#leaveQueue(waiter);
  }

  /** Creates the error for a client that waited this long in vain. */
  #unavailable(waitedMs: number): ConnectionUnavailableError {
    return new ConnectionUnavailableError(!this.#isFull(), waitedMs);
  }

  /** Whether only networks with few connections get one. */
  #isFull(): boolean {
    return this.#size - this.#inUse.all <= this.#size * LAST_PART;
  }

  /** Whether as good as all connections have been in use for a second while a client within its share waits. */
  isExhausted(): boolean {
    if (!this.#isFull()) return false;
    const before = performance.now() - EXHAUSTED_MS;
    for (const { client, since } of this.#waiters)
      if (since <= before && this.#inUse.isWithinOwn(client)) return true;
    return false;
  }

  /** How many clients wait. */
  queueLength(): number {
    return this.#waiters.size;
  }

  /** Whether a waiting client would get the connection of this client, if it were released. */
  isAwaited(client: ShareClient): boolean {
    this.#inUse.count(client, -1);
    try {
      for (const waiter of this.#waiters) if (this.#inUse.isWithin(waiter.client)) return true;
      return false;
    } finally {
      this.#inUse.count(client, 1);
    }
  }

  #leaveQueue(waiter: Waiter): void {
    if (this.#waiters.delete(waiter)) this.#queued.count(waiter.client, -1);
  }

  #createRelease(client: ShareClient | undefined): () => void {
    let isReleased = false;
    return () => {
      if (!isReleased) this.#release(client);
      isReleased = true;
    };
  }

  #waitFor(client: ShareClient | undefined, signal: CancelSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(cancelError(signal));
      const leave = this.#enqueue(client, () => {
        cleanUp();
        resolve(this.#createRelease(client));
      });
      function fail(error: UpstreamError): void {
        leave();
        cleanUp();
        reject(error);
      }
      const onTimeout = (): void => fail(this.#unavailable(this.#maxWaitMs));
      const timer = setTimeout(onTimeout, this.#maxWaitMs);
      function onAbort(): void {
        const error = cancelError(signal);
        // The time of the call ended before the time of the wait.
        if (error.kind === "timed_out") onTimeout();
        else fail(error);
      }
      function cleanUp(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
      signal.addEventListener("abort", onAbort);
    });
  }
}
