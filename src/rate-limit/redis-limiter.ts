import { RateLimiterRedis } from "rate-limiter-flexible";
import { REDIS_PREFIX, type RedisClient } from "../storage/redis-client.ts";
import { consumeLimiter, type Limiter, type RateLimit } from "./limiter.ts";

/** Counts below zero would allow more requests: a key that expired, or that was counted elsewhere, gets no refund. */
const REFUND = `
  if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then return redis.call('DECR', KEYS[1]) end
  return 0`;

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
        redis.run((client) => client.eval(script, options)),
    },
    // Without it the library expects the API of another client package.
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    keyPrefix: `${REDIS_PREFIX}limit:${name}`,
    points,
    duration: seconds,
  });
  return {
    consume: (key) => consumeLimiter(limiter, key),
    async refund(key) {
      await redis.run((client) => client.eval(REFUND, { keys: [limiter.getKey(key)] }));
    },
    size: 0,
  };
}
