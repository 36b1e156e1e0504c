import { exportTexts } from "../../../src/audit/export/export-records.ts";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { describeSqliteError } from "../../../src/audit/store/sqlite/fault.ts";
import { AUDIT_FILE, openSqliteStore, startSqliteThread } from "../../../src/audit/store/sqlite/store.ts";
import { waitFor } from "../../support/wait-for.ts";
import { DAMAGED_SEGMENTS, incompressible, sampleId, sampleRecord } from "../record/sample-record.ts";
import { testDecisions } from "./decisions-contract.ts";
import { testLosses } from "./loss-contract.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { testAuditStore, UNLIMITED, type StorePlace } from "./store-contract.ts";

async function makePlace(): Promise<StorePlace> {
  const directory = temporaryFolder();
  return {
    open: (durability, limits = {}) => openSqliteStore({ ...UNLIMITED, directory, durability, ...limits }),
    remove: () => rm(directory, { recursive: true }),
  };
}

testAuditStore("SQLite", makePlace);
testLosses("SQLite", makePlace);
testDecisions("SQLite", makePlace);

describe("the SQLite store", () => {
  const settings = { durability: "relaxed", ...UNLIMITED } as const;
  let directory: string;

  beforeEach(async () => {
    directory = temporaryFolder();
  });

  test("creates its directory, and a file that only its owner can read", async () => {
    const deep = join(directory, "not", "yet", "there");
    const store = await openSqliteStore({ ...settings, directory: deep });
    void store.append(sampleRecord("x"));
    const modes = await Promise.all(["", "-wal"].map((side) => stat(join(deep, AUDIT_FILE + side))));
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600]);
    await store.close();
  });

  test.each([
    [
      "a file that is not a database",
      () => writeFile(join(directory, AUDIT_FILE), "not a database, but long enough".repeat(99)),
    ],
    [
      "a database with the tables of days that a version before the first release had",
      async () => execute(join(directory, AUDIT_FILE), TABLES_OF_DAYS),
    ],
  ])("does not open %s, and names the file and the remedy", async (_, spoil) => {
    await spoil();
    const opening = openSqliteStore({ ...settings, directory });
    await expect(opening).rejects.toThrow(join(directory, AUDIT_FILE));
    await expect(opening).rejects.toThrow(/not a database|not written by a released version/);
    await expect(opening).rejects.toThrow("move it away");
  });

  test("opens nothing in a thread that was started before, until it is opened", async () => {
    const thread = startSqliteThread();
    await once(thread, "online");
    expect(await readdir(directory)).toEqual([]);

    const store = await openSqliteStore({ ...settings, directory, thread });
    void store.append(sampleRecord("x"));
    await store.close();
    expect(await readdir(directory)).toContain(AUDIT_FILE);
    expect(thread.threadId).toBe(-1);
  });

  test("opens with another thread if the one that was started before has ended", async () => {
    const thread = startSqliteThread();
    await thread.terminate();
    const store = await openSqliteStore({ ...settings, directory, thread });
    expect(store.ready()).toBe(true);
    await store.close();
  });

  test("does not open if the directory is a file", async () => {
    await writeFile(join(directory, "file"), "");
    await expect(openSqliteStore({ ...settings, directory: join(directory, "file") })).rejects.toThrow(
      "can't be used",
    );
  });

  test("answers what requests wait for while a report is read", async () => {
    const store = await openSqliteStore({ ...settings, durability: "strict", directory });
    await store.append(sampleRecord("a"));
    const query = { clients: ["0123456789abcdef"], before: Date.parse("2026-04-01"), routes: [] };
    expect(await store.decisions.wasServed(query)).toBe(true);
    execute(
      join(directory, AUDIT_FILE),
      `DROP TABLE audit_erased;
      CREATE VIEW audit_erased AS
        WITH RECURSIVE slow (time) AS (SELECT 1 UNION ALL SELECT time + 1 FROM slow LIMIT 5000000)
        SELECT time, '' AS command, '' AS client, 0 AS records, 0 AS summaries, 0 AS tokens FROM slow`,
    );
    let isRead = false;
    const report = store.erasures().then(() => (isRead = true));
    expect(await store.decisions.wasServed(query)).toBe(true);
    expect(isRead).toBe(false);
    await report;
    await store.close();
  });

  test("supports several concurrent writers", async () => {
    const openOne = () => openSqliteStore({ ...settings, directory, durability: "strict" });
    const stores = await Promise.all([openOne(), openOne(), openOne(), openOne()]);
    await Promise.all(
      stores.flatMap((store, place) =>
        Array.from({ length: 50 }, async (_, n) => store.append(sampleRecord(sampleId(place * 50 + n)))),
      ),
    );
    expect(await stores[0]?.count({})).toBe(200);
    expect(await stores[3]?.clients({})).toMatchObject([{ requests: 200 }]);
    expect(stores.map((store) => store.stats().errors)).toEqual([0, 0, 0, 0]);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("stores large and small records in turns, whose batches share a buffer", async () => {
    const store = await openSqliteStore({ ...settings, directory, durability: "strict" });
    const records = [10, 300_000, 20, 900_000, 100_000, 30].map((length, n) => ({
      ...sampleRecord(sampleId(n)),
      warnings: [incompressible(length)],
    }));
    for (const record of records) await store.append(record);
    for (const record of records) expect(await store.get(record.id)).toEqual(record);
    await store.close();
  });

  test("finds the records that are added after the newest were deleted", async () => {
    const store = await openSqliteStore({ ...settings, directory });
    for (let n = 0; n < 1100; n += 1)
      void store.append(sampleRecord(sampleId(n), { client: null, status: 401 }));
    await store.close();
    const database = new DatabaseSync(join(directory, AUDIT_FILE));
    database.exec("DELETE FROM audit WHERE seq > 1000; DELETE FROM audit_segment WHERE last > 1000");
    database.close();
    const second = await openSqliteStore({ ...settings, directory });
    for (let n = 2000; n < 3500; n += 1)
      void second.append(sampleRecord(sampleId(n), { status: n % 300 === 0 ? 404 : 200 }));
    await waitFor(() => second.stats().written === 1500);
    const { records } = await second.query({ status: 404 });
    expect(records.map(({ id }) => id)).toEqual([3300, 3000, 2700, 2400, 2100].map(sampleId));
    await second.close();
  });

  test("reports a database that is damaged at run time, and keeps running", async () => {
    const store = await openSqliteStore({ ...settings, directory });
    for (let n = 0; n < 500; n += 1) void store.append(sampleRecord(sampleId(n)));
    await waitFor(() => store.stats().written === 500);
    // The log is written into the database first, so that it is the database that is read.
    const database = new DatabaseSync(join(directory, AUDIT_FILE));
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const { size } = await stat(join(directory, AUDIT_FILE));
    const file = await open(join(directory, AUDIT_FILE), "r+");
    await file.write(Buffer.alloc(size - 4096, 0x5a), 0, size - 4096, 4096);
    await file.close();

    // A commit finds it once it reads a damaged page, and not in its cache.
    await waitFor(() => {
      void store.append(sampleRecord("after"));
      return store.fault() !== undefined;
    });
    expect(store.fault()).toMatch(/^The audit store failed: the database is damaged \(.*malformed.*\)\.$/);
    expect(store.ready()).toBe(false);
    await expect(store.query({})).rejects.toThrow("the database is damaged");
    await store.close();
  });

  test("says how many records of a page are damaged", async () => {
    const found: number[] = [];
    const onDamaged = (records: number): void => void found.push(records);
    const store = await openSqliteStore({ ...settings, directory, durability: "strict", onDamaged });
    for (const id of ["a", "b"])
      await store.append({ ...sampleRecord(id), bytes: null } as unknown as AuditRecord);
    await store.query({});
    expect(found).toEqual([2]);
    await store.close();
  });

  test.each(DAMAGED_SEGMENTS)(
    "leaves out the records of a segment that %s, and reads the others",
    async (_, data) => {
      const found: number[] = [];
      const onDamaged = (records: number): void => void found.push(records);
      const options = { ...settings, directory, durability: "strict", onDamaged } as const;
      const before = await openSqliteStore(options);
      for (const id of ["a", "b", "c"]) await before.append(sampleRecord(id));
      await before.close();
      execute(
        join(directory, AUDIT_FILE),
        `UPDATE audit_segment SET data = X'${data.toString("hex")}' WHERE seq = (SELECT min(seq) FROM audit_segment); PRAGMA wal_checkpoint(TRUNCATE)`,
      );
      const store = await openSqliteStore(options);
      expect((await store.query({})).records.map(({ id }) => id)).toEqual(["c", "b"]);
      expect(found).toEqual([1]);
      await expect(store.get("a")).rejects.toThrow("The record a is damaged.");
      const exported = { format: "ndjson", query: {}, onDamaged } as const;
      const lines = (await Array.fromAsync(exportTexts(store, exported))).join("").trimEnd().split("\n");
      expect(lines.map((line) => JSON.parse(line).id)).toEqual(["c", "b"]);
      expect(found).toEqual([1, 1]);
      expect(store.fault()).toBeUndefined();
      await store.close();
    },
  );

  test("makes space although a segment and a record are damaged", async () => {
    const store = await openSqliteStore({ ...settings, directory, durability: "strict" });
    for (let n = 0; n < 40; n += 1) {
      const record = { ...sampleRecord(sampleId(n)), warnings: [incompressible(134_000)] };
      await store.append((n % 3 === 0 ? { ...record, v4: [{}] } : record) as AuditRecord);
    }
    await store.close();
    execute(
      join(directory, AUDIT_FILE),
      "UPDATE audit_segment SET data = zeroblob(bytes) WHERE seq % 3 = 1; PRAGMA wal_checkpoint(TRUNCATE)",
    );
    const limited = await openSqliteStore({ ...settings, directory, sizeLimit: 2_000_000 });
    await waitFor(async () => (await limited.count({})) < 20);
    expect(limited.fault()).toBeUndefined();
    await limited.close();
  });

  test("reports a full disk", () => {
    const database = new DatabaseSync(":memory:");
    database.exec("PRAGMA max_page_count = 2; CREATE TABLE t (a)");
    const fill = () => database.prepare("INSERT INTO t VALUES (?)").run("x".repeat(10_000));
    let fault: unknown;
    try {
      fill();
    } catch (error) {
      fault = error;
    }
    expect(describeSqliteError(fault)).toBe("the disk is full (database or disk is full)");
    database.close();
  });
});

const TABLES_OF_DAYS = `
  CREATE TABLE usage (day TEXT NOT NULL, client TEXT NOT NULL);
  CREATE TABLE record_20260301 (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
  PRAGMA application_id = 1634165109;
  PRAGMA user_version = 5;
`;

function execute(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
