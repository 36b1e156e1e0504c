import type { CancelSignal } from "./client.ts";
import { UpstreamError } from "./upstream-error.ts";

/** The client that needs a connection. */
export interface ShareClient {
  /** Hash of its token; undefined without one. */
  readonly token: string | undefined;
  /** Its network: an IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string;
  /** Whether v4 has accepted the token. */
  readonly isKnown: boolean;
}

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

/** A bounded set of connections. Each client gets at most its share, so that slow clients can't use up all of them. */
export interface ConnectionShares {
  /**
   * Acquires a connection, and waits if none is free. The result releases it; more calls of it have no effect.
   *
   * @param signal Ends the wait when the client disconnects.
   * @throws {ConnectionUnavailableError} if none was free in time, or the queue is full. {UpstreamError} if the client
   *   disconnected.
   */
  acquire(client: ShareClient, signal: CancelSignal): (() => void) | Promise<() => void>;
  /** Acquires a connection if one is free. Undefined stands for the gateway itself, which has no share. */
  tryAcquire(client: ShareClient | undefined): boolean;
  /** Releases a connection that {@link tryAcquire} or {@link enqueue} acquired for this client. */
  release(client: ShareClient | undefined): void;
  /**
   * Waits in the queue: `onAcquired` is called when a connection was acquired. The result leaves the queue.
   *
   * @throws {ConnectionUnavailableError} if the queue is full.
   */
  enqueue(client: ShareClient | undefined, onAcquired: () => void): () => void;
  /** Creates the error for a client that waited this long in vain. */
  unavailable(waitedMs: number): ConnectionUnavailableError;
  /** Whether all connections have been in use for a second while a client within its share waits. */
  isExhausted(): boolean;
  /** How many clients wait. */
  queueLength(): number;
}

export interface ConnectionSharesOptions {
  /** Number of connections. */
  readonly size: number;
  /** Most connections of one token, and of one address. */
  readonly perToken: number;
  readonly perAddress: number;
  /** Whether the queue is shared out too. Default: everyone may wait until it is full. */
  readonly sharesQueue?: boolean;
  /** Longest wait, in milliseconds. */
  readonly maxWaitMs: number;
}

/** Length of the queue, per connection. */
const QUEUE_PER_CONNECTION = 16;

/** A shorter wait is a burst. */
const EXHAUSTED_MS = 1000;

interface Waiter {
  readonly client: ShareClient | undefined;
  readonly since: number;
  readonly onAcquired: () => void;
}

/** How many connections, or places in the queue, are in use by whom. */
interface Usage {
  all: number;
  /** Those of clients whose token v4 has not accepted. */
  unknown: number;
  readonly byToken: Map<string, number>;
  readonly byAddress: Map<string, number>;
  readonly unknownByAddress: Map<string, number>;
}

const createUsage = (): Usage => ({
  all: 0,
  unknown: 0,
  byToken: new Map(),
  byAddress: new Map(),
  unknownByAddress: new Map(),
});

function adjustCount(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function countClient(usage: Usage, client: ShareClient | undefined, change: 1 | -1): void {
  usage.all += change;
  if (client === undefined) return;
  const { token, address, isKnown } = client;
  adjustCount(usage.byAddress, address, change);
  if (isKnown && token !== undefined) return adjustCount(usage.byToken, token, change);
  usage.unknown += change;
  adjustCount(usage.unknownByAddress, address, change);
}

/** The most that clients may use. */
interface Shares {
  readonly token: number;
  readonly address: number;
  /** All clients together whose token v4 has not accepted, and those of one address. */
  readonly unknown: number;
  readonly unknownPerAddress: number;
}

/** Whether one more is within the client's share. */
function isWithin(shares: Shares, usage: Usage, client: ShareClient | undefined): boolean {
  if (client === undefined) return true;
  const { token, address, isKnown } = client;
  if ((usage.byAddress.get(address) ?? 0) >= shares.address) return false;
  if (isKnown && token !== undefined) return (usage.byToken.get(token) ?? 0) < shares.token;
  const ofAddress = usage.unknownByAddress.get(address) ?? 0;
  return usage.unknown < shares.unknown && ofAddress < shares.unknownPerAddress;
}

const isSame = (one: ShareClient | undefined, other: ShareClient | undefined): boolean =>
  one?.token === other?.token && one?.address === other?.address && one?.isKnown === other?.isKnown;

const half = (count: number): number => Math.max(1, Math.floor(count / 2));

/**
 * Shares out a number of connections.
 *
 * A client whose token v4 has not accepted gets half the share of an address, and all such clients together get half
 * of the connections. So clients that invent tokens can't keep out clients with valid tokens. If the queue is shared
 * out too, such clients get three quarters of it.
 */
export function createConnectionShares({
  size,
  perToken,
  perAddress,
  sharesQueue = false,
  maxWaitMs,
}: ConnectionSharesOptions): ConnectionShares {
  const shares: Shares = {
    token: perToken,
    address: perAddress,
    unknown: half(size),
    unknownPerAddress: half(perAddress),
  };
  const queueShares: Shares = {
    token: perToken * QUEUE_PER_CONNECTION,
    address: perAddress * QUEUE_PER_CONNECTION,
    unknown: Math.ceil((size * 3) / 4) * QUEUE_PER_CONNECTION,
    unknownPerAddress: perAddress * QUEUE_PER_CONNECTION,
  };
  const inUse = createUsage();
  const queued = createUsage();
  const waiters = new Set<Waiter>();

  function tryAcquire(client: ShareClient | undefined): boolean {
    if (inUse.all >= size || !isWithin(shares, inUse, client)) return false;
    countClient(inUse, client, 1);
    return true;
  }

  function leaveQueue(waiter: Waiter): void {
    if (waiters.delete(waiter)) countClient(queued, waiter.client, -1);
  }

  function release(client: ShareClient | undefined): void {
    countClient(inUse, client, -1);
    for (const waiter of waiters) {
      if (inUse.all >= size) return;
      if (!tryAcquire(waiter.client)) continue;
      leaveQueue(waiter);
      waiter.onAcquired();
      // The waiter has what the client released: no other waiter can get more than before.
      if (isSame(waiter.client, client)) return;
    }
  }

  const unavailable = (waitedMs: number): ConnectionUnavailableError =>
    new ConnectionUnavailableError(inUse.all < size, waitedMs);

  function enqueue(client: ShareClient | undefined, onAcquired: () => void): () => void {
    const isFull = queued.all >= size * QUEUE_PER_CONNECTION;
    if (isFull || (sharesQueue && !isWithin(queueShares, queued, client))) throw unavailable(0);
    const waiter = { client, since: performance.now(), onAcquired };
    waiters.add(waiter);
    countClient(queued, client, 1);
    return () => leaveQueue(waiter);
  }

  function createRelease(client: ShareClient): () => void {
    let isReleased = false;
    return function releaseOnce() {
      if (!isReleased) release(client);
      isReleased = true;
    };
  }

  function waitFor(client: ShareClient, signal: CancelSignal): Promise<() => void> {
    const aborted = (): UpstreamError => new UpstreamError("client_aborted", "the client disconnected");
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(aborted());
      const leave = enqueue(client, () => {
        cleanUp();
        resolve(createRelease(client));
      });
      function fail(error: UpstreamError): void {
        leave();
        cleanUp();
        reject(error);
      }
      const timer = setTimeout(() => fail(unavailable(maxWaitMs)), maxWaitMs);
      const onAbort = (): void => fail(aborted());
      function cleanUp(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
      signal.addEventListener("abort", onAbort);
    });
  }

  return {
    acquire: (client, signal) => (tryAcquire(client) ? createRelease(client) : waitFor(client, signal)),
    tryAcquire,
    release,
    enqueue,
    unavailable,
    isExhausted() {
      if (inUse.all < size) return false;
      const before = performance.now() - EXHAUSTED_MS;
      for (const { client, since } of waiters)
        if (since <= before && isWithin(shares, inUse, client)) return true;
      return false;
    },
    queueLength: () => waiters.size,
  };
}
