import { LRUCache } from "lru-cache";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Limiter, Rate } from "./limiter.ts";
import { consumeLimiter } from "./consume.ts";

/** A client can make up tokens faster than windows end; the key that was silent longest gives way. */
const MOST_KEYS = 100_000;

export interface MemoryLimiter extends Limiter {
  /** Seconds until a key may make requests again; 0 where it may. Nothing is counted. */
  wait(key: string): Promise<number>;
  /** Sets how many requests a key may make from now on; what was counted stays. */
  allow(points: number): void;
}

/** Counts in this process. `keys`: as many are counted at once. */
export function createMemoryLimiter({ points, seconds }: Rate, keys = MOST_KEYS): MemoryLimiter {
  const counts = new RateLimiterMemory({ points, duration: seconds });
  const known = new LRUCache<string, true>({ max: keys, dispose: (_value, key) => void counts.delete(key) });
  return {
    consume(key) {
      // To set a key anew would dispose of its count.
      if (known.get(key) === undefined) known.set(key, true);
      return consumeLimiter(counts, key);
    },
    async refund(key) {
      if (await counts.get(key)) await counts.reward(key);
    },
    async wait(key) {
      const count = await counts.get(key);
      return count && count.consumedPoints >= counts.points ? Math.ceil(count.msBeforeNext / 1000) : 0;
    },
    allow(most) {
      counts.points = most;
    },
    get size() {
      return known.size;
    },
  };
}
