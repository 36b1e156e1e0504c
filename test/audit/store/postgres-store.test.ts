import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openExistingAuditStore } from "../../../src/audit/store/open-audit-store.ts";
import { connectPostgres, SCHEMA } from "../../../src/audit/store/postgres/driver.ts";
import { openPostgresStore } from "../../../src/audit/store/postgres/store.ts";
import type { PostgresStoreOptions } from "../../../src/audit/store/postgres/store.ts";
import { STEPS } from "../../../src/audit/store/sql/schema.ts";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import { makeDatabase } from "../../support/postgres-database.ts";
import type { TestDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { DAMAGED_SEGMENTS, sampleId, sampleRecord } from "../record/sample-record.ts";
import { testDecisions } from "./decisions-contract.ts";
import { testLosses } from "./loss-contract.ts";
import { testAuditStore, UNLIMITED, type StorePlace } from "./store-contract.ts";

const describe = await describeWith("postgres");
const settings = UNLIMITED;

describe("with a PostgreSQL server", () => {
  async function makePlace(): Promise<StorePlace> {
    const database = await makeDatabase();
    return {
      open: async (durability, limits = {}) =>
        openPostgresStore({ ...settings, url: database.url, durability, ...limits }),
      remove: database.drop,
    };
  }
  testAuditStore("PostgreSQL", makePlace);
  testLosses("PostgreSQL", makePlace);
  testDecisions("PostgreSQL", makePlace);
});

describe("the PostgreSQL store", () => {
  let database: TestDatabase;
  let opened: AuditStore[] = [];

  beforeEach(async () => {
    database = await makeDatabase();
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    opened = [];
    await database.drop();
  });

  function open(options: Partial<PostgresStoreOptions> = {}): AuditStore {
    const store = openPostgresStore({ ...settings, url: database.url, durability: "strict", ...options });
    opened.push(store);
    return store;
  }

  test("is created once by replicas that start together, and shared by them", async () => {
    const stores = Array.from({ length: 5 }, () => open());
    await Promise.all(
      stores.flatMap((store, replica) =>
        Array.from({ length: 20 }, async (_, n) => store.append(sampleRecord(sampleId(replica * 20 + n)))),
      ),
    );
    expect(await stores[0]?.count({})).toBe(100);
    expect(await stores[4]?.clients({})).toMatchObject([{ requests: 100 }]);
    expect(await database.query("SELECT version FROM audit_version")).toEqual([{ version: STEPS.length }]);
  });

  test.each(DAMAGED_SEGMENTS)(
    "leaves out the records of a segment that %s, and reads the others",
    async (_, data) => {
      const found: number[] = [];
      const store = open({ onDamaged: (records) => void found.push(records) });
      for (const id of ["a", "b"]) await store.append(sampleRecord(id));
      await database.query(
        `UPDATE audit_segment SET data = decode('${data.toString("hex")}', 'hex') WHERE seq = (SELECT min(seq) FROM audit_segment)`,
      );
      expect((await store.query({})).records.map(({ id }) => id)).toEqual(["b"]);
      expect(found).toEqual([1]);
      await expect(store.get("a")).rejects.toThrow("The record a is damaged.");
    },
  );

  test("says that a table is missing", async () => {
    const store = open();
    await store.append(sampleRecord("a"));
    await database.query("ALTER TABLE audit_segment RENAME TO elsewhere");
    await expect(store.append(sampleRecord("b"))).rejects.toThrow("could not be written");
    expect(store.fault()).toMatch(/a table is missing: restore the database/);
    await database.query("ALTER TABLE elsewhere RENAME TO audit_segment");
    await waitFor(() => store.ready());
  });

  test("answers what requests wait for while reports use all connections of the console", async () => {
    const store = open();
    await store.append(sampleRecord("a"));
    const query = { clients: ["0123456789abcdef"], before: Date.parse("2026-04-01"), routes: [] };
    expect(await store.decisions.wasServed(query)).toBe(true);
    await database.query("DROP TABLE audit_erased");
    await database.query(
      `CREATE VIEW audit_erased AS SELECT 0::bigint AS time, '' AS command, '' AS client, 0 AS records,
        0 AS summaries, 0 AS tokens FROM (SELECT pg_sleep(2)) AS slow`,
    );
    let read = 0;
    const reports = Array.from({ length: 4 }, () => store.erasures().then(() => (read += 1)));
    expect(await store.decisions.wasServed(query)).toBe(true);
    expect(read).toBe(0);
    await Promise.all(reports);
  });

  test("is created even if this takes longer than any other statement may", async () => {
    // While another replica creates the tables, this one waits for the lock.
    const locked = database.query(`SELECT pg_advisory_lock(${SCHEMA.lock}), pg_sleep(3)`);
    const locks = `SELECT 1 FROM pg_locks JOIN pg_database ON database = pg_database.oid
      WHERE locktype = 'advisory' AND datname = current_database()`;
    await waitFor(async () => (await database.query(locks)).length > 0);
    const driver = connectPostgres(database.url, { connections: 1, statementMs: 100 });
    const readVersion = () => driver.query("SELECT version FROM audit_version");
    // Whoever waits for a statement does not wait for the tables.
    await expect(readVersion()).rejects.toThrow("The audit store failed: its tables are being changed.");
    expect(await readVersion()).toEqual([{ version: STEPS.length }]);
    await Promise.all([locked, driver.close()]);
  });

  test("that does not respond fails within the time of a statement, and closes while it is waited for", async () => {
    const [signedIn, idle] = [Buffer.from("520000000800000000", "hex"), Buffer.from("5a0000000549", "hex")];
    const server = createServer((socket) => {
      socket.once("data", () => socket.write(Buffer.concat([signedIn, idle]))).on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const driver = connectPostgres(`postgres://u:p@127.0.0.1:${port}/d`, {
      connections: 1,
      statementMs: 100,
    });
    await expect(driver.query("SELECT 1")).rejects.toThrow("its database does not respond");
    await driver.close();
    server.close();
  });

  test("whose tables are being created is closed at once", async () => {
    const locked = database.query(`SELECT pg_advisory_lock(${SCHEMA.lock}), pg_sleep(4)`);
    const driver = connectPostgres(database.url, { connections: 1, statementMs: 100 });
    await expect(driver.query("SELECT 1")).rejects.toThrow("its tables are being changed");
    await driver.close();
    const waiting = `SELECT 1 FROM pg_locks JOIN pg_database ON database = pg_database.oid
      WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;
    await waitFor(async () => (await database.query(waiting)).length === 0);
    await locked;
  });

  test("is not created by commands that read it", async () => {
    const settings = { DATABASE_URL: database.url, DATA_DIR: "" };
    await expect(openExistingAuditStore(settings)).rejects.toThrow(
      "There is no audit store in this database",
    );
    expect(await database.query("SELECT to_regclass('audit') AS found")).toEqual([{ found: null }]);
    await open().append(sampleRecord("a"));
    const reader = await openExistingAuditStore(settings);
    expect(await reader.count({})).toBe(1);
    await reader.close();
  });

  test("keeps records in memory while the database is down, reports it, and writes them later (relaxed)", async () => {
    const store = open({ durability: "relaxed" });
    void store.append(sampleRecord("before"));
    await waitFor(() => store.stats().written === 1);

    await database.allowConnections(false);
    void store.append(sampleRecord("during"));
    await waitFor(() => store.fault() !== undefined);
    expect(store.fault()).toMatch(/^The audit store failed: its database /);
    expect(store.fault()).not.toMatch(/127\.0\.0\.1|postgres:/);
    expect(store.ready()).toBe(false);

    await database.allowConnections(true);
    await waitFor(() => store.ready());
    expect(await store.get("during")).toBeDefined();
    expect(store.stats()).toMatchObject({ written: 2, dropped: 0, queued: 0 });
  });

  test("starts without its database and connects to it later", async () => {
    await database.allowConnections(false);
    const store = open();
    await waitFor(() => store.fault() !== undefined);
    await expect(store.query({})).rejects.toMatchObject({ name: "AuditUnavailableError" });
    await database.allowConnections(true);
    await waitFor(() => store.ready());
    expect(await store.query({})).toEqual({ records: [], next: null });
  });

  test("reports an unreachable server and a wrong password without the address", async () => {
    const nobody = open({ url: "postgres://127.0.0.1:1/nowhere" });
    await waitFor(() => nobody.fault() !== undefined);
    expect(nobody.fault()).toBe("The audit store failed: its database does not respond.");
    const unknown = new URL(database.url);
    unknown.pathname = "/no_such_database";
    const missing = open({ url: unknown.href });
    await waitFor(() => missing.fault() !== undefined);
    expect(missing.fault()).toBe("The audit store failed: there is no such database.");
  });

  test("does not change a database of a newer version", async () => {
    await database.query("CREATE TABLE audit_version (version integer NOT NULL)");
    await database.query("INSERT INTO audit_version VALUES (99)");
    const store = open();
    await expect(store.query({})).rejects.toThrow("newer version");
    await waitFor(() => store.fault()?.includes("newer version") ?? false);
    expect(await database.query("SELECT to_regclass('audit') AS audit")).toEqual([{ audit: null }]);
  });
});
