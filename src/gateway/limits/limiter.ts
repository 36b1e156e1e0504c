import { LRUCache } from "lru-cache";

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
  /** Seconds until then, at least 1, and never more than the window has. */
  readonly retryAfter: number;
  /** Milliseconds until then. The system clock may be set; this counts by the monotonic one. */
  readonly msLeft: number;
}

/** Counts requests by key against one rate limit. A window starts with the first request of a key. */
export interface Limiter {
  /**
   * Counts one request. Synchronous if the counts are in this process.
   *
   * @throws {Error} if they are in another process that can't be reached; the promise rejects
   */
  consume(key: string): RateLimitStatus | Promise<RateLimitStatus>;
  /** Takes back one request that was counted in the current window. */
  refund(key: string): Promise<void>;
  /** Keys that this process counts now. */
  readonly size: number;
}

/** The limit for all requests, and the additional one for creates. */
export type LimiterName = "all" | "create";

/** The difference of two times may be larger than it should be, by less than this. In milliseconds. */
const ROUNDING_ERROR = 0.001;

/** Whole seconds that are not shorter than a time. */
const toSeconds = (ms: number): number => Math.max(1, Math.ceil((ms - ROUNDING_ERROR) / 1000));

/** The status of a key that has `left` requests more; fewer than 0 if it has made too many. */
export function toStatus(limit: number, left: number, msLeft: number): RateLimitStatus {
  return {
    isAllowed: left >= 0,
    limit,
    remaining: Math.max(0, left),
    resetAt: Math.ceil((Date.now() + msLeft) / 1000),
    retryAfter: toSeconds(msLeft),
    msLeft,
  };
}

/** A client can invent tokens faster than windows end. Beyond this, the key that was used least recently is dropped. */
const MAX_KEYS = 100_000;

export interface MemoryLimiter extends Limiter {
  consume(key: string): RateLimitStatus;
  /** Seconds until a key may make requests again; 0 if it may now. Counts nothing. */
  secondsUntilAllowed(key: string): number;
  /** Sets how many requests a key may make from now on. Counts are kept. */
  setPoints(points: number): void;
}

/** The requests of a key since its first one. */
interface Window {
  count: number;
  /** By the monotonic clock, in milliseconds: the system clock may be set back. */
  readonly endsAt: number;
}

/**
 * Creates a limiter that counts in this process.
 *
 * Own code for speed: the library's limiter in memory creates promises for each request, and a timer for each key.
 *
 * @param maxKeys Keys that are counted at the same time.
 */
export function createMemoryLimiter({ points, seconds }: RateLimit, maxKeys = MAX_KEYS): MemoryLimiter {
  // With `max` it would allocate memory for all keys now.
  const windows = new LRUCache<string, Window>({ maxSize: maxKeys, sizeCalculation: () => 1 });
  let limit = points;

  /** The current window of a key; undefined if it has made no request in one. */
  function currentWindow(key: string, now: number): Window | undefined {
    const window = windows.get(key);
    return window && window.endsAt > now ? window : undefined;
  }

  function openWindow(key: string, now: number): Window {
    const window = { count: 0, endsAt: now + seconds * 1000 };
    windows.set(key, window);
    return window;
  }

  function consume(key: string): RateLimitStatus {
    const now = performance.now();
    const window = currentWindow(key, now) ?? openWindow(key, now);
    window.count += 1;
    return toStatus(limit, limit - window.count, window.endsAt - now);
  }

  return {
    consume,
    async refund(key) {
      const window = currentWindow(key, performance.now());
      if (window) window.count = Math.max(0, window.count - 1);
    },
    secondsUntilAllowed(key) {
      const now = performance.now();
      const window = currentWindow(key, now);
      return window && window.count >= limit ? toSeconds(window.endsAt - now) : 0;
    },
    setPoints(newPoints) {
      limit = newPoints;
    },
    get size() {
      return windows.size;
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
 * Own code in place of the library's `insuranceLimiter`, which does not say which of both has counted (`X-RateLimit-Limit`
 * needs it), can't refund, and would bypass the bound on the keys in memory.
 */
export const withFallback = (shared: Limiter, { local, localPoints }: FallbackOptions): Limiter => ({
  async consume(key) {
    try {
      return await shared.consume(key);
    } catch {
      local.setPoints(localPoints());
      return local.consume(key);
    }
  },
  refund: (key) => shared.refund(key).catch(() => local.refund(key)),
  get size() {
    return local.size;
  },
});
