import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { createRedisLimiter } from "../../../src/gateway/state/redis-limiter.ts";
import { StateUnavailableError } from "../../../src/base/storage/key-value-store.ts";
import { connectRedis } from "../../../src/gateway/state/redis-client.ts";
import { createRedisStore } from "../../../src/gateway/state/redis-store.ts";
import { forward, startFaultProxy } from "../../support/fault-proxy.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { createRedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { MAX_ENTRIES, testKeyValueStore } from "./key-value-store-contract.ts";

const describe = await describeWith("redis-server");

describe("the Redis store", () => {
  testKeyValueStore("Redis", async () => {
    const server = await createRedisServer();
    await server.start();
    const links: Awaited<ReturnType<typeof connectRedis>>[] = [];
    return {
      async open() {
        const link = await connectRedis({ url: server.url, onChange: () => {} });
        links.push(link);
        return createRedisStore(link, MAX_ENTRIES);
      },
      async remove() {
        for (const link of links) await link.close();
        await server.stop();
      },
    };
  });

  test("keeps an idle connection open beyond Redis's timeout", async () => {
    const changes: (string | undefined)[] = [];
    const server = await createRedisServer();
    await server.start();
    const redis = await connectRedis({ url: server.url, onChange: (fault) => changes.push(fault) });
    await new Promise((resolve) => setTimeout(resolve, 11_500));
    expect([changes, redis.isReady()]).toEqual([[], true]);
    await redis.close();
    await server.stop();
  });

  test("fails at once while Redis is down, and reports it", async () => {
    const server = await createRedisServer();
    await server.start();
    const redis = await connectRedis({ url: server.url, onChange: () => {} });
    const store = createRedisStore(redis);
    const key = randomUUID();
    await store.set(key, "value", 600);
    await server.stop();
    await expect(store.get(key)).rejects.toThrow(StateUnavailableError);
    expect(store.fault()).toBeDefined();
    await redis.close();
  });

  /** Opens a store in a Redis of its own. */
  async function open(...flags: readonly string[]) {
    const server = await createRedisServer(...flags);
    await server.start();
    const changes: (string | undefined)[] = [];
    const redis = await connectRedis({ url: server.url, onChange: (fault) => changes.push(fault) });
    return {
      url: server.url,
      redis,
      store: createRedisStore(redis),
      changes,
      configure: (name: string, value: string) => redis.run((client) => client.configSet(name, value)),
      async close() {
        await redis.close();
        await server.stop();
      },
    };
  }

  test("is not ready while Redis is full, although it can be read; nothing is evicted", async () => {
    const { redis, store, changes, configure, close } = await open("--maxmemory-policy", "noeviction");
    await store.set("key", "value", 600);
    await configure("maxmemory", "1");
    await waitFor(() => !redis.isReady());
    expect([await store.get("key"), store.fault()]).toEqual(["value", expect.any(String)]);
    expect([redis.fault(), changes.at(-1)]).toEqual([
      expect.stringMatching(/^can't be written \(OOM/),
      expect.stringMatching(/^OOM/),
    ]);
    expect((await store.fullness()).rest).toBe(1);
    await expect(store.set("other", "value", 600)).rejects.toThrow(StateUnavailableError);
    await configure("maxmemory", "0");
    await waitFor(() => redis.isReady());
    expect([await store.get("key"), changes.at(-1)]).toEqual(["value", undefined]);
    await close();
  });

  test("is not ready while Redis is a replica that can only be read", async () => {
    const first = await open();
    const { redis, store, close } = await open("--replicaof", "127.0.0.1", new URL(first.url).port);
    expect([redis.isReady(), store.fault()]).toEqual([false, expect.any(String)]);
    expect(redis.fault()).toMatch(/^can't be written \(READONLY/);
    expect(await store.get("key")).toBeUndefined();
    await close();
    await first.close();
  });

  test("waits once for a Redis that hangs: commands after the first timeout fail at once, until it responds", async () => {
    const server = await createRedisServer();
    await server.start();
    const proxy = await startFaultProxy(server.url);
    const changes: (string | undefined)[] = [];
    const url = `redis://127.0.0.1:${proxy.port}`;
    const redis = await connectRedis({ url, onChange: (fault) => changes.push(fault) });
    const get = () =>
      redis
        .run((client) => client.get("key"))
        .then(
          () => "a result",
          ({ message }: Error) => message,
        );
    proxy.freeze();
    expect(await get()).toMatch(/^no response within/);
    expect([await get(), await get()]).toEqual(["Redis is away", "Redis is away"]);
    await waitFor(() => !redis.isReady());
    await proxy.setFault(forward);
    await waitFor(() => redis.isReady());
    await waitFor(async () => (await get()) === "a result");
    expect(changes.at(-1)).toBeUndefined();
    await redis.close();
    await proxy.close();
    await server.stop();
  });

  test("does not treat one late response as an outage", async () => {
    const server = await createRedisServer();
    await server.start();
    const changes: (string | undefined)[] = [];
    const redis = await connectRedis({ url: server.url, onChange: (fault) => changes.push(fault) });
    const late = redis.run(() => new Promise((resolve) => setTimeout(resolve, 700)));
    await expect(late).rejects.toThrow(/^no response within/);
    await waitFor(async () => (await redis.run((client) => client.ping()).catch(() => "")) === "PONG");
    expect([changes, redis.isReady()]).toEqual([[], true]);
    await redis.close();
    await server.stop();
  });

  test("fails where a program responds that is not Redis: no reply of another type is a value", async () => {
    const program = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        for (const _command of data.toString().matchAll(/^\*\d+\r$/gm)) socket.write("+OK\r\n");
      });
    });
    await once(program.listen(0, "127.0.0.1"), "listening");
    const { port } = program.address() as AddressInfo;
    const redis = await connectRedis({ url: `redis://127.0.0.1:${port}`, onChange: () => {} });
    expect(redis.fault()).toMatch(/^can't be written \(Redis replied with/);
    const store = createRedisStore(redis);
    const owner = { group: "personal", id: "1", share: 5 } as const;
    const limiter = createRedisLimiter(redis, "all", { points: 5, seconds: 60 });
    for (const run of [
      () => store.room(owner, 1),
      () => store.add("key", "value", 60, owner),
      () => store.replace("key", "value", "other", 60),
      () => store.addToSet("key", "member", 60),
      () => store.setMembers("key"),
      () => store.fullness(),
    ])
      await expect(run()).rejects.toThrow(StateUnavailableError);
    await expect(limiter.consume("client")).rejects.toThrow(Error);
    await redis.close();
    program.close();
  });
});
