/** Several processes that share one public port of a machine. */
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, expect, test } from "@jest/globals";
import { acceptGoodTokens, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { createRedisServer, sharedBy, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { DEFAULT_GRACE, run, serve, type Serving } from "./program.ts";

const LONG_MS = 120_000;

const describe = await describeWith("redis-server");

let v4: FakeV4;
let redis: RedisServer;
let folder: string;
beforeEach(async () => {
  redis = await createRedisServer();
  await redis.start();
  v4 = await startFakeV4();
  v4.respondWith(acceptGoodTokens);
  folder = temporaryFolder();
});

type Env = Readonly<Record<string, string>>;

const settings = (env: Env = {}): Env => ({
  UPSTREAM_URL: v4.url,
  REUSE_PORT: "true",
  ...sharedBy(redis),
  ...env,
});

const start = (env?: Env): Promise<Serving> => serve(folder, { env: settings(env) });

const portOf = ({ url }: Serving): string => new URL(url).port;

/** Two processes with one public port. */
async function startTwo(env: Env = {}): Promise<[Serving, Serving]> {
  const one = await start(env);
  const other = await start({ ...env, PORT: portOf(one) });
  expect(other.url).toBe(one.url);
  return [one, other];
}

/** On a connection of its own, which either process may get. */
async function ask({ url }: Serving): Promise<number> {
  const headers = { authorization: "token good", connection: "close" };
  const response = await fetch(`${url}/v4/vm/instances`, { headers });
  await response.arrayBuffer();
  return response.status;
}

/** How many of this many requests got each status. */
async function flood(gateway: Serving, count: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const status of await Promise.all(Array.from({ length: count }, () => ask(gateway))))
    counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Requests that the process itself has answered. */
async function countRequests({ admin }: Serving): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const samples = text.matchAll(/^alpha_gateway_requests_total\{.*\} (\d+)$/gm);
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
}

describe("two processes with REUSE_PORT=true", () => {
  test(
    "answer requests at one port, and share one exact rate limit and one audit store; SIGKILL of one: the other answers all that follows, and the limit keeps its count",
    async () => {
      // One that held a half would let more than 11 through after the other's end, or fewer.
      const gateways = await startTwo({ RATE_LIMIT: "31/900", AUDIT_DURABILITY: "strict" });
      expect(await flood(gateways[0], 20)).toEqual({ 200: 20 });
      const [one = 0, other = 0] = await Promise.all(gateways.map(countRequests));
      expect(one).toBeGreaterThan(0);
      expect(other).toBeGreaterThan(0);
      expect(one + other).toBe(20);
      for (const { admin } of gateways) {
        const response = await fetch(`${admin}/api/audit?limit=100&status=200`);
        expect(((await response.json()) as { records: object[] }).records).toHaveLength(20);
      }

      gateways[0].signal("SIGKILL");
      await gateways[0].ended;
      expect(await flood(gateways[1], 40)).toEqual({ 200: 11, 420: 29 });
      expect(v4.calls).toHaveLength(31);
    },
    LONG_MS,
  );

  test(
    "one starts and the other ends while requests go on: none fails, but for connections that were never taken",
    async () => {
      const env = { RATE_LIMIT: "1000000/1", ...DEFAULT_GRACE };
      const one = await start(env);
      const outcomes: unknown[] = [];
      const end = new AbortController();
      const load = Array.from({ length: 8 }, async () => {
        while (!end.signal.aborted) outcomes.push(await ask(one).catch((error: Error) => error.cause));
      });
      const more = async (count: number): Promise<void> => {
        const enough = outcomes.length + count;
        while (outcomes.length < enough) await wait(10);
      };

      await more(100);
      const other = await start({ ...env, PORT: portOf(one) });
      await more(100);
      expect(new Set(outcomes)).toEqual(new Set([200]));
      one.signal("SIGTERM");
      expect(await one.ended).toMatchObject({ code: 0, signal: null });
      await more(100);
      end.abort();
      await Promise.all(load);
      const answered = outcomes.filter((outcome) => outcome === 200);
      const others = outcomes.filter((outcome) => outcome !== 200);
      for (const cause of others) expect(cause).toMatchObject({ code: "ECONNRESET" });
      // None of them has begun: v4 has seen those alone that were answered.
      expect(v4.calls).toHaveLength(answered.length);
      expect(await flood(other, 10)).toEqual({ 200: 10 });
    },
    LONG_MS,
  );

  test(
    "connections that wait for one that is killed end at once, or are given to the other: none hangs",
    async () => {
      const [one, other] = await startTwo();
      // A process that is stopped accepts nothing: the system makes the connections, and they wait.
      one.signal("SIGSTOP");
      const clients = await Promise.all(Array.from({ length: 16 }, () => openRawClient(other.url)));
      const ask = "GET /v4/vm/instances HTTP/1.1\r\nHost: a\r\nAuthorization: token good\r\n\r\n";
      for (const client of clients) client.send(ask);
      one.signal("SIGKILL");
      await one.ended;
      const responses = (await Promise.all(clients.map((client) => client.waitForResponses(1)))).flat();
      for (const client of clients) client.close();
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
      expect(v4.calls).toHaveLength(responses.length);
      expect(await flood(other, 10)).toEqual({ 200: 10 });
    },
    LONG_MS,
  );

  test(
    "a process without it can't take the port, and no two have the same admin port",
    async () => {
      const one = await start();
      const refused = async (env: Env): Promise<string> => {
        const { code, err } = await run(["serve"], { env: settings({ DATA_DIR: folder, ...env }) }).ended;
        expect(code).toBe(1);
        return err;
      };
      const inUse = /^AG_LISTEN_FAILED: (\w+): can't listen on [^\n]*EADDRINUSE[^\n]*\n$/;
      const unshared = await refused({ PORT: portOf(one), ADMIN_PORT: "0", REUSE_PORT: "false" });
      expect(inUse.exec(unshared)?.[1]).toBe("PORT");
      const sameAdmin = await refused({ PORT: portOf(one), ADMIN_PORT: new URL(one.admin).port });
      expect(inUse.exec(sameAdmin)?.[1]).toBe("ADMIN_PORT");
    },
    LONG_MS,
  );
});
