import { RateLimiterRedis } from "rate-limiter-flexible";
import { REDIS_PREFIX, type RedisClient } from "../storage/redis-client.ts";
import { consumeLimiter } from "./consume.ts";
import type { Limiter, Rate } from "./limiter.ts";

/** A key that has ended, or that another Redis did not have, is owed nothing. */
const GIVE_BACK = `
  if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then return redis.call('DECR', KEYS[1]) end
  return 0`;

/** Counts in Redis, one count for all that share it. @throws {Error} from `take`, soon, while Redis is away. */
export function createRedisLimiter(redis: RedisClient, name: string, { points, seconds }: Rate): Limiter {
  const limiter = new RateLimiterRedis({
    storeClient: {
      get isReady() {
        return redis.ready();
      },
      eval: (script: string, options: { keys: string[]; arguments: string[] }) =>
        redis.run((client) => client.eval(script, options)),
    },
    // By itself it would not know the client of this library's newer versions.
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    keyPrefix: `${REDIS_PREFIX}limit:${name}`,
    points,
    duration: seconds,
  });
  return {
    consume: (key) => consumeLimiter(limiter, key),
    async refund(key) {
      await redis.run((client) => client.eval(GIVE_BACK, { keys: [limiter.getKey(key)] }));
    },
    size: 0,
  };
}
