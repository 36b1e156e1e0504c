import { randomUUID } from "node:crypto";
import type { KeyValueStore, Log, Settings } from "../../base/index.ts";
import { createRedisTokenCache } from "./redis-token-cache.ts";
import { connectRedis, isRejection, type RedisClient } from "./redis-client.ts";
import { INTEGER, readReply, REDIS_PREFIX, TEXTS } from "./redis-replies.ts";
import { createRedisStore } from "./redis-store.ts";
import { createRedisLimiter } from "./redis-limiter.ts";
import type { StateBackend } from "./state-backend.ts";

const KEY = `${REDIS_PREFIX}replicas`;
const HEARTBEAT_MS = 2000;

/** Three heartbeats: one late heartbeat is not treated as an exit. */
const EXPIRY_SECONDS = 6;

/**
 * Registers this process, and counts all processes repeatedly, by the clock of Redis. It uses no script, so that the
 * processes can be counted even if Redis refuses scripts.
 *
 * @param onFault called once if Redis refuses to count, with the reason
 */
async function registerReplica(redis: RedisClient, onFault: (fault: string) => void) {
  const id = randomUUID();
  let replicas = 1;
  let fault: string | undefined;

  /** Records a heartbeat of this process, removes expired processes, and counts the rest. */
  const beat = (): Promise<number> =>
    redis.run(async (client) => {
      const [now] = readReply(TEXTS, await client.time());
      const score = Number(now);
      const replies = await client
        .multi()
        .zAdd(KEY, { score, value: id })
        .zRemRangeByScore(KEY, "-inf", score - EXPIRY_SECONDS)
        .expire(KEY, EXPIRY_SECONDS)
        .zCard(KEY)
        .exec();
      return readReply(INTEGER, replies.at(-1));
    });

  async function sendHeartbeat(): Promise<void> {
    try {
      replicas = Math.max(1, await beat());
      fault = undefined;
    } catch (error) {
      // The connection reports its outages itself.
      if (!isRejection(error)) return;
      if (fault === undefined) onFault(error.message);
      fault = error.message;
    }
  }

  await sendHeartbeat();
  const timer = setInterval(() => void sendHeartbeat(), HEARTBEAT_MS).unref();
  return {
    /** Number of processes, including this one. While Redis is unavailable: the last known number. */
    count: () => replicas,
    /** The reason why Redis refuses to count the processes. */
    fault: () => fault,
    /** Removes this process. */
    async leave(): Promise<void> {
      clearInterval(timer);
      await redis.run((client) => client.zRem(KEY, id)).catch(() => {});
    },
  };
}

/**
 * Shares state in Redis. If Redis is down, the process starts without it and reconnects. While the shared limiters or
 * the shared token cache fail, each process uses its own.
 */
export async function openRedisBackend(settings: Settings, log: Log): Promise<StateBackend> {
  const onUncounted = (fault: string): void =>
    log.error(
      { code: "AG_REPLICAS_UNCOUNTED", fault },
      "Redis can't count the replicas. During an outage each process enforces its share based on an outdated count",
    );
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
  const replicas = await registerReplica(redis, onUncounted);
  const rates = { all: settings.RATE_LIMIT, create: settings.RATE_LIMIT_CREATE };
  return {
    limiterOf: (name) => createRedisLimiter(redis, name, rates[name]),
    tokenCache: createRedisTokenCache(redis, {
      ttlSeconds: settings.TOKEN_TTL_SECONDS,
      negativeTtlSeconds: settings.TOKEN_NEGATIVE_TTL_SECONDS,
    }),
    state: createRedisStore(redis),
    problems(): readonly string[] {
      const [fault, uncounted] = [redis.fault(), replicas.fault()];
      return [
        ...(fault === undefined ? [] : [`Redis ${fault}: each process enforces its share of the limits`]),
        ...(uncounted === undefined ? [] : [`Redis can't count the replicas (${uncounted})`]),
      ];
    },
    replicas: replicas.count,
    async close(): Promise<void> {
      await replicas.leave();
      await redis.close();
    },
  };
}

/** Opens the state that gateways store in Redis, for a command. @throws {StateUnavailableError} */
export async function openRedisState(url: string): Promise<KeyValueStore> {
  const redis = await connectRedis({ url, onChange: () => {} });
  return { ...createRedisStore(redis), close: () => redis.close() };
}
