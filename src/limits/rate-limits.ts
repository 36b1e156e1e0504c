import { LRUCache } from "lru-cache";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** Requests that a key may make in a window. */
export interface Rate {
  readonly points: number;
  readonly seconds: number;
}

/** How a key stands after a request. */
export interface Standing {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, seconds since 1970. */
  readonly resetAt: number;
  /** Seconds until then, at least 1. */
  readonly retryAfter: number;
}

export interface RateLimits {
  /** Counts one request of a key against the general limit, and against the one for creates if asked to. */
  take(key: string, create: boolean): Promise<Standing>;
  /** Keys that are counted at the moment. */
  readonly size: number;
}

/** Of each limit. A client can make up tokens faster than windows end; the key that was silent longest gives way. */
const MOST_KEYS = 100_000;

interface Limiter {
  readonly counts: RateLimiterMemory;
  readonly keys: LRUCache<string, true>;
}

function limiter(keyPrefix: string, { points, seconds }: Rate, max: number): Limiter {
  const counts = new RateLimiterMemory({ keyPrefix, points, duration: seconds });
  const keys = new LRUCache<string, true>({ max, dispose: (_value, key) => void counts.delete(key) });
  return { counts, keys };
}

async function consume({ counts: limiter, keys }: Limiter, key: string, now: number): Promise<Standing> {
  let allowed = true;
  // To set a key anew would dispose of its count.
  if (keys.get(key) === undefined) keys.set(key, true);
  // consume() rejects with a plain RateLimiterRes when a key is limited, and with an Error when the store fails.
  const state = await limiter.consume(key).catch((refusal: unknown) => {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    allowed = false;
    return refusal;
  });
  return {
    allowed,
    limit: limiter.points,
    remaining: Math.max(0, state.remainingPoints),
    resetAt: Math.ceil((now + state.msBeforeNext) / 1000),
    retryAfter: Math.max(1, Math.ceil(state.msBeforeNext / 1000)),
  };
}

/** Limits that hold within this process. `keys`: as many of each limit are counted at once. */
export function createRateLimits(
  general: Rate,
  create: Rate,
  { keys = MOST_KEYS }: { readonly keys?: number } = {},
): RateLimits {
  const all = limiter("all", general, keys);
  const creates = limiter("create", create, keys);
  return {
    async take(key, isCreate) {
      const now = Date.now();
      const standing = await consume(all, key, now);
      return standing.allowed && isCreate ? consume(creates, key, now) : standing;
    },
    get size() {
      return all.keys.size + creates.keys.size;
    },
  };
}
