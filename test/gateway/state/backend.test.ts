/** Limits and tokens, where the state is in one process and where processes share it in Redis. */
import { createSharedTokenCache, createTokenCache } from "../../../src/gateway/auth/token-cache.ts";
import { createMemoryLimiter } from "../../../src/gateway/limits/limiter.ts";
import { connectRedis, type RedisClient } from "../../../src/gateway/state/redis-client.ts";
import { createRedisLimiter } from "../../../src/gateway/state/redis-limiter.ts";
import { createRedisTokenCache } from "../../../src/gateway/state/redis-token-cache.ts";
import { createRedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { testBackend, testSharedBackend, type BackendPlace } from "./backend-contract.ts";

testBackend("one process", async () => ({
  createLimiter: createMemoryLimiter,
  createTokenCache,
  remove: async () => {},
}));

/** A Redis of its own. Each limiter and token cache has the connection of another process. */
async function redisPlace(): Promise<BackendPlace> {
  const server = await createRedisServer();
  await server.start();
  const connections: RedisClient[] = [];
  for (let n = 0; n < 2; n += 1)
    connections.push(await connectRedis({ url: server.url, onChange: () => {} }));
  let created = 0;
  const nextConnection = (): RedisClient => connections[created++ % connections.length]!;
  return {
    createLimiter: (limit) => createRedisLimiter(nextConnection(), "all", limit),
    createTokenCache: (options) =>
      createSharedTokenCache(createTokenCache(options), createRedisTokenCache(nextConnection(), options)),
    async remove() {
      for (const connection of connections) await connection.close();
      await server.stop();
    },
  };
}

const describe = await describeWith("redis-server");

describe("the state in Redis", () => {
  testBackend("Redis", redisPlace);
  testSharedBackend("Redis", redisPlace);
});
