/** Rate limits: a window for each caller, begun by its first request (v4: 429, `Retry-After` in seconds). */

import type { Clock } from "../clock.ts";

export interface RateLimit {
  readonly limit: number;
  readonly seconds: number;
}

export interface RateStatus {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, in seconds since 1970. */
  readonly reset: number;
  /** Seconds until then, at least 1. */
  readonly wait: number;
}

/** Counts one request of `key` and says how it stands. */
export type Limiter = (key: string) => RateStatus;

/** More callers at once than this, and the windows that began first are forgotten. */
const maxKeys = 10_000;

export function createLimiter(rate: RateLimit, clock: Clock): Limiter {
  const windows = new Map<string, { ends: number; used: number }>();
  return function count(key) {
    const now = clock.now();
    let window = windows.get(key);
    if (!window || window.ends <= now) {
      windows.delete(key);
      window = { ends: now + rate.seconds * 1000, used: 0 };
      windows.set(key, window);
      const oldest = windows.size > maxKeys ? windows.keys().next().value : undefined;
      if (oldest !== undefined) windows.delete(oldest);
    }
    window.used += 1;
    return {
      allowed: window.used <= rate.limit,
      limit: rate.limit,
      remaining: Math.max(0, rate.limit - window.used),
      reset: Math.ceil(window.ends / 1000),
      wait: Math.max(1, Math.ceil((window.ends - now) / 1000)),
    };
  };
}
