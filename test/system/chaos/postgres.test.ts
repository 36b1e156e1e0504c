/** Faults of the connection to PostgreSQL, under load: what is promised of the audit holds, whatever becomes of it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { forward, startFaultProxy, type FaultProxy } from "../../support/fault-proxy.ts";
import { startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";
import { makeDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";
import { waitForReadiness, readMetric } from "./admin-client.ts";
import { startLoad } from "./load.ts";
import { STORE_FAULTS } from "./store-faults.ts";

const describe = await describeWith("postgres");
const LONG = 60_000;
const AWAY = "The audit store failed: its database does not respond.";
const ANSWERED_500 = 'requests_total\\{lane="alpha",route="GET /vm/instances",status="500"\\}';
/** Of both gateways, at most. */
const CONNECTIONS = 8;

/** A gateway, and what became of each request to it. */
interface Asked {
  readonly gateway: ListeningGateway;
  readonly admin: string;
  /** Ids of requests that were answered with 200, and how many were with 500. */
  readonly kept: string[];
  refused: number;
}

describe("a PostgreSQL that", () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let relaxed: Asked;
  let strict: Asked;

  async function start(durability: string): Promise<Asked> {
    const url = Object.assign(new URL(database.url), { host: `127.0.0.1:${proxy.port}` });
    const gateway = await startListeningGateway({
      DATABASE_URL: url.href,
      AUDIT: "metadata",
      AUDIT_DURABILITY: durability,
    });
    await waitForReadiness(gateway.adminUrl, 200);
    return { gateway, admin: gateway.adminUrl, kept: [], refused: 0 };
  }
  beforeAll(async () => {
    database = await makeDatabase();
    proxy = await startFaultProxy(database.url);
    relaxed = await start("relaxed");
    strict = await start("strict");
  });
  afterAll(async () => {
    await relaxed.gateway.stop();
    await strict.gateway.stop();
    await proxy.close();
    await database.drop();
  });

  let requests = 0;
  async function ask(asked: Asked): Promise<number> {
    const id = `request-${++requests}`;
    const { status } = await asked.gateway.request("GET /vm/instances", { headers: { "x-request-id": id } });
    if (status === 200) asked.kept.push(id);
    else asked.refused += 1;
    return status;
  }

  async function inDatabase(): Promise<ReadonlySet<unknown>> {
    const rows = await database.query("SELECT record ->> 'requestId' AS id FROM audit");
    return new Set(rows.map(({ id }) => id));
  }

  test.each(STORE_FAULTS)(
    "$name: $postgres.relaxed with relaxed audit, $postgres.strict with strict audit",
    async ({ fault, postgres: expected }) => {
      const later = startLoad(() => ask(relaxed), 2);
      const atOnce = startLoad(() => ask(strict), 2);
      await later.waitForMore(20);
      await proxy.setFault(fault);
      for (const { admin } of [relaxed, strict])
        expect(await waitForReadiness(admin, expected.ready)).toEqual(expected.ready === 200 ? [] : [AWAY]);
      await later.waitForMore(50);
      expect([...(await later.end())]).toEqual([expected.relaxed]);
      expect(await atOnce.end()).toContain(expected.strict);

      await proxy.setFault(forward);
      for (const { admin } of [relaxed, strict]) await waitForReadiness(admin, 200);
      expect([await ask(relaxed), await ask(strict)]).toEqual([200, 200]);
      await waitFor(async () => (await readMetric(relaxed.admin, "audit_queued")) === 0);
      const there = await inDatabase();
      expect([...relaxed.kept, ...strict.kept].filter((id) => !there.has(id))).toEqual([]);
      expect(await readMetric(relaxed.admin, "audit_dropped_total")).toBe(0);
      expect(await readMetric(strict.admin, "audit_dropped_total")).toBe(strict.refused);
      expect(await readMetric(strict.admin, ANSWERED_500)).toBe(strict.refused);
      expect(proxy.countOpenConnections()).toBeLessThanOrEqual(CONNECTIONS);
    },
    LONG,
  );

  test(
    "silently drops a connection: it is replaced",
    async () => {
      expect([await ask(relaxed), await ask(strict)]).toEqual([200, 200]);
      proxy.freeze();
      const waiting = ask(strict);
      expect(await ask(relaxed)).toBe(200);
      expect(await waiting).toBe(500);
      for (const { admin } of [relaxed, strict]) await waitForReadiness(admin, 200);
      expect(await ask(strict)).toBe(200);
      const last = relaxed.kept.at(-1);
      await waitFor(async () => (await inDatabase()).has(last));
      expect(await readMetric(relaxed.admin, "audit_dropped_total")).toBe(0);
    },
    LONG,
  );
});
