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

/** A set expires with its last member. `NX` first: for a key without an expiry, `GT` never sets one. */
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

/** Redis rejects a time of zero. */
const milliseconds = (ttlSeconds: number): number => Math.max(1, Math.ceil(ttlSeconds * 1000));

/**
 * Creates the store that keeps state in Redis, for all replicas, by the clock of Redis. Its bound is `maxmemory` of Redis
 * with the policy `noeviction`: other policies could drop requested scopes (see docs/guide/run-in-production.md).
 */
export function createRedisStore(redis: RedisClient): KeyValueStore {
  async function run<T>(command: Parameters<typeof redis.run<T>>[0]): Promise<T> {
    try {
      return await redis.run(command);
    } catch (error) {
      throw new StateUnavailableError(`The state store failed: ${(error as Error).message}`);
    }
  }
  const runScript = (text: string, key: string, ...args: readonly string[]) =>
    run((client) => client.eval(text, { keys: [PREFIX + key], arguments: [...args] }));

  return {
    get: async (key) => (await run((client) => client.get(PREFIX + key))) ?? undefined,
    async set(key, value, ttl) {
      await run((client) =>
        client.set(PREFIX + key, value, { expiration: { type: "PX", value: milliseconds(ttl) } }),
      );
    },
    async setIfAbsent(key, value, ttl) {
      const expiration = { type: "PX", value: milliseconds(ttl) } as const;
      return (
        (await run((client) => client.set(PREFIX + key, value, { expiration, condition: "NX" }))) === "OK"
      );
    },
    replace: async (key, expected, value, ttl) =>
      (await runScript(REPLACE, key, expected, value, String(milliseconds(ttl)))) === 1,
    async delete(key) {
      await run((client) => client.del(PREFIX + key));
    },
    async deleteIf(key, expected) {
      await runScript(DELETE_IF, key, expected);
    },
    addToSet: async (key, member, ttl, maxMembers = Number.MAX_SAFE_INTEGER) =>
      (await runScript(ADD, key, member, String(milliseconds(ttl)), String(maxMembers))) === 1,
    setMembers: async (key) => (await runScript(MEMBERS, key)) as readonly string[],
    isReady: redis.isReady,
    // The connection is also used by others.
    close: async () => {},
  };
}
