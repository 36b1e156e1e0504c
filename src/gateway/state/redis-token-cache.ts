import { z } from "zod";
import type { RedisClient } from "./redis-client.ts";
import { readReply, REDIS_PREFIX, TEXT, TEXTS } from "./redis-replies.ts";
import {
  isWholeHash,
  type TokenCacheBackend,
  type TokenCacheOptions,
  type TokenInfo,
} from "../auth/token-cache.ts";

const PREFIX = `${REDIS_PREFIX}token:`;
const PURGE_CHANNEL = `${REDIS_PREFIX}purge`;
const KEYS_PER_SCAN = 1000;

/**
 * Converts the facts about a token to text: `{"refused":true}`, `{"grants":null}`, `{"grants":"all"}` or
 * `{"grants":[["resource",1],…]}`.
 */
function serializeTokenInfo(info: TokenInfo): string {
  if (info.refused) return '{"refused":true}';
  const { grants = null } = info;
  return JSON.stringify({ grants: grants === null || grants === "all" ? grants : [...grants] });
}

const storedInfoSchema = z.union([
  z.object({ refused: z.literal(true) }),
  z.object({
    grants: z.union([z.null(), z.literal("all"), z.array(z.tuple([z.string(), z.int()]))]),
  }),
]);

/** @returns undefined for a text that a different version or a different program has written */
function parseTokenInfo(text: string): TokenInfo | undefined {
  try {
    const info = storedInfoSchema.parse(JSON.parse(text));
    if ("refused" in info) return info;
    const { grants } = info;
    return { refused: false, grants: Array.isArray(grants) ? new Map(grants) : (grants ?? undefined) };
  } catch {
    return undefined;
  }
}

/** Creates the token cache in Redis. Its keys contain the hash of the token, never the token. */
export function createRedisTokenCache(
  redis: RedisClient,
  { ttlSeconds, negativeTtlSeconds }: Omit<TokenCacheOptions, "size">,
): TokenCacheBackend {
  /** Deletes in steps, so that a Redis with many other keys is not blocked. */
  async function deleteKeys(fingerprint: string): Promise<void> {
    if (isWholeHash(fingerprint)) {
      await redis.run((client) => client.unlink(PREFIX + fingerprint));
      return;
    }
    let cursor = "0";
    do {
      const from = cursor;
      const page = await redis.run(async (client) => {
        const reply = await client.scan(from, { MATCH: `${PREFIX}${fingerprint}*`, COUNT: KEYS_PER_SCAN });
        return { keys: readReply(TEXTS, reply.keys), cursor: readReply(TEXT, reply.cursor) };
      });
      if (page.keys.length > 0) await redis.run((client) => client.unlink([...page.keys]));
      cursor = page.cursor;
    } while (cursor !== "0");
  }

  return {
    async get(hash) {
      const key = PREFIX + hash;
      const [text, ttlMs] = await redis.run((client) => client.multi().get(key).pTTL(key).exec());
      const info = typeof text === "string" ? parseTokenInfo(text) : undefined;
      return info && typeof ttlMs === "number" && ttlMs > 0 ? { info, ttlMs } : undefined;
    },
    async set(hash, info) {
      await redis.run((client): Promise<unknown> => {
        if (info === undefined) return client.unlink(PREFIX + hash);
        const expiration = { type: "EX", value: info.refused ? negativeTtlSeconds : ttlSeconds } as const;
        return client.set(PREFIX + hash, serializeTokenInfo(info), { expiration });
      });
    },
    async purge(fingerprint) {
      await deleteKeys(fingerprint);
      await redis.run((client) => client.publish(PURGE_CHANNEL, fingerprint));
    },
    onPurge: (listener) => redis.subscribe(PURGE_CHANNEL, listener, () => listener("")),
  };
}
