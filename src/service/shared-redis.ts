import { createRedisCounter } from "../limits/redis-counter.ts";
import type { Settings } from "../settings/table.ts";
import { connectRedis } from "../shared-state/redis.ts";
import { createRedisState } from "../shared-state/redis-store.ts";
import { joinReplicas, type Replicas } from "../shared-state/replicas.ts";
import { redisFacts } from "../tokens/redis-facts.ts";
import type { Log } from "./log.ts";
import { shareIn, type Shared, type ShareOptions } from "./share.ts";

/** Of a process that serves no requests. */
const NONE: Replicas = { count: () => 0, leave: async () => {} };

/** Shares in Redis. A Redis that is down doesn't hold up the start: its processes serve by themselves until it is up. */
export async function openSharedInRedis(
  settings: Settings,
  log: Log,
  { own, serves }: Required<ShareOptions>,
): Promise<Shared> {
  const redis = await connectRedis({
    url: settings.REDIS_URL ?? "",
    onChange(fault) {
      if (fault === undefined) log.info("Redis answers");
      else log.error({ fault }, "Redis does not answer: each process holds its share of the limits");
    },
  });
  const replicas = serves ? await joinReplicas(redis) : NONE;
  const rates = { all: settings.RATE_LIMIT, create: settings.RATE_LIMIT_CREATE };
  const place = {
    counter: (name: keyof typeof rates) => createRedisCounter(redis, name, rates[name]),
    facts: redisFacts(redis, {
      ttlSeconds: settings.TOKEN_TTL_SECONDS,
      negativeTtlSeconds: settings.TOKEN_NEGATIVE_TTL_SECONDS,
    }),
    replicas: replicas.count,
  };
  return {
    ...shareIn(place, own, settings),
    state: createRedisState(redis),
    faults: () =>
      redis.ready() ? [] : ["Redis does not answer: each process holds its share of the limits"],
    replicas: replicas.count,
    async close() {
      await replicas.leave();
      await redis.close();
    },
  };
}
