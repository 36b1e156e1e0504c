import { randomUUID } from "node:crypto";
import { REDIS_PREFIX, type RedisClient } from "./redis-client.ts";

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
export interface Replicas {
  /** How many there are, including this one. While Redis is unavailable: how many there were. */
  count(): number;
  /** Removes this process. */
  leave(): Promise<void>;
}

/** Registers this process, and keeps counting the others. */
export async function registerReplica(redis: RedisClient): Promise<Replicas> {
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
