/** Reads replies of Redis. The client does not check their types, and another program may respond at its address. */

/** Prefix of all keys and channels: a Redis may serve other programs too. */
export const REDIS_PREFIX = "alpha-gateway:";

/** The keys of the rate limits, which {@link COUNT_REQUESTS} counts. */
export const LIMIT_PREFIX = `${REDIS_PREFIX}limit:`;

/** Redis gave a reply of another type than its command has. */
export class RedisReplyError extends Error {
  override readonly name = "RedisReplyError";
}

const refuse = (expected: string, reply: unknown): never => {
  throw new RedisReplyError(`Redis replied with ${typeof reply} where ${expected} was expected`);
};

const isInteger = (reply: unknown): reply is number => Number.isSafeInteger(reply);

/** @throws {RedisReplyError} */
export const readInteger = (reply: unknown): number =>
  isInteger(reply) ? reply : refuse("an integer", reply);

/** @throws {RedisReplyError} */
export const readText = (reply: unknown): string =>
  typeof reply === "string" ? reply : refuse("a text", reply);

/** @returns undefined for null. @throws {RedisReplyError} */
export const readOptionalText = (reply: unknown): string | undefined =>
  reply === null ? undefined : readText(reply);

/** @throws {RedisReplyError} */
export const readTexts = (reply: unknown): readonly string[] =>
  Array.isArray(reply) ? reply.map(readText) : refuse("a list", reply);

/** One of some texts. @throws {RedisReplyError} */
export const readChoice = <T extends string>(reply: unknown, choices: readonly T[]): T =>
  choices.find((choice) => choice === reply) ?? refuse(`one of ${choices.join(", ")}`, reply);

/** The count of a window and the milliseconds it has left: what {@link COUNT_REQUESTS} returns. */
export type WindowCount = readonly [count: number, msLeft: number];

/** @throws {RedisReplyError} */
export function readWindowCount(reply: unknown): WindowCount {
  const [count, msLeft, ...rest] = Array.isArray(reply) ? (reply as unknown[]) : [];
  return isInteger(count) && isInteger(msLeft) && rest.length === 0
    ? [count, msLeft]
    : refuse("a count and a time", reply);
}

/** Counts requests in a window that begins with the first. Arguments: requests, seconds. */
export const COUNT_REQUESTS = `
  redis.call('SET', KEYS[1], 0, 'EX', ARGV[2], 'NX')
  local count = redis.call('INCRBY', KEYS[1], ARGV[1])
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    redis.call('EXPIRE', KEYS[1], ARGV[2])
    left = 1000 * ARGV[2]
  end
  return { count, left }`;
