import { randomUUID } from "node:crypto";
import { REDIS_PREFIX, type RedisClient } from "./redis-client.ts";

const KEY = `${REDIS_PREFIX}replicas`;
const BEAT_MS = 2000;

/** Three beats: one that is late is no death. */
const SILENCE_S = 6;

/** Says that this process lives, drops those that said so too long ago, and counts. Redis's clock is everybody's. */
const BEAT = `
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZCARD', KEYS[1])`;

/** The processes that share a Redis. */
export interface Replicas {
  /** How many they are, this one among them; while Redis is away, how many they were. */
  count(): number;
  leave(): Promise<void>;
}

/** Joins them, and keeps count from then on. */
export async function registerReplica(redis: RedisClient): Promise<Replicas> {
  const id = randomUUID();
  let known = 1;

  async function beat(): Promise<void> {
    const counted = await redis
      .run((client) => client.eval(BEAT, { keys: [KEY], arguments: [id, String(SILENCE_S)] }))
      .catch(() => undefined);
    if (typeof counted === "number") known = Math.max(1, counted);
  }

  await beat();
  const timer = setInterval(() => void beat(), BEAT_MS).unref();
  return {
    count: () => known,
    async leave() {
      clearInterval(timer);
      await redis.run((client) => client.zRem(KEY, id)).catch(() => {});
    },
  };
}
