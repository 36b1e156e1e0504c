import { LRUCache } from "lru-cache";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { consumeLimiter, type Limiter, type RateLimit } from "./limiter.ts";

/** A client can invent tokens faster than windows end. Beyond this, the key that was used least recently is dropped. */
const MAX_KEYS = 100_000;

export interface MemoryLimiter extends Limiter {
  /** Seconds until a key may make requests again; 0 if it may now. Counts nothing. */
  secondsUntilAllowed(key: string): Promise<number>;
  /** Sets how many requests a key may make from now on. Counts are kept. */
  setPoints(points: number): void;
}

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
  return {
    consume(key) {
      // Setting a key again would dispose of its count.
      if (keys.get(key) === undefined) keys.set(key, true);
      return consumeLimiter(limiter, key);
    },
    async refund(key) {
      if (await limiter.get(key)) await limiter.reward(key);
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
