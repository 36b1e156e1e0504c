/**
 * compose.yaml without an engine: its gateways, sandbox, Redis and PostgreSQL as processes of this machine with the
 * settings that stand there, behind Debian's haproxy with the configuration that stands in deploy/.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse } from "yaml";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { readEnvironment } from "../../../src/base/settings/settings.ts";
import { readAuditRecords } from "../../support/audit-records.ts";
import { environmentOf, parseDockerfile } from "../../support/dockerfile.ts";
import { makeDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { createRedisServer, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { startLoad } from "../chaos/load.ts";
import { startBalancer, type Balancer } from "./balancer.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { REPOSITORY, run, serve, DEFAULT_GRACE, type Serving } from "./program.ts";

interface Composed {
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly volumes?: readonly string[];
  readonly image: string;
  readonly networks: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

const read = (name: string): string => readFileSync(join(REPOSITORY, name), "utf8");

const GIVEN: Readonly<Record<string, string>> = {
  ADMIN_TOKEN: "the-operators-own",
  GATEWAY_SECRET: "s".repeat(32),
  POSTGRES_PASSWORD: "gateway",
};

/** As compose fills in `${NAME:-default}` and `${NAME:?message}`. */
const filledIn = (value: string): string =>
  value.replaceAll(
    /\$\{(\w+):[-?]([^}]*)\}/g,
    (_all, name: string, fallback: string) => GIVEN[name] ?? fallback,
  );

let services: Readonly<Record<string, Composed>>;
let gateways: readonly Readonly<Record<string, string>>[];

beforeAll(() => {
  ({ services } = parse(read("compose.yaml"), { merge: true }) as { services: Record<string, Composed> });
  const ofImage = environmentOf(parseDockerfile(read("Dockerfile")).at(-1)!);
  gateways = ["gateway-1", "gateway-2"].map((name) => {
    const set = Object.entries(services[name]?.environment ?? {});
    return { ...ofImage, ...Object.fromEntries(set.map(([key, value]) => [key, filledIn(value)])) };
  });
});

test("compose.yaml contains no secrets and no passwords", () => {
  const text = read("compose.yaml");
  const given = [...text.matchAll(/\$\{(\w+)(:?[-?]?)/g)].map(([, name, kind]) => ({ name, kind }));
  expect(given.filter(({ kind }) => kind !== ":?")).toEqual([]);
  expect(new Set(given.map(({ name }) => name))).toEqual(new Set(Object.keys(GIVEN)));
  expect(text.match(/postgres:\/\/\w+:(?!\$\{POSTGRES_PASSWORD:\?)/)).toBeNull();
});

test("compose.yaml gives all gateways the same valid settings", () => {
  expect(readEnvironment(gateways[0] ?? {})).toMatchObject({
    ADMIN_HOST: "0.0.0.0",
    ADMIN_TOKEN: "the-operators-own",
    UPSTREAM_URL: new URL("http://sandbox:8090"),
    AUTH_URL: new URL("http://sandbox:8091"),
    REDIS_URL: "redis://redis:6379",
    DATABASE_URL: "postgres://gateway:gateway@database:5432/audit",
    TRUST_PROXY: ["172.31.80.0/24"],
  });
  expect(gateways[1]).toEqual(gateways[0]);
});

test("compose.yaml persists Redis, and evicts nothing: it has the issued tokens", () => {
  const { command, volumes }: Partial<Composed> = services["redis"] ?? {};
  expect(command?.join(" ")).toMatch(/--appendonly yes .*--maxmemory-policy noeviction/);
  expect(volumes).toEqual(["state:/data"]);
});

test("compose.yaml runs the sandbox at the address that the gateways use", () => {
  expect(services["sandbox"]?.command.join(" ")).toBe("node dist/main.js sandbox --host 0.0.0.0 --port 8090");
});

test("compose.yaml hides the stores from the load balancer, and runs nothing as root", () => {
  expect(services["balancer"]?.networks).toEqual(["front"]);
  for (const name of ["redis", "database", "sandbox"]) expect(services[name]?.networks).toEqual(["back"]);
  for (const name of ["gateway-1", "gateway-2", "sandbox", "balancer"])
    expect(services[name]).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
});

const describeAll = await describeWith("haproxy", "redis-server", "postgres");

describeAll("two gateways, a load balancer, Redis and PostgreSQL", () => {
  let redis: RedisServer;
  let database: TestDatabase;
  let running: readonly [Serving, Serving];
  let balancer: Balancer;
  let token: string;

  beforeAll(async () => {
    redis = await createRedisServer();
    await redis.start();
    database = await makeDatabase();
    const sandbox = run(["sandbox", "--port", "0"]);
    const [, v4 = "", login = "", full = ""] = await sandbox.waitForOutput(
      /^v4 sandbox +(\S+)\nLogin server (\S+)[^]*^ +full +(\S+)$/m,
    );
    token = full;
    const here = {
      ADMIN_HOST: "127.0.0.1",
      HOST: "127.0.0.1",
      PORT: "0",
      ADMIN_PORT: "0",
      UPSTREAM_URL: v4,
      AUTH_URL: login,
      REDIS_URL: redis.url,
      DATABASE_URL: database.url,
      TRUST_PROXY: "127.0.0.1",
      RATE_LIMIT: "61/900",
    };
    const start = (settings: Readonly<Record<string, string>> | undefined): Promise<Serving> =>
      serve(temporaryFolder(), {
        env: { ...DEFAULT_GRACE, ...settings, ...here, DATA_DIR: temporaryFolder() },
      });
    running = await Promise.all([start(gateways[0]), start(gateways[1])]);
    balancer = await startBalancer(running);
    await waitUntilServing();
  }, 60_000);

  afterAll(() => balancer.stop());

  /**
   * Waits until the load balancer has sent requests to both gateways: it leaves out one that wasn't ready at its first
   * check. @throws {Error} with its last status after 30 s.
   */
  async function waitUntilServing(): Promise<void> {
    const deadline = Date.now() + 30_000;
    const served = async (gateway: Serving): Promise<boolean> =>
      /^alpha_gateway_requests_total\{.*status="200"/m.test(await (await admin(gateway, "/metrics")).text());
    for (;;) {
      const lastStatus = await status().catch((error: unknown) => error);
      if ((await Promise.all(running.map(served))).every(Boolean)) return;
      if (Date.now() > deadline)
        throw new Error(`the load balancer does not use both gateways: ${String(lastStatus)}`);
      // Not sooner: each of these requests counts for the rate limit of the address.
      await wait(250);
    }
  }

  async function ask(headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const response = await fetch(`${balancer.url}/v4/vm/instances`, { headers });
    await response.arrayBuffer();
    return response;
  }
  const status = async (): Promise<number> => {
    const response = await fetch(`${balancer.url}/v4/datacenters`, {
      headers: { "x-forwarded-for": "203.0.113.9" },
    });
    await response.arrayBuffer();
    return response.status;
  };

  async function admin({ admin: url }: Serving, path: string): Promise<Response> {
    return fetch(`${url}${path}`, { headers: { authorization: `Bearer ${GIVEN["ADMIN_TOKEN"]}` } });
  }

  const audited = (): Promise<AuditRecord[]> => readAuditRecords({ url: database.url });

  test("the composed gateways use the client address that the load balancer saw", async () => {
    await ask({ "x-forwarded-for": "203.0.113.9" });
    while ((await audited()).length === 0) await wait(50);
    expect(new Set((await audited()).map(({ client }) => client.address))).toEqual(new Set(["127.0.0.1"]));
  }, 60_000);

  test("the composed gateways share requests, one rate limit and one audit", async () => {
    const headers = { authorization: `token ${token}` };
    const responses = await Promise.all(Array.from({ length: 90 }, () => ask(headers)));

    expect(responses.filter((response) => response.status === 200)).toHaveLength(61);
    expect(responses.filter((response) => response.status === 420)).toHaveLength(29);
    for (const gateway of running) {
      const figures = await (await admin(gateway, "/metrics")).text();
      expect(figures).toMatch(/^alpha_gateway_requests_total\{.*instances.*\} \d+$/m);
    }
    // Further rejections of the same client are merged into one record after a minute.
    const recorded = async (status: number) =>
      (await audited()).filter(({ alpha }) => alpha.route?.includes("instances") && alpha.status === status);
    while ((await recorded(200)).length < 61 || (await recorded(420)).length === 0) await wait(50);
    expect(await recorded(200)).toHaveLength(61);
  }, 60_000);

  test("no client notices that one composed gateway stops", async () => {
    let requests = 0;
    const load = startLoad(async () => {
      const token = `nobody-${(requests += 1) % 80}`;
      return (await ask({ authorization: `token ${token}` })).status;
    });
    await load.waitForMore(40);
    running[0].signal("SIGTERM");
    expect(await running[0].ended).toMatchObject({ code: 0 });
    await load.waitForMore(40);
    expect([401, 420]).toEqual(expect.arrayContaining([...(await load.end())]));
  }, 60_000);
});
