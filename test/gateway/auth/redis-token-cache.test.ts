/** The token cache in Redis: what a purge costs. */
import { expect, test } from "@jest/globals";
import type { RedisClient } from "../../../src/gateway/state/redis-client.ts";
import { createRedisTokenCache } from "../../../src/gateway/state/redis-token-cache.ts";
import { tokenHash } from "../../../src/gateway/auth/token-cache.ts";

/** A Redis that notes the commands it gets, and whose keys are one page of a search. */
function notingRedis() {
  const commands: unknown[][] = [];
  const note =
    (name: string, reply: unknown = 1) =>
    async (...args: unknown[]) => {
      commands.push([name, ...args]);
      return reply;
    };
  const client = {
    scan: note("scan", { cursor: "0", keys: [] }),
    unlink: note("unlink"),
    publish: note("publish"),
  };
  const redis = { run: async (use: (given: typeof client) => unknown) => use(client) };
  return { commands, redis: redis as unknown as RedisClient };
}

const OPTIONS = { ttlSeconds: 300, negativeTtlSeconds: 30 };

test("a purge of one token deletes its key, and searches no keys of other programs", async () => {
  const { commands, redis } = notingRedis();
  const hash = tokenHash("t0k3n");
  await createRedisTokenCache(redis, OPTIONS).purge(hash);
  expect(commands.map(([name]) => name)).toEqual(["unlink", "publish"]);
  expect(commands[0]?.[1]).toMatch(new RegExp(`token:${hash}$`));
});

test("a purge by the beginning of a hash, which operators give, searches all keys", async () => {
  const { commands, redis } = notingRedis();
  await createRedisTokenCache(redis, OPTIONS).purge("abcdef");
  expect(commands.map(([name]) => name)).toEqual(["scan", "publish"]);
});
