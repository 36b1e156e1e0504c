import { randomUUID } from "node:crypto";
import { createRedisLimiter } from "../rate-limit/redis-limiter.ts";
import type { Settings } from "../config/setting-definitions.ts";
import { connectRedis, REDIS_PREFIX, type RedisClient } from "../storage/redis-client.ts";
import { createRedisStore } from "../storage/redis-store.ts";
import { createRedisTokenCache } from "../auth/redis-token-cache.ts";
import type { Log } from "../observability/log.ts";
import { withLocalFallback, type SharedState, type SharedStateOptions } from "./state-backends.ts";

const KEY = `${REDIS_PREFIX}replicas`;
const HEARTBEAT_MS = 2000;

/** Three heartbeats: a late one does not count as an exit. */
const EXPIRY_SECONDS = 6;

/** Records a heartbeat of this process, removes expired processes, and counts the rest, all by the clock of Redis. */
const HEARTBEAT = `
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZCARD', KEYS[1])`;

/** The processes that share a Redis. */
interface Replicas {
  /** How many there are, including this one. While Redis is unavailable: how many there were. */
  count(): number;
  /** Removes this process. */
  leave(): Promise<void>;
}

/** Registers this process, and keeps counting the others. */
async function registerReplica(redis: RedisClient): Promise<Replicas> {
  const id = randomUUID();
  let replicas = 1;

  async function sendHeartbeat(): Promise<void> {
    const count = await redis
      .run((client) => client.eval(HEARTBEAT, { keys: [KEY], arguments: [id, String(EXPIRY_SECONDS)] }))
      .catch(() => undefined);
    if (typeof count === "number") replicas = Math.max(1, count);
  }

  await sendHeartbeat();
  const timer = setInterval(() => void sendHeartbeat(), HEARTBEAT_MS).unref();
  return {
    count: () => replicas,
    async leave() {
      clearInterval(timer);
      await redis.run((client) => client.zRem(KEY, id)).catch(() => {});
    },
  };
}

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
      if (fault === undefined) log.info({}, "Redis responds and can be written");
      else
        log.error(
          { code: "AG_REDIS_UNAVAILABLE", fault },
          "Redis does not respond, or can't be written: each process enforces its share of the rate limits",
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
      redis.isReady() ? [] : [`Redis ${redis.fault()}: each process enforces its share of the limits`],
    replicas: replicas.count,
    async close() {
      await replicas.leave();
      await redis.close();
    },
  };
}
