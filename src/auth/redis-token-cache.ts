import { REDIS_PREFIX, type RedisClient } from "../storage/redis-client.ts";
import type { TokenCacheBackend } from "./shared-token-cache.ts";
import type { TokenCacheOptions } from "./token-cache.ts";
import { parseTokenInfo, serializeTokenInfo } from "./serialize-token-info.ts";

const PREFIX = `${REDIS_PREFIX}token:`;
const PURGES = `${REDIS_PREFIX}purge`;
const KEYS_AT_ONCE = 1000;

/** Keeps facts in Redis under the hash of the token: never the token, never a decision. */
export function createRedisTokenCache(
  redis: RedisClient,
  { ttlSeconds, negativeTtlSeconds }: Omit<TokenCacheOptions, "size">,
): TokenCacheBackend {
  /** Deletes step by step, so that a Redis with much else in it is not held up. */
  async function forget(fingerprint: string): Promise<void> {
    let cursor = "0";
    do {
      const from = cursor;
      const page = await redis.run((client) =>
        client.scan(from, { MATCH: `${PREFIX}${fingerprint}*`, COUNT: KEYS_AT_ONCE }),
      );
      if (page.keys.length > 0) await redis.run((client) => client.unlink(page.keys));
      cursor = page.cursor;
    } while (cursor !== "0");
  }

  return {
    async get(hash) {
      const key = PREFIX + hash;
      const [text, ttlMs] = await redis.run((client) => client.multi().get(key).pTTL(key).exec());
      const facts = typeof text === "string" ? parseTokenInfo(text) : undefined;
      return facts && typeof ttlMs === "number" && ttlMs > 0 ? { info: facts, ttlMs } : undefined;
    },
    async set(hash, facts) {
      await redis.run((client): Promise<unknown> => {
        if (facts === undefined) return client.unlink(PREFIX + hash);
        const expiration = { type: "EX", value: facts.refused ? negativeTtlSeconds : ttlSeconds } as const;
        return client.set(PREFIX + hash, serializeTokenInfo(facts), { expiration });
      });
    },
    async purge(fingerprint) {
      await forget(fingerprint);
      await redis.run((client) => client.publish(PURGES, fingerprint));
    },
    onPurge: (hear) => redis.subscribe(PURGES, hear, () => hear("")),
  };
}
