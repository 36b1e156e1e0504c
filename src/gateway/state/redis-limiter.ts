import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import type { RedisClient } from "./redis-client.ts";
import { COUNT_REQUESTS, INTEGER, LIMIT_PREFIX, readReply, WINDOW_COUNT } from "./redis-replies.ts";
import { toStatus, type Limiter, type RateLimit, type RateLimitStatus } from "../limits/limiter.ts";

/**
 * Counts below zero would allow more requests: a key that expired, or that was counted by a different limiter, gets no
 * refund.
 */
const REFUND = `
  if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then return redis.call('DECR', KEYS[1]) end
  return 0`;

/**
 * Counts a request in a limiter of the library. Rejected requests are counted as well.
 *
 * @throws {Error} if its store fails. The library rejects with a `RateLimiterRes` if the limit is exceeded: confusing
 *   the two would reject all clients during an outage of the store.
 */
async function consume(limiter: RateLimiterRedis, key: string): Promise<RateLimitStatus> {
  let isAllowed = true;
  let state: RateLimiterRes;
  try {
    state = await limiter.consume(key);
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    isAllowed = false;
    state = rejection;
  }
  // The library computes it from the system clock, which may have been set back since the window started.
  const msLeft = Math.min(state.msBeforeNext, limiter.duration * 1000);
  return toStatus(limiter.points, isAllowed ? state.remainingPoints : -1, msLeft);
}

/** Creates a limiter that counts in Redis, for all replicas. Its `consume` throws soon while Redis is unavailable. */
export function createRedisLimiter(
  redis: RedisClient,
  name: string,
  { points, seconds }: RateLimit,
): Limiter {
  const limiter = new RateLimiterRedis({
    storeClient: {
      get isReady() {
        return redis.isReady();
      },
      eval: (script: string, options: { keys: string[]; arguments: string[] }) =>
        redis.run(async (client) => readReply(WINDOW_COUNT, await client.eval(script, options))),
    },
    customIncrTtlLuaScript: COUNT_REQUESTS,
    // Without this option, the library expects the API of a different client package.
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    keyPrefix: `${LIMIT_PREFIX}${name}`,
    points,
    duration: seconds,
  });
  return {
    consume: (key) => consume(limiter, key),
    async refund(key) {
      await redis.run(async (client) =>
        readReply(INTEGER, await client.eval(REFUND, { keys: [limiter.getKey(key)] })),
      );
    },
    size: 0,
  };
}
