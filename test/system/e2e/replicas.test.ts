/** Several gateways with one Redis, as processes: their shared state, also while Redis is down. */
import { setTimeout as wait } from "node:timers/promises";
import { createClient } from "@redis/client";
import { beforeEach, expect, test } from "@jest/globals";
import { acceptGoodTokens, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { createRedisServer, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { readMetric, waitForReadiness } from "../chaos/admin-client.ts";
import { startLoad } from "../chaos/load.ts";
import { serve, type Serving } from "./program.ts";

const describe = await describeWith("redis-server");

let v4: FakeV4;
let redis: RedisServer;
beforeEach(async () => {
  v4 = await startFakeV4();
  redis = await createRedisServer();
});

/** v4 as it treats tokens: those that begin with `good` are good. */
const start = (env: Readonly<Record<string, string>> = {}): Promise<Serving> =>
  serve(temporaryFolder(), {
    env: { UPSTREAM_URL: v4.url, REDIS_URL: redis.url, GATEWAY_SECRET: "s".repeat(32), ...env },
  });

const ask = async ({ url }: Serving, token = "good"): Promise<number> => {
  const response = await fetch(`${url}/v4/vm/instances`, { headers: { authorization: `token ${token}` } });
  await response.arrayBuffer();
  return response.status;
};

/** How many requests of each status, of this many that are sent to each gateway at once. */
async function flood(gateways: readonly Serving[], each: number): Promise<Record<number, number>> {
  const asked = gateways.flatMap((gateway) => Array.from({ length: each }, () => ask(gateway)));
  const counts: Record<number, number> = {};
  for (const status of await Promise.all(asked)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function countsReplicas({ admin }: Serving, count: number): Promise<void> {
  while ((await readMetric(admin, "replicas")) !== count) await wait(100);
}

test("three gateways with one Redis enforce one exact rate limit, a share of it each while Redis is down, and recover", async () => {
  await redis.start();
  v4.respondWith(acceptGoodTokens);
  // Three that held a third each would let 30 through.
  const limits = { RATE_LIMIT: "31/900" };
  const gateways = await Promise.all([start(limits), start(limits), start(limits)]);
  for (const gateway of gateways) await countsReplicas(gateway, 3);

  expect(await flood(gateways, 20)).toEqual({ 200: 31, 420: 29 });
  expect(await flood(gateways, 5)).toEqual({ 420: 15 });
  expect(v4.calls).toHaveLength(31);

  await redis.stop();
  expect(await flood(gateways, 15)).toEqual({ 200: 30, 420: 15 });
  for (const gateway of gateways) {
    const reasons = await waitForReadiness(gateway.admin, 503);
    expect(reasons).toContain("Redis does not respond: each process enforces its share of the limits");
  }

  await redis.start();
  for (const gateway of gateways) expect(await waitForReadiness(gateway.admin, 200)).toEqual([]);
  expect(await flood(gateways, 20)).toEqual({ 200: 31, 420: 29 });
}, 90_000);

describe("a Redis that goes down under load", () => {
  test.each<[string, () => Promise<void> | void, () => Promise<void> | void]>([
    ["ends", () => redis.stop(), () => redis.start()],
    ["hangs", () => redis.hang(), () => redis.resume()],
  ])(
    "%s: no request is refused, fails or hangs, and it comes back",
    async (_how, go, comeBack) => {
      await redis.start();
      v4.respondWith(acceptGoodTokens);
      const gateway = await start();
      let requests = 0;
      const load = startLoad(() => ask(gateway, `good-${(requests += 1) % 5 ? requests % 8 : requests}`), 8);
      await load.waitForMore(50);
      await go();
      await waitForReadiness(gateway.admin, 503);
      await load.waitForMore(100);
      await comeBack();
      await waitForReadiness(gateway.admin, 200);
      await load.waitForMore(50);
      expect([...(await load.end())]).toEqual([200]);
    },
    90_000,
  );

  test("lets a gateway start, which serves and becomes ready when Redis is back", async () => {
    v4.respondWith(acceptGoodTokens);
    const gateway = await start();
    expect(await ask(gateway)).toBe(200);
    expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(503);
    await redis.start();
    expect(await waitForReadiness(gateway.admin, 200)).toEqual([]);
    gateway.signal("SIGTERM");
    expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
  }, 60_000);
});

test("L-21 token caches of two gateways are shared, have only hashes and expiring entries in Redis, and are purged at one gateway only while Redis is down", async () => {
  await redis.start();
  v4.respondWith(acceptGoodTokens);
  const [one, other] = await Promise.all([start(), start()]);
  // What one gateway knows, the other does not ask v4 for.
  expect(await ask(one, "bad-secret-token")).toBe(401);
  for (let n = 0; n < 5; n += 1) expect(await ask(other, "bad-secret-token")).toBe(401);
  expect(v4.calls).toHaveLength(1);
  await ask(one, "good-secret-token");

  const client = await createClient({ url: redis.url }).connect();
  const keys = await client.keys("*");
  const values = [];
  for (const key of keys.filter((name) => name.includes(":token:"))) values.push(await client.get(key));
  const ends = await Promise.all(keys.map((key) => client.ttl(key)));
  await client.close();
  expect(new Set(values)).toEqual(new Set(['{"grants":"all"}', '{"refused":true}']));
  expect(`${keys.join()} ${values.join()}`).not.toContain("secret");
  expect(ends.every((seconds) => seconds > 0)).toBe(true);

  const purge = async (): Promise<number> =>
    (await fetch(`${other.admin}/api/tokens`, { method: "DELETE" })).status;
  const asked = v4.calls.length;
  expect(await purge()).toBe(204);
  while (v4.calls.length === asked) expect(await ask(one, "bad-secret-token")).toBe(401);
  expect(v4.calls).toHaveLength(asked + 1);

  await redis.stop();
  expect(await purge()).toBe(503);
  expect(await ask(other, "bad-secret-token")).toBe(401);
  expect(v4.calls).toHaveLength(asked + 2);
}, 60_000);

describe("REDIS_URL", () => {
  test("may have a password and a database", async () => {
    redis = await createRedisServer("--requirepass", "p@ss/word");
    await redis.start();
    const [, address = ""] = redis.url.split("//");
    const gateway = await start({ REDIS_URL: `redis://:${encodeURIComponent("p@ss/word")}@${address}/3` });
    expect(await waitForReadiness(gateway.admin, 200)).toEqual([]);
  }, 60_000);

  test("with a wrong password makes the gateway not ready, and the log has the reason without it", async () => {
    redis = await createRedisServer("--requirepass", "right");
    await redis.start();
    const gateway = await start({ REDIS_URL: redis.url.replace("//", "//:wrong-s3cr3t@") });
    expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(503);
    gateway.signal("SIGTERM");
    const { err } = await gateway.ended;
    expect(err).toMatch(/WRONGPASS/);
    expect(err).not.toContain("s3cr3t");
  }, 60_000);
});

describe("a Redis that permits writes and refuses", () => {
  const permitted = async (...rules: readonly string[]): Promise<string> => {
    redis = await createRedisServer();
    await redis.start();
    const admin = await createClient({ url: redis.url }).connect();
    await admin.sendCommand(["ACL", "SETUSER", "gateway", "on", ">pass", "~*", "&*", "+@all", ...rules]);
    await admin.close();
    return redis.url.replace("//", "//gateway:pass@");
  };

  test.each([
    ["scripts", "-@scripting", "Redis can't be written"],
    ["what the scripts of the rate limits run", "-incrby", "Redis can't be written"],
    ["channels", "resetchannels", "Redis refuses a channel"],
    ["the count of the replicas", "-zcard", "Redis can't count the replicas"],
  ])(
    "%s: the gateways are not ready, and say so",
    async (_what, rule, reason) => {
      const gateway = await start({ REDIS_URL: await permitted(rule) });
      expect(await waitForReadiness(gateway.admin, 503)).toContainEqual(expect.stringContaining(reason));
      gateway.signal("SIGTERM");
      expect((await gateway.ended).err).toMatch(
        /AG_RE(?:DIS_UNAVAILABLE|PLICAS_UNCOUNTED).*(?:NOPERM|can't run)/,
      );
    },
    60_000,
  );

  test("scripts: each gateway enforces its share of the limits", async () => {
    v4.respondWith(acceptGoodTokens);
    const limits = { RATE_LIMIT: "30/900", REDIS_URL: await permitted("-@scripting") };
    const gateways = await Promise.all([start(limits), start(limits), start(limits)]);
    for (const gateway of gateways) await countsReplicas(gateway, 3);
    expect(await flood(gateways, 15)).toEqual({ 200: 30, 420: 15 });
  }, 60_000);
});
