/** One gateway of several processes: to clients and operators it is one. */
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { acceptGoodTokens, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { createRedisServer, sharedBy, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, waitUntilClosed, run, serve, DEFAULT_GRACE, workersOf, type Serving } from "./program.ts";

const describe = await describeWith("redis-server");

let v4: FakeV4;
let redis: RedisServer;
beforeEach(async () => {
  redis = await createRedisServer();
  await redis.start();
  v4 = await startFakeV4();
  v4.respondWith(acceptGoodTokens);
});
afterEach(async () => {
  await killAll();
  await redis.stop();
  await v4.close();
  removeFolders();
});

const start = (env: Readonly<Record<string, string>> = {}): Promise<Serving> =>
  serve(createFolder(), { env: { UPSTREAM_URL: v4.url, WORKERS: "2", ...sharedBy(redis), ...env } });

/** On a connection of its own, which any of the workers may take. */
async function ask({ url }: Pick<Serving, "url">, token = "good"): Promise<number> {
  const headers = { authorization: `token ${token}`, connection: "close" };
  const response = await fetch(`${url}/v4/vm/instances`, { headers });
  await response.arrayBuffer();
  return response.status;
}

async function flood(gateway: Serving, count: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const status of await Promise.all(Array.from({ length: count }, () => ask(gateway))))
    counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const read = async ({ admin }: Serving, path: string): Promise<string> =>
  (await fetch(`${admin}${path}`)).text();

/** Sum of the samples of a metric. */
async function metric(gateway: Serving, name: string): Promise<number> {
  const lines = (await read(gateway, "/metrics")).split("\n").filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

const REQUESTS = "alpha_gateway_requests_total{";

describe("two workers", () => {
  test("enforce one exact rate limit", async () => {
    // Odd: two that held a half each would let 30 through.
    const gateway = await start({ RATE_LIMIT: "31/900" });
    expect(workersOf(gateway)).toHaveLength(2);
    expect(await flood(gateway, 60)).toEqual({ 200: 31, 420: 29 });
    expect(await flood(gateway, 10)).toEqual({ 420: 10 });
    expect(v4.calls).toHaveLength(31);
  }, 60_000);

  test("L-21 share what one of them has cached about tokens, and purge it together", async () => {
    const gateway = await start();
    for (let n = 0; n < 6; n += 1) expect(await ask(gateway, "bad")).toBe(401);
    expect(v4.calls).toHaveLength(1);
    expect((await fetch(`${gateway.admin}/api/tokens`, { method: "DELETE" })).status).toBe(204);
    while (v4.calls.length === 1) expect(await ask(gateway, "bad")).toBe(401);
    for (let n = 0; n < 6; n += 1) expect(await ask(gateway, "bad")).toBe(401);
    // Redis notifies the workers one after the other. One that is notified late forgets what v4 has said meanwhile, too.
    expect(v4.calls.length).toBeLessThanOrEqual(1 + 2);
  }, 60_000);

  test("serve while Redis is down, which is one reason of all, and recover", async () => {
    const gateway = await start();
    await redis.stop();
    const reason = "Redis does not respond: each process enforces its share of the limits";
    let reasons: string[] = [];
    while (!reasons.includes(reason)) ({ reasons } = JSON.parse(await read(gateway, "/readyz")));
    expect(reasons.filter((text) => text === reason)).toEqual([reason]);
    expect(await flood(gateway, 20)).toEqual({ 200: 20 });
    await redis.start();
    while ((await fetch(`${gateway.admin}/readyz`)).status !== 200) await wait(50);
    expect(await flood(gateway, 20)).toEqual({ 200: 20 });
  }, 60_000);

  test("have common metrics and one audit", async () => {
    const gateway = await start({ AUDIT_DURABILITY: "strict" });
    await flood(gateway, 20);
    expect(await metric(gateway, REQUESTS)).toBe(20);
    expect(JSON.parse(await read(gateway, "/api/audit?limit=100")).records).toHaveLength(20);
    expect(await read(gateway, "/metrics")).toMatch(/^alpha_gateway_audit_written_total 20$/m);
  }, 60_000);

  test("share the embedded sandbox", async () => {
    const gateway = await serve(createFolder(), { env: { WORKERS: "2", ...sharedBy(redis) } });
    const [, token = ""] = await gateway.waitForOutput(/^Token +(\S+)$/m);
    for (let n = 0; n < 4; n += 1) expect(await ask(gateway, token)).toBe(200);
  }, 60_000);
});

describe("a worker that is killed", () => {
  test("is restarted; the other serves meanwhile, and rate limits keep their counts", async () => {
    const gateway = await start({ RATE_LIMIT: "30/900" });
    expect(await flood(gateway, 20)).toEqual({ 200: 20 });
    expect(await metric(gateway, REQUESTS)).toBe(20);
    const [victim = 0, other = 0] = workersOf(gateway);
    process.kill(victim, "SIGKILL");
    while (workersOf(gateway).includes(victim)) await wait(20);
    expect(await flood(gateway, 5)).toEqual({ 200: 5 });

    while (workersOf(gateway).length < 2) await wait(50);
    expect(workersOf(gateway)).toContain(other);
    // It serves while its metrics are read: two workers and the primary report their memory.
    expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(200);
    expect(await metric(gateway, REQUESTS)).toBe(25);
    expect(await flood(gateway, 20)).toEqual({ 200: 5, 420: 15 });
  }, 60_000);

  test("leaves connections that are not accepted yet to the other", async () => {
    const gateway = await start();
    const [victim = 0, other = 0] = workersOf(gateway);
    // Who is stopped takes nothing: connections are made by the system, and wait.
    process.kill(victim, "SIGSTOP");
    process.kill(other, "SIGSTOP");
    const clients = await Promise.all(Array.from({ length: 16 }, () => openRawClient(gateway.url)));
    for (const client of clients)
      client.send("GET /v4/vm/instances HTTP/1.1\r\nHost: a\r\nAuthorization: token good\r\n\r\n");
    process.kill(victim, "SIGKILL");
    process.kill(other, "SIGCONT");
    const responses = await Promise.all(clients.map((client) => client.waitForResponses(1)));
    expect(responses.flat().map(({ status }) => status)).toEqual(Array(16).fill(200));
    for (const client of clients) client.close();
  }, 60_000);

  test("aborts the connections that it had accepted", async () => {
    const gateway = await start();
    v4.respondWith(() => {});
    const outcomes = Array.from({ length: 8 }, () => ask(gateway).then(String, () => "broken off"));
    while (v4.calls.length < 8) await wait(20);
    for (const worker of workersOf(gateway)) process.kill(worker, "SIGKILL");
    expect(await Promise.all(outcomes)).toEqual(Array(8).fill("broken off"));
    v4.respondWith(acceptGoodTokens);
    while ((await ask(gateway).catch(() => 0)) !== 200) await wait(50);
  }, 60_000);

  test("leaves no request hanging, twenty times under load", async () => {
    const gateway = await start({ WORKERS: "6" });
    const outcomes = new Set<unknown>();
    const killed: number[] = [];
    const client = async (): Promise<void> => {
      while (killed.length < 20) outcomes.add(await ask(gateway).catch(() => "broken off"));
    };
    const clients = Array.from({ length: 8 }, client);
    while (killed.length < 20) {
      // One that was killed may still be listed.
      const [victim = 0, ...others] = workersOf(gateway).filter((worker) => !killed.includes(worker));
      if (others.length > 0) {
        process.kill(victim, "SIGKILL");
        killed.push(victim);
      }
      await wait(50);
    }
    await Promise.all(clients);
    expect([...outcomes].filter((outcome) => outcome !== "broken off")).toEqual([200]);
  }, 120_000);
});

describe("shutdown with workers", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s finishes in-flight requests, accepts no other, and exits with 0",
    async (signal) => {
      const gateway = await start(DEFAULT_GRACE);
      const held: (() => void)[] = [];
      v4.respondWith((call, response) => void held.push(() => acceptGoodTokens(call, response)));
      const inFlight = Array.from({ length: 4 }, (_, n) => ask(gateway, `good-${n}`));
      while (held.length < 4) await wait(20);
      gateway.signal(signal);
      while ((await fetch(`${gateway.admin}/readyz`)).status !== 503) await wait(10);
      await waitUntilClosed(gateway.url);
      for (const respond of held) respond();
      expect(await Promise.all(inFlight)).toEqual([200, 200, 200, 200]);
      expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
    },
    60_000,
  );

  test("a signal to all processes, as from a terminal, has the same effect", async () => {
    const gateway = await start();
    const workers = workersOf(gateway);
    for (const pid of [...workers, gateway.pid]) process.kill(pid, "SIGINT");
    expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
  }, 60_000);

  test("no worker outlives the primary", async () => {
    const gateway = await start();
    const workers = workersOf(gateway);
    gateway.signal("SIGKILL");
    await gateway.ended;
    const lives = (pid: number): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    while (workers.some(lives)) await wait(20);
    expect(workers).toHaveLength(2);
  }, 60_000);

  test("a port in use is reported in one line, and no process stays", async () => {
    const { port } = new URL(v4.url);
    const ended = await run(["serve"], {
      env: {
        UPSTREAM_URL: v4.url,
        WORKERS: "2",
        ...sharedBy(redis),
        PORT: port,
        ADMIN_PORT: "0",
        DATA_DIR: createFolder(),
      },
    }).ended;
    expect(ended.code).toBe(1);
    expect(ended.err).toMatch(/^AG_WORKER_START_FAILED: PORT: can't listen on [^\n]*EADDRINUSE[^\n]*\n$/);
  }, 60_000);
});
