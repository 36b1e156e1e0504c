/** Replicas that share a Redis: each notice is sent by one of them. */
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { connectRedis, type RedisClient } from "../../../src/gateway/state/redis-client.ts";
import { createRedisStore } from "../../../src/gateway/state/redis-store.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../../support/notice-receivers.ts";
import {
  createWorld,
  LATER,
  observe,
  plan,
  stage,
  startNotices,
  type TestNotices,
  type World,
} from "../../support/notices.ts";
import { createRedisServer, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";

const describeReplicas = await describeWith("redis-server");

describeReplicas("two replicas with one Redis", () => {
  let server: RedisServer;
  let clients: RedisClient[];
  let webhook: WebhookReceiver;
  let world: World;
  let replicas: TestNotices[];

  async function startReplica(): Promise<TestNotices> {
    const client = await connectRedis({ url: server.url, onChange: () => {} });
    clients.push(client);
    const replica = startNotices(world, createRedisStore(client));
    replicas.push(replica);
    return replica;
  }

  beforeEach(async () => {
    server = await createRedisServer();
    await server.start();
    webhook = await startWebhookReceiver();
    jest.replaceProperty(process, "env", { ...process.env, NOTICES_SECRET: WEBHOOK_SECRET });
    world = createWorld(
      `receivers: { hook: { webhook: "${webhook.url}", secret: { env: NOTICES_SECRET } } }\n`,
    );
    [clients, replicas] = [[], []];
    await startReplica();
    await startReplica();
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    for (const client of clients) await client.close();
    jest.restoreAllMocks();
  });

  const tickAll = async (ms: number): Promise<void> => {
    world.time += ms;
    await Promise.all(replicas.map((replica) => replica.tick()));
  };
  const typesOf = (): string[] => webhook.received.map(({ body }) => body.type).toSorted();

  test("send each notice once, though both look", async () => {
    await tickAll(0);
    world.clients = [observe("0000000000000001", "not begun"), observe("0000000000000002", "not begun")];
    world.plan = plan([stage("first", "planned")]);
    await tickAll(LATER);
    world.plan = plan([stage("first", "active")]);
    for (let look = 0; look < 5; look += 1) await tickAll(LATER);
    await waitFor(() => webhook.received.length >= 3);
    await tickAll(LATER);
    expect(typesOf()).toEqual(["client.new", "client.new", "stage.begins"]);
  });

  test("go on when the one that sends shuts down", async () => {
    await tickAll(0);
    const [leading] = replicas;
    await leading!.close();
    world.clients = [observe("0000000000000001", "not begun")];
    await waitFor(async () => {
      await tickAll(LATER);
      return webhook.received.length > 0;
    });
    await tickAll(LATER);
    expect(typesOf()).toEqual(["client.new"]);
  });

  test("send nothing while Redis is down, and what happened meanwhile once it is back", async () => {
    await tickAll(0);
    server.hang();
    world.clients = [observe("0000000000000001", "not begun")];
    await tickAll(LATER);
    expect(webhook.received).toEqual([]);
    expect(replicas.flatMap(({ log }) => log).join()).toContain("AG_NOTICES_FAILED");
    server.resume();
    await waitFor(async () => {
      await tickAll(LATER);
      return webhook.received.length > 0;
    });
    await tickAll(LATER);
    expect(typesOf()).toEqual(["client.new"]);
  });

  test("that look at the same moment without a lease store the news once", async () => {
    const store = createRedisStore(clients[0]!);
    // As if the clock of one had jumped: both believe that they lead.
    const lenient = {
      ...store,
      setIfAbsent: async (key: string, ...rest: [string, number]) =>
        key === "notices:lease" || store.setIfAbsent(key, ...rest),
    };
    const both = [startNotices(world, lenient), startNotices(world, lenient)];
    replicas.push(...both);
    const tickBoth = async (ms: number) => {
      world.time += ms;
      await Promise.all(both.map((each) => each.tick()));
    };
    await tickBoth(0);
    world.clients = [observe("0000000000000001", "not begun")];
    await tickBoth(LATER);
    const stored = JSON.parse((await store.get("notices:state")) ?? "{}") as {
      value: { waiting: unknown[] };
    };
    const ids = new Set(webhook.received.map(({ id }) => id));
    expect(stored.value.waiting.length + ids.size).toBeGreaterThan(0);
    await waitFor(() => webhook.received.length > 0);
    // The one that lost read what the other has stored: it found no news, and each attempt has the same id.
    expect(new Set(webhook.received.map(({ id }) => id)).size).toBe(1);
  });
});
