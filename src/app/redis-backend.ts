import { createRedisLimiter } from "../rate-limit/redis-limiter.ts";
import type { Settings } from "../config/schema.ts";
import { connectRedis } from "../storage/redis-client.ts";
import { createRedisStore } from "../storage/redis-store.ts";
import { registerReplica, type Replicas } from "../storage/replicas.ts";
import { createRedisTokenCache } from "../auth/redis-token-cache.ts";
import type { Log } from "../observability/log.ts";
import { withLocalFallback, type SharedState, type SharedStateOptions } from "./state-backends.ts";

/** Of a process that serves no requests. */
const NO_REPLICA: Replicas = { count: () => 0, leave: async () => {} };

/** Shares state in Redis. If Redis is down, the process starts with its local state and reconnects. */
export async function openRedisBackend(
  settings: Settings,
  log: Log,
  { local, serves }: Required<SharedStateOptions>,
): Promise<SharedState> {
  const redis = await connectRedis({
    url: settings.REDIS_URL ?? "",
    onChange(fault) {
      if (fault === undefined) log.info("Redis responds");
      else
        log.error(
          { code: "AG_REDIS_UNAVAILABLE", fault },
          "Redis does not respond: each process enforces its share of the rate limits",
        );
    },
  });
  const replicas = serves ? await registerReplica(redis) : NO_REPLICA;
  const rates = { all: settings.RATE_LIMIT, create: settings.RATE_LIMIT_CREATE };
  const backend = {
    limiter: (name: keyof typeof rates) => createRedisLimiter(redis, name, rates[name]),
    tokenCache: createRedisTokenCache(redis, {
      ttlSeconds: settings.TOKEN_TTL_SECONDS,
      negativeTtlSeconds: settings.TOKEN_NEGATIVE_TTL_SECONDS,
    }),
    replicas: replicas.count,
  };
  return {
    ...withLocalFallback(backend, local, settings),
    state: createRedisStore(redis),
    problems: () =>
      redis.isReady() ? [] : ["Redis does not respond: each process enforces its share of the limits"],
    replicas: replicas.count,
    async close() {
      await replicas.leave();
      await redis.close();
    },
  };
}
