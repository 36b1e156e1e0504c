/** Reads replies of Redis. The client does not check their types, and a different program may respond at the address. */
import { z } from "zod";

/** Prefix of all keys and channels, because a Redis may also serve other programs. */
export const REDIS_PREFIX = "alpha-gateway:";

/** The prefix of the keys of the rate limits, which {@link COUNT_REQUESTS} counts. */
export const LIMIT_PREFIX = `${REDIS_PREFIX}limit:`;

/** The type of a reply is not the one that its command returns. */
export class RedisReplyError extends Error {
  override readonly name = "RedisReplyError";
}

export const INTEGER = z.int();
export const TEXT = z.string();
export const TEXTS = z.array(z.string());

/** The count of a window and its remaining milliseconds, as {@link COUNT_REQUESTS} returns them. */
export const WINDOW_COUNT = z.tuple([z.int(), z.int()]);

/** Reads a reply. @throws {RedisReplyError} if it has a different type */
export function readReply<T>(type: z.ZodType<T>, reply: unknown): T {
  const { success, data } = type.safeParse(reply);
  if (!success) throw new RedisReplyError(`Redis replied with ${typeof reply} of another form than expected`);
  return data;
}

/** Counts requests in a window that starts with the first request. Arguments: number of requests, seconds. */
export const COUNT_REQUESTS = `
  redis.call('SET', KEYS[1], 0, 'EX', ARGV[2], 'NX')
  local count = redis.call('INCRBY', KEYS[1], ARGV[1])
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    redis.call('EXPIRE', KEYS[1], ARGV[2])
    left = 1000 * ARGV[2]
  end
  return { count, left }`;

/** Prefix of all keys of the store. */
export const PREFIX = `${REDIS_PREFIX}state:`;

/** Separates the owner and the value. No value of the gateway starts with it. */
export const MARK = "\u0001";

const NOW = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** Splits a stored text, which is either the value, or mark, owner, mark and value. */
const SPLIT = `
  local function split(stored)
    if string.sub(stored, 1, 1) ~= '\\1' then return nil, stored end
    local mark = string.find(stored, '\\1', 2, true)
    return string.sub(stored, 2, mark - 1), string.sub(stored, mark + 1)
  end`;

/** The keys of an owner and of its group are sorted sets: the keys of entries by the time of their expiry. */
const COUNT = `
  local function owned(owner)
    return { '${PREFIX}owned:' .. owner, '${PREFIX}owned:' .. string.match(owner, '^[^:]*') }
  end
  local function count(owner, key, ends, ttl)
    for _, set in ipairs(owned(owner)) do
      redis.call('ZADD', set, ends, key)
      redis.call('PEXPIRE', set, ttl, 'NX')
      redis.call('PEXPIRE', set, ttl, 'GT')
    end
  end
  local function forget(owner, key)
    for _, set in ipairs(owned(owner)) do redis.call('ZREM', set, key) end
  end`;

const ROOM = `
  local function room(owner, share, most, entries)
    local sets = owned(owner)
    if redis.call('ZCOUNT', sets[1], '(' .. now, '+inf') + entries > share then return 'share used up' end
    if redis.call('ZCOUNT', sets[2], '(' .. now, '+inf') + entries > most then return 'store full' end
    return 'free'
  end`;

/** Arguments: owner, the owner's share, the limit of its group, number of new entries. */
export const FIND_ROOM = `${NOW} ${COUNT} ${ROOM}
  return room(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]))`;

/** Arguments: owner, the owner's share, the limit of its group, value, milliseconds. */
export const ADD_ENTRY = `${NOW} ${COUNT} ${ROOM}
  for _, set in ipairs(owned(ARGV[1])) do redis.call('ZREMRANGEBYSCORE', set, '-inf', now) end
  if redis.call('EXISTS', KEYS[1]) == 0 then
    local found = room(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), 1)
    if found ~= 'free' then return found end
  end
  redis.call('SET', KEYS[1], '\\1' .. ARGV[1] .. '\\1' .. ARGV[4], 'PX', ARGV[5])
  count(ARGV[1], KEYS[1], now + ARGV[5], ARGV[5])
  return 'free'`;

/** Arguments: the expected value, the new value, milliseconds. */
export const REPLACE = `${NOW} ${SPLIT} ${COUNT}
  local stored = redis.call('GET', KEYS[1])
  if not stored then return 0 end
  local owner, value = split(stored)
  if value ~= ARGV[1] then return 0 end
  local prefix = owner and '\\1' .. owner .. '\\1' or ''
  redis.call('SET', KEYS[1], prefix .. ARGV[2], 'PX', ARGV[3])
  if owner then count(owner, KEYS[1], now + ARGV[3], ARGV[3]) end
  return 1`;

/** Deletes a value or a set. If there is an argument, a value is only deleted if it equals the argument. */
export const DELETE = `${SPLIT} ${COUNT}
  if redis.call('TYPE', KEYS[1]).ok == 'string' then
    local owner, value = split(redis.call('GET', KEYS[1]))
    if ARGV[1] and value ~= ARGV[1] then return 0 end
    if owner then forget(owner, KEYS[1]) end
  end
  return redis.call('DEL', KEYS[1])`;

/** A set expires with its last member. `NX` comes first: for a key without an expiry, `GT` never sets one. */
export const ADD_MEMBER = `${NOW}
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
    return 0
  end
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2], 'NX')
  redis.call('PEXPIRE', KEYS[1], ARGV[2], 'GT')
  return 1`;

export const MEMBERS = `${NOW}
  return redis.call('ZRANGE', KEYS[1], '(' .. now, '+inf', 'BYSCORE')`;
