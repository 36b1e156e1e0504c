/** What strangers and one client can make of a freeze: nothing that others notice. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { createJobs } from "../../../src/audit/store/sql/jobs.ts";
import { SCHEMA, sqliteDriver } from "../../../src/audit/store/sqlite/driver.ts";
import type { DecisionReader } from "../../../src/audit/store/decisions.ts";
import { AUDIT_FILE } from "../../../src/audit/store/sqlite/store.ts";
import { migrateSqlite } from "../../../src/base/storage/schema.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { allBut } from "../../support/fake-time.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";

const LIST = "GET /vm/instances";
const CATALOG = "GET /datacenters";

describe("while the audit store can't be read, a freeze", () => {
  let gateway: Gateway;
  let folder: string;

  beforeEach(async () => {
    jest.useFakeTimers({ now: new Date("2026-06-01T09:00:00Z"), doNotFake: allBut("Date") });
    folder = temporaryFolder();
    gateway = await startGateway({
      AUDIT: "full",
      DATA_DIR: folder,
      CLIENTS_FILE: writeOperatorFile(`reports: { user_agents: ["reports/*"] }`, "clients.yaml"),
      SUNSET_FILE: writeOperatorFile("announced: 2026-01-01\nstages: [{ freeze: 2026-06-02 }]"),
    });
    await gateway.request(LIST);
    await gateway.readAudit();
    jest.setSystemTime(new Date("2026-06-02T00:00:03Z"));
    // From now on it is known in this process.
    await gateway.request(LIST);
    changeStore("ALTER TABLE audit_usage RENAME TO hidden");
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function changeStore(statement: string): void {
    const database = new DatabaseSync(join(folder, AUDIT_FILE));
    database.exec(`PRAGMA busy_timeout = 5000; ${statement}`);
    database.close();
  }

  const statusOf = async (as: string, call = LIST): Promise<number> =>
    (await gateway.request(call, { as, headers: { "user-agent": "reports/1" } })).status;

  test("only admits known clients until the store can be read again", async () => {
    expect([await statusOf("full"), await statusOf("other")]).toEqual([200, 500]);
    changeStore("ALTER TABLE hidden RENAME TO audit_usage");
    expect([await statusOf("full"), await statusOf("other")]).toEqual([200, 403]);
  });

  test("asks nothing about made-up tokens with the user agent of a client", async () => {
    for (const as of ["invented-1", "invented-2"])
      expect([await statusOf(as), await statusOf(as, CATALOG)]).toEqual([403, 403]);
  });
});

describe("what a decision reads stays the same while the summaries of a client grow a hundredfold:", () => {
  const TOKEN = "0123456789abcdef";
  const FREEZE = Date.parse("2026-03-02T00:00:00Z");
  const BEFORE = "2026-03-01";
  const AFTER = "2026-03-03";

  /** A store that counts the rows of the summaries that are looked at. */
  function countingStore() {
    const database = new DatabaseSync(":memory:");
    migrateSqlite(database, SCHEMA);
    let rows = 0;
    database.function("counted", (lane: unknown) => {
      rows += 1;
      return lane as string;
    });
    database.exec(`
      ALTER TABLE audit_usage RENAME TO counted_usage;
      CREATE VIEW audit_usage AS
        SELECT day, client, counted(lane) AS lane, route, status, requests, first, last FROM counted_usage;
    `);
    const add = database.prepare(
      "INSERT INTO counted_usage VALUES (unixepoch(?) / 86400, ?, 'alpha', ?, ?, 1, 0, unixepoch(?) * 1000, unixepoch(?) * 1000, '')",
    );
    const decisions = createJobs(sqliteDriver(database));
    return {
      add: (count: number, day: string, status: number, client = TOKEN): void => {
        for (let n = 0; n < count; n += 1) add.run(day, client, `GET /${n}`, status, day, day);
      },
      async decide<Result>(ask: (reader: DecisionReader) => Promise<Result>) {
        rows = 0;
        return { result: await ask(decisions), rows };
      },
    };
  }

  const past = ({ wasServed }: DecisionReader): Promise<boolean> =>
    wasServed({ clients: [TOKEN], before: FREEZE, routes: ["GET /books"] });

  test.each([20, 2000])("one row for a known client with %i rows", async (count) => {
    const store = countingStore();
    store.add(count, BEFORE, 404);
    store.add(count, AFTER, 200);
    expect(await store.decide(past)).toEqual({ result: true, rows: 1 });
  });

  test("2000 rows at most for a new client", async () => {
    const store = countingStore();
    store.add(2000, AFTER, 403);
    const { result, rows } = await store.decide(past);
    expect(result).toBe(false);
    store.add(20_000, "2026-03-04", 403);
    expect(await store.decide(past)).toEqual({ result: false, rows });
    expect(rows).toBe(2000);
  });

  test("no row of another client", async () => {
    const store = countingStore();
    store.add(20_000, BEFORE, 200, "fedcba9876543210");
    expect(await store.decide(past)).toEqual({ result: false, rows: 0 });
    const query = { clients: [TOKEN], since: `${BEFORE}T00:00:00.000Z`, until: `${AFTER}T00:00:00.000Z` };
    expect(await store.decide(({ callsOf }) => callsOf(query))).toMatchObject({ rows: 0 });
  });

  test("of its calls the days before a window, and no others", async () => {
    const store = countingStore();
    store.add(10, BEFORE, 200);
    store.add(10_000, "2026-01-01", 200);
    store.add(10_000, "2026-03-20", 200);
    const query = { clients: [TOKEN], since: `${BEFORE}T00:00:00.000Z`, until: "2026-03-15T00:00:00.000Z" };
    expect(await store.decide(({ callsOf }) => callsOf(query))).toEqual({
      result: { requests: 10, hasCalled: true },
      rows: 10,
    });
  });
});
