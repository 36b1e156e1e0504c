import { StateUnavailableError, type KeyValueStore } from "./key-value-store.ts";
import { REDIS_PREFIX, type RedisClient } from "./redis-client.ts";

const PREFIX = `${REDIS_PREFIX}state:`;

const REPLACE = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return 1`;

const DELETE_IF = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
  return 0`;

/** The set lives as long as the member that lives longest. A time without end would be greater than any (GT). */
const ADD = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
    return 0
  end
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2], 'NX')
  redis.call('PEXPIRE', KEYS[1], ARGV[2], 'GT')
  return 1`;

const MEMBERS = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  return redis.call('ZRANGE', KEYS[1], '(' .. now, '+inf', 'BYSCORE')`;

/** Redis takes no end that is now: what ends at once ends a millisecond later. */
const milliseconds = (ttlSeconds: number): number => Math.max(1, Math.ceil(ttlSeconds * 1000));

/**
 * Keeps state in Redis, for all replicas. Times are Redis's own. It is Redis that bounds it, with `maxmemory` and the
 * policy `noeviction`: any other policy could drop what clients asked for, of which docs/guide/run-in-production.md says more.
 */
export function createRedisStore(redis: RedisClient): KeyValueStore {
  async function guarded<T>(work: Parameters<typeof redis.run<T>>[0]): Promise<T> {
    try {
      return await redis.run(work);
    } catch (error) {
      throw new StateUnavailableError(`The state store does not work: ${(error as Error).message}`);
    }
  }
  const script = (text: string, key: string, ...args: readonly string[]) =>
    guarded((client) => client.eval(text, { keys: [PREFIX + key], arguments: [...args] }));

  return {
    get: async (key) => (await guarded((client) => client.get(PREFIX + key))) ?? undefined,
    async set(key, value, ttl) {
      await guarded((client) =>
        client.set(PREFIX + key, value, { expiration: { type: "PX", value: milliseconds(ttl) } }),
      );
    },
    async setIfAbsent(key, value, ttl) {
      const expiration = { type: "PX", value: milliseconds(ttl) } as const;
      return (
        (await guarded((client) => client.set(PREFIX + key, value, { expiration, condition: "NX" }))) === "OK"
      );
    },
    replace: async (key, expected, value, ttl) =>
      (await script(REPLACE, key, expected, value, String(milliseconds(ttl)))) === 1,
    async delete(key) {
      await guarded((client) => client.del(PREFIX + key));
    },
    async deleteIf(key, expected) {
      await script(DELETE_IF, key, expected);
    },
    addToSet: async (key, member, ttl, most = Number.MAX_SAFE_INTEGER) =>
      (await script(ADD, key, member, String(milliseconds(ttl)), String(most))) === 1,
    setMembers: async (key) => (await script(MEMBERS, key)) as readonly string[],
    ready: redis.ready,
    // The connection is not its own.
    close: async () => {},
  };
}
