import { LRUCache } from "lru-cache";
import type { Lease } from "./leased-limiter.ts";
import { RateLimiterMemory, RateLimiterRes, type RateLimiterAbstract } from "rate-limiter-flexible";

/** Requests that a key may make in a window. */
export interface RateLimit {
  readonly points: number;
  readonly seconds: number;
}

/** The rate limit of a key after a request. */
export interface RateLimitStatus {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** End of the window, in seconds since 1970. */
  readonly resetAt: number;
  /** Seconds until then, at least 1. */
  readonly retryAfter: number;
}

/** Counts requests by key against one rate limit. A window starts with the first request of a key. */
export interface Limiter {
  /** Counts one request. @throws {Error} if the counts are in another process that can't be reached. */
  consume(key: string): Promise<RateLimitStatus>;
  /** Takes back one request that was counted in the current window. */
  refund(key: string): Promise<void>;
  /** Keys that this process counts now. */
  readonly size: number;
}

/** The limit for all requests, and the additional one for creates. */
export type LimiterName = "all" | "create";

/**
 * Counts requests in a limiter of the library. Requests that are rejected count too.
 *
 * @throws {Error} if its store fails. The library rejects with a `RateLimiterRes` if the limit is exceeded: taking one
 *   for the other would reject all clients during an outage of the store.
 */
export async function consumeLimiter(
  limiter: RateLimiterAbstract,
  key: string,
  count = 1,
): Promise<RateLimitStatus> {
  let isAllowed = true;
  let state: RateLimiterRes;
  try {
    state = await limiter.consume(key, count);
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    isAllowed = false;
    state = rejection;
  }
  // The library computes it from the system clock, which may have been set back since the window started.
  const msLeft = Math.min(state.msBeforeNext, limiter.duration * 1000);
  return {
    isAllowed,
    limit: limiter.points,
    remaining: Math.max(0, state.remainingPoints),
    resetAt: Math.ceil((Date.now() + msLeft) / 1000),
    retryAfter: Math.max(1, Math.ceil(msLeft / 1000)),
  };
}

/** A client can invent tokens faster than windows end. Beyond this, the key that was used least recently is dropped. */
const MAX_KEYS = 100_000;

export interface MemoryLimiter extends Limiter {
  /** Seconds until a key may make requests again; 0 if it may now. Counts nothing. */
  secondsUntilAllowed(key: string): Promise<number>;
  /**
   * Counts one request and, where many remain, leases more to one of several processes.
   *
   * @param processes that may have leases; undefined: leases none
   */
  lease(key: string, processes: number | undefined): Promise<Lease>;
  /** Takes back requests that were counted in the current window. */
  refund(key: string, count?: number): Promise<void>;
  /** Sets how many requests a key may make from now on. Counts are kept. */
  setPoints(points: number): void;
}

/**
 * A lease is this part of what remains, divided by the number of processes. Near the limit each request is counted when
 * it is made.
 */
const LEASE_PART = 1 / 16;

/**
 * Creates a limiter that counts in this process.
 *
 * @param maxKeys Keys that are counted at the same time.
 */
export function createMemoryLimiter({ points, seconds }: RateLimit, maxKeys = MAX_KEYS): MemoryLimiter {
  const limiter = new RateLimiterMemory({ points, duration: seconds });
  const keys = new LRUCache<string, true>({
    max: maxKeys,
    dispose: (_value, key) => void limiter.delete(key),
  });

  function consume(key: string, count = 1): Promise<RateLimitStatus> {
    // Setting a key again would dispose of its count.
    if (keys.get(key) === undefined) keys.set(key, true);
    return consumeLimiter(limiter, key, count);
  }

  async function refund(key: string, count = 1): Promise<void> {
    if (count > 0 && (await limiter.get(key))) await limiter.reward(key, count);
  }

  return {
    consume: (key) => consume(key),
    refund,
    async lease(key, processes) {
      const state = await limiter.get(key);
      const remaining = state?.remainingPoints ?? limiter.points;
      const extra = processes === undefined ? 0 : Math.floor((remaining * LEASE_PART) / processes);
      if (extra === 0) return { status: await consume(key), extra: 0, windowMs: 0 };
      const status = await consume(key, 1 + extra);
      const windowMs = Math.min((await limiter.get(key))?.msBeforeNext ?? 0, limiter.duration * 1000);
      if (status.isAllowed && windowMs > 0)
        return { status: { ...status, remaining: status.remaining + extra }, extra, windowMs };
      // Others have used what remained.
      await refund(key, 1 + extra);
      return { status: await consume(key), extra: 0, windowMs: 0 };
    },
    async secondsUntilAllowed(key) {
      const state = await limiter.get(key);
      return state && state.consumedPoints >= limiter.points ? Math.ceil(state.msBeforeNext / 1000) : 0;
    },
    setPoints(newPoints) {
      limiter.points = newPoints;
    },
    get size() {
      return keys.size;
    },
  };
}

export interface FallbackOptions {
  /** Counts while the shared limiter can't be reached. */
  readonly local: Pick<MemoryLimiter, "consume" | "refund" | "setPoints" | "size">;
  /** Requests that this process may allow alone: its share of the limit. */
  readonly localPoints: () => number;
}

/**
 * Wraps a shared limiter: while it can't be reached, a local one enforces this process's share of the limit. Such a
 * request never fails, and is not rejected because of the outage.
 *
 * Own code in place of the library's `insuranceLimiter`, which wraps the library's stores only (workers share a limiter
 * over IPC), does not say which of both has counted (`X-RateLimit-Limit` needs it), can't refund, and would bypass the
 * bound on the keys in memory.
 */
export const withFallback = (shared: Limiter, { local, localPoints }: FallbackOptions): Limiter => ({
  consume: (key) =>
    shared.consume(key).catch(() => {
      local.setPoints(localPoints());
      return local.consume(key);
    }),
  refund: (key) => shared.refund(key).catch(() => local.refund(key)),
  get size() {
    return local.size;
  },
});
