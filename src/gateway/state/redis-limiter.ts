import { type Limiter, type RateLimit, toStatus } from "../limits/limiter.ts";
import type { RedisClient } from "./redis-client.ts";
import { COUNT_REQUESTS, INTEGER, LIMIT_PREFIX, readReply, WINDOW_COUNT } from "./redis-replies.ts";

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
  const keysOf = (key: string): string[] => [`${LIMIT_PREFIX}${name}:${key}`];
  return {
    async consume(key) {
      // A Redis that refuses a channel can count, but the replicas need all of it.
      if (!redis.isReady()) throw new Error("Redis is away");
      const [count, msLeft] = await redis.run(async (client) =>
        readReply(
          WINDOW_COUNT,
          await client.eval(COUNT_REQUESTS, { keys: keysOf(key), arguments: ["1", String(seconds)] }),
        ),
      );
      return toStatus(points, points - count, msLeft);
    },
    async refund(key) {
      await redis.run(async (client) => readReply(INTEGER, await client.eval(REFUND, { keys: keysOf(key) })));
    },
    size: 0,
  };
}
