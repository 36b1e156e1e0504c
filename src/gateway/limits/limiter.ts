import { LRUCache } from "lru-cache";

/** Maximum number of requests of a key in a window. */
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
  /** Seconds until the end, at least 1, and at most the length of the window. */
  readonly retryAfter: number;
  /** Milliseconds until the end, by the monotonic clock, because the system clock may be set. */
  readonly msLeft: number;
}

/** Counts requests by key against one rate limit. A window starts with the first request of a key. */
export interface Limiter {
  /**
   * Counts one request. Synchronous if this process keeps the counts.
   *
   * @throws {Error} if another process keeps them and can't be reached. The promise rejects
   */
  consume(key: string): RateLimitStatus | Promise<RateLimitStatus>;
  /** Refunds one request that was counted in the current window. */
  refund(key: string): Promise<void>;
  /** Number of keys that this process is counting. */
  readonly size: number;
}

/** The limit for all requests, and the additional limit for creates. */
export type LimiterName = "all" | "create";

/** The maximum rounding error of the difference of two times, in milliseconds. */
const ROUNDING_ERROR = 0.001;

/** Converts a time to whole seconds, rounded up. */
const toSeconds = (ms: number): number => Math.max(1, Math.ceil((ms - ROUNDING_ERROR) / 1000));

/** Returns the status of a key with `left` remaining requests. A negative number means too many requests. */
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

/**
 * Maximum number of keys. A client can invent tokens faster than windows end. Above the limit, the least recently
 * used key is dropped.
 */
const MAX_KEYS = 100_000;

type MemoryLimiter = ReturnType<typeof createMemoryLimiter>;

/** The requests of a key in one window. */
interface Window {
  count: number;
  /** The end of the window by the monotonic clock, in milliseconds, because the system clock may be set back. */
  readonly endsAt: number;
}

/**
 * Creates a limiter that counts in this process.
 *
 * Own code for speed: `rate-limiter-flexible` creates promises for each request, and a timer for each key.
 *
 * @param maxKeys Maximum number of keys that are counted at the same time.
 */
export function createMemoryLimiter({ points, seconds }: RateLimit, maxKeys = MAX_KEYS) {
  // With `max`, the cache would allocate memory for all keys now.
  const windows = new LRUCache<string, Window>({ maxSize: maxKeys, sizeCalculation: () => 1 });
  let limit = points;

  /** Returns the current window of a key. Undefined if the key has made no request in it. */
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
    async refund(key: string): Promise<void> {
      const window = currentWindow(key, performance.now());
      if (window) window.count = Math.max(0, window.count - 1);
    },
    /** Returns the seconds until a key may make requests again; 0 if it may do so now. Counts nothing. */
    secondsUntilAllowed(key: string): number {
      const now = performance.now();
      const window = currentWindow(key, now);
      return window && window.count >= limit ? toSeconds(window.endsAt - now) : 0;
    },
    /** Sets the limit of a key from now on. Counts are kept. */
    setPoints(newPoints: number): void {
      limit = newPoints;
    },
    get size(): number {
      return windows.size;
    },
  };
}

interface FallbackOptions {
  /** Counts while the shared limiter can't be reached. */
  readonly local: Pick<MemoryLimiter, "consume" | "refund" | "setPoints" | "size">;
  /** Returns the limit of this process: its share of the total limit. */
  readonly localPoints: () => number;
}

/**
 * Wraps a shared limiter. While it can't be reached, a local limiter enforces this process's share of the limit. The
 * outage itself makes no request fail.
 *
 * The library's `insuranceLimiter` does not report which limiter has counted, which `X-RateLimit-Limit` needs. It can't
 * refund, and it would bypass the limit on keys in memory.
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
