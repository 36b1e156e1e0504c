/** Faults of the connection to PostgreSQL under load: the audit keeps its guarantees. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { readAuditRecords } from "../../support/audit-records.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import { forward, startFaultProxy, type FaultProxy } from "../../support/fault-proxy.ts";
import { makeDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";
import { waitForReadiness, readMetric } from "./admin-client.ts";
import { startLoad } from "./load.ts";
import { startRecordedGateway, type RecordedGateway } from "./recorded-gateway.ts";
import { STORE_FAULTS } from "./store-faults.ts";

const describe = await describeWith("postgres");
const LONG = 60_000;
const AWAY = "The audit store failed: its database does not respond.";
const RESPONSES_500 = 'requests_total\\{lane="alpha",route="GET /vm/instances",status="500"\\}';
/** Maximum of both gateways together. */
const CONNECTIONS = 8;

describe("a PostgreSQL that", () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let relaxed: RecordedGateway;
  let strict: RecordedGateway;

  async function start(durability: string): Promise<RecordedGateway> {
    const url = Object.assign(new URL(database.url), { host: `127.0.0.1:${proxy.port}` });
    const recorded = await startRecordedGateway(durability, { DATABASE_URL: url.href });
    await waitForReadiness(recorded.admin, 200);
    return recorded;
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
  });

  async function readRecordedIds(): Promise<ReadonlySet<unknown>> {
    const records = await readAuditRecords({ url: database.url });
    return new Set(records.map(({ requestId }) => requestId));
  }

  test.each(STORE_FAULTS)(
    "$name: $postgres.relaxed with relaxed audit, $postgres.strict with strict audit",
    async ({ fault, postgres: expected }) => {
      const later = startLoad(relaxed.send, 2);
      const atOnce = startLoad(strict.send, 2);
      await later.waitForMore(20);
      await proxy.setFault(fault);
      for (const { admin } of [relaxed, strict])
        expect(await waitForReadiness(admin, expected.ready)).toEqual(expected.ready === 200 ? [] : [AWAY]);
      await later.waitForMore(50);
      expect([...(await later.end())]).toEqual([expected.relaxed]);
      expect(await atOnce.end()).toContain(expected.strict);

      await proxy.setFault(forward);
      for (const { admin } of [relaxed, strict]) await waitForReadiness(admin, 200);
      expect([await relaxed.send(), await strict.send()]).toEqual([200, 200]);
      await waitFor(async () => (await readMetric(relaxed.admin, "audit_queued")) === 0);
      const recorded = await readRecordedIds();
      expect([...relaxed.succeeded, ...strict.succeeded].filter((id) => !recorded.has(id))).toEqual([]);
      expect(await readMetric(relaxed.admin, "audit_dropped_total")).toBe(0);
      expect(await readMetric(strict.admin, "audit_dropped_total")).toBe(strict.failedCount());
      expect(await readMetric(strict.admin, RESPONSES_500)).toBe(strict.failedCount());
      expect(proxy.countOpenConnections()).toBeLessThanOrEqual(CONNECTIONS);
    },
    LONG,
  );

  test(
    "silently drops a connection: it is replaced",
    async () => {
      expect([await relaxed.send(), await strict.send()]).toEqual([200, 200]);
      proxy.freeze();
      const waiting = strict.send();
      expect(await relaxed.send()).toBe(200);
      expect(await waiting).toBe(500);
      for (const { admin } of [relaxed, strict]) await waitForReadiness(admin, 200);
      expect(await strict.send()).toBe(200);
      const last = relaxed.succeeded.at(-1);
      await waitFor(async () => (await readRecordedIds()).has(last));
      expect(await readMetric(relaxed.admin, "audit_dropped_total")).toBe(0);
    },
    LONG,
  );
});
