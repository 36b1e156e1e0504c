import { UpstreamError } from "./upstream-error.ts";

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
  /** Takes a connection where one is free; undefined: for the gateway itself, which has no share. */
  tryTake(client: ShareClient | undefined): boolean;
  /** Gives a connection back that was taken for this very client. */
  giveBack(client: ShareClient | undefined): void;
  /**
   * Waits for a connection: `onTurn` is called when it has been taken. The result ends the wait.
   *
   * @throws {ConnectionUnavailableError} where too many wait
   */
  wait(client: ShareClient | undefined, onTurn: () => void): () => void;
  /** Why a client got no connection in so many milliseconds. */
  unavailable(ms: number): ConnectionUnavailableError;
  /** Have all connections been in use for a while, with somebody waiting for one whose own share is not used up? */
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
  /** Do tokens and addresses have shares of the queue as well? Default: whoever comes may wait while it has places. */
  readonly sharesQueue?: boolean;
  /** Longest wait, in milliseconds. */
  readonly patienceMs: number;
}

/** As many may wait for each connection. */
const WAITING_PER_CONNECTION = 16;

/** For how long one must have waited until connections count as exhausted: shorter is a burst. */
const EXHAUSTED_MS = 1000;

interface Waiter {
  readonly client: ShareClient | undefined;
  readonly since: number;
  readonly onTurn: () => void;
}

/** How many connections, or places in the queue, clients have. */
interface Tally {
  all: number;
  /** Of clients whose token v4 has not taken. */
  unknown: number;
  readonly tokens: Map<string, number>;
  readonly addresses: Map<string, number>;
  readonly strangers: Map<string, number>;
}

const createTally = (): Tally => ({
  all: 0,
  unknown: 0,
  tokens: new Map(),
  addresses: new Map(),
  strangers: new Map(),
});

function add(counts: Map<string, number>, key: string, count: 1 | -1): void {
  const now = (counts.get(key) ?? 0) + count;
  if (now === 0) counts.delete(key);
  else counts.set(key, now);
}

function tell(tally: Tally, client: ShareClient | undefined, count: 1 | -1): void {
  tally.all += count;
  if (client === undefined) return;
  const { token, address, known } = client;
  add(tally.addresses, address, count);
  if (known && token !== undefined) return add(tally.tokens, token, count);
  tally.unknown += count;
  add(tally.strangers, address, count);
}

/** The most that a client may have of what is shared out. */
interface Shares {
  readonly token: number;
  readonly address: number;
  /** All clients together whose token v4 has not taken, and those of one address. */
  readonly unknown: number;
  readonly stranger: number;
}

/** Whether one more is within a client's own share. */
function isWithin(shares: Shares, tally: Tally, client: ShareClient | undefined): boolean {
  if (client === undefined) return true;
  const { token, address, known } = client;
  if ((tally.addresses.get(address) ?? 0) >= shares.address) return false;
  if (known && token !== undefined) return (tally.tokens.get(token) ?? 0) < shares.token;
  return tally.unknown < shares.unknown && (tally.strangers.get(address) ?? 0) < shares.stranger;
}

const isSame = (one: ShareClient | undefined, other: ShareClient | undefined): boolean =>
  one?.token === other?.token && one?.address === other?.address && one?.known === other?.known;

/**
 * Makes the shares of a set of connections.
 *
 * A client whose token v4 has not taken yet has half the share of an address, and all such clients together have half
 * of the connections: whoever makes up tokens can't keep out those whose tokens are good. Of the places
 * in the queue tokens and addresses have shares as well, and such clients three quarters.
 */
export function createConnectionShares({
  size,
  perToken,
  perAddress,
  sharesQueue = false,
  patienceMs,
}: ConnectionSharesOptions): ConnectionShares {
  const shares: Shares = {
    token: perToken,
    address: perAddress,
    unknown: half(size),
    stranger: half(perAddress),
  };
  const inQueue = perAddress * WAITING_PER_CONNECTION;
  const places: Shares = {
    token: perToken * WAITING_PER_CONNECTION,
    address: inQueue,
    unknown: Math.ceil((size * 3) / 4) * WAITING_PER_CONNECTION,
    stranger: inQueue,
  };
  const used = createTally();
  const queued = createTally();
  const waiters = new Set<Waiter>();

  function tryTake(client: ShareClient | undefined): boolean {
    if (used.all >= size || !isWithin(shares, used, client)) return false;
    tell(used, client, 1);
    return true;
  }

  function leave(waiter: Waiter): void {
    if (waiters.delete(waiter)) tell(queued, waiter.client, -1);
  }

  function giveBack(client: ShareClient | undefined): void {
    tell(used, client, -1);
    for (const waiter of waiters) {
      if (used.all >= size) return;
      if (!tryTake(waiter.client)) continue;
      leave(waiter);
      waiter.onTurn();
      // Nothing is free now that was not before.
      if (isSame(waiter.client, client)) return;
    }
  }

  const unavailable = (ms: number): ConnectionUnavailableError =>
    new ConnectionUnavailableError(used.all < size, ms);

  function wait(client: ShareClient | undefined, onTurn: () => void): () => void {
    const isFull = queued.all >= size * WAITING_PER_CONNECTION;
    if (isFull || (sharesQueue && !isWithin(places, queued, client))) throw unavailable(0);
    const waiter = { client, since: performance.now(), onTurn };
    waiters.add(waiter);
    tell(queued, client, 1);
    return () => leave(waiter);
  }

  function releaseOf(client: ShareClient): () => void {
    let given = false;
    return function release() {
      if (!given) giveBack(client);
      given = true;
    };
  }

  function takeInTurn(client: ShareClient, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new UpstreamError("gone", "the client went away"));
      const leaveQueue = wait(client, () => {
        clear();
        resolve(releaseOf(client));
      });
      function end(error: UpstreamError): void {
        leaveQueue();
        clear();
        reject(error);
      }
      const timer = setTimeout(() => end(unavailable(patienceMs)), patienceMs);
      const gone = (): void => end(new UpstreamError("gone", "the client went away"));
      function clear(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", gone);
      }
      signal.addEventListener("abort", gone, { once: true });
    });
  }

  return {
    take: (client, signal) => (tryTake(client) ? releaseOf(client) : takeInTurn(client, signal)),
    tryTake,
    giveBack,
    wait,
    unavailable,
    exhausted() {
      if (used.all < size) return false;
      const before = performance.now() - EXHAUSTED_MS;
      for (const { client, since } of waiters)
        if (since <= before && isWithin(shares, used, client)) return true;
      return false;
    },
    waiting: () => waiters.size,
  };
}

const half = (count: number): number => Math.max(1, Math.floor(count / 2));
