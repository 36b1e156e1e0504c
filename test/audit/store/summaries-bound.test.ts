/** What the purge reads of summaries that have reached their maximum: the writer waits for it. */
import { expect, test } from "@jest/globals";
import { DatabaseSync } from "node:sqlite";
import { RecordMemory } from "../../../src/audit/record/record-memory.ts";
import { serializeRecord } from "../../../src/audit/record/record-text.ts";
import { RecentBytes } from "../../../src/audit/store/sender-bytes.ts";
import type { Connection } from "../../../src/audit/store/sql/driver.ts";
import type { StoreLimits } from "../../../src/audit/store/store.ts";
import { createBatch } from "../../../src/audit/store/segment.ts";
import { createJobs } from "../../../src/audit/store/sql/jobs.ts";
import { SCHEMA, sqliteDriver } from "../../../src/audit/store/sqlite/driver.ts";
import { columnsOf } from "../../../src/audit/store/record-row.ts";
import { migrateSqlite } from "../../../src/base/storage/schema.ts";
import { sampleRecord } from "../record/sample-record.ts";

const MAX = 1000;
const LIMITS: StoreLimits = {
  before: 0,
  usageBefore: 0,
  sizeLimit: 1e12,
  summaryRows: MAX,
  summaryTokens: MAX,
  named: [],
};

/** Statements that read the keys of all rows of a table. */
const READS_ALL = /GROUP BY client/;

async function openStore() {
  const database = new DatabaseSync(":memory:");
  migrateSqlite(database, SCHEMA);
  const driver = sqliteDriver(database);
  let ran: string[] = [];
  /** The rows that each transaction deleted from each table. */
  let deleted: Map<string, number>[] = [];
  const query: Connection["query"] = (text, values) => (ran.push(text), driver.query(text, values));
  const jobs = createJobs({
    ...driver,
    query,
    write(work) {
      const ofTables = new Map<string, number>();
      deleted.push(ofTables);
      return driver.write((connection) =>
        work({
          insert: connection.insert,
          query,
          async run(text, values) {
            ran.push(text);
            const rows = await connection.run(text, values);
            const [, table] = /^DELETE FROM (\w+)/.exec(text) ?? [];
            if (table !== undefined) ofTables.set(table, (ofTables.get(table) ?? 0) + rows);
            return rows;
          },
        }),
      );
    },
  });
  let written = 0;

  return {
    /** Writes requests of clients that were never seen, each with a row of the summaries. */
    async write(requests: number, varied: (n: number) => object = () => ({})): Promise<void> {
      const memory = new RecordMemory();
      const rows = Array.from({ length: requests }, (_, n) => {
        const id = String((written += 1)).padStart(8, "0");
        const record = sampleRecord(id, { client: `c${id}`, accepted: true, ...varied(n) });
        // An empty user agent stands for none.
        const agent = record.client.userAgent || null;
        return {
          ...columnsOf(record, record.client.address),
          agent,
          ...memory.write(serializeRecord(record)),
        };
      });
      await jobs.write({ ...createBatch(rows, new RecentBytes()), counted: [] });
    },
    /** Purges until there is nothing more to delete. @returns the statements that read the keys of all rows */
    async purge(limits = LIMITS): Promise<readonly string[]> {
      [ran, deleted] = [[], []];
      while ((await jobs.cutSummaries(limits)).more);
      return ran.filter((text) => READS_ALL.test(text));
    },
    /** Deletes records. @returns the statements */
    async makeRoom(): Promise<readonly string[]> {
      ran = [];
      await jobs.makeRoom(LIMITS);
      return ran;
    },
    /** The statements of the last purge that count all rows of a table. */
    counts: () => ran.filter((text) => /^SELECT count\(\*\) AS rows FROM \w+$/.test(text)),
    /** The most rows that a transaction of the last purge deleted from one table. */
    mostDeleted: () => Math.max(...deleted.flatMap((ofTables) => [...ofTables.values()])),
    transactions: () => deleted.length,
    rows: () => database.prepare("SELECT count(*) AS rows FROM audit_usage").get()?.["rows"],
    all: (text: string) => database.prepare(text).all(),
    close: () => database.close(),
  };
}

test("summaries at their maximum are reduced to 95 %, and no client is chosen until it is reached again", async () => {
  const store = await openStore();
  await store.write(MAX + 10);
  expect(await store.purge()).not.toEqual([]);
  expect(store.rows()).toBe(0.95 * MAX);
  for (let n = 0; n < 4; n += 1) {
    await store.write(MAX / 100);
    expect(await store.purge()).toEqual([]);
  }
  expect(store.rows()).toBe(0.99 * MAX);
  await store.write(MAX / 50);
  expect(await store.purge()).not.toEqual([]);
  expect(store.rows()).toBe(0.95 * MAX);
  store.close();
});

test("the rows to delete are chosen once for all rows above the maximum, not in each step", async () => {
  const store = await openStore();
  for (let n = 0; n < 8; n += 1) await store.write(MAX);
  const statements = await store.purge();
  expect(store.rows()).toBe(0.95 * MAX);
  expect(statements.filter((text) => /ORDER BY/.test(text)).length).toBeLessThan(4);
  store.close();
});

test("each step is a short transaction: it deletes 2 000 rows of a table at most", async () => {
  const store = await openStore();
  const hour = (n: number): object => ({
    client: `busy-${n % 3}`,
    time: new Date(Date.UTC(2026, 0, 1 + Math.floor(n / 3))).toISOString(),
  });
  await store.write(9000, hour);
  await store.purge();
  expect(store.rows()).toBe(0.95 * MAX);
  expect(store.mostDeleted()).toBe(2000);
  await store.write(6000);
  await store.purge({ ...LIMITS, usageBefore: Date.UTC(2090, 0, 1) });
  expect(store.rows()).toBe(0);
  expect(store.mostDeleted()).toBe(2000);
  expect(store.transactions()).toBeGreaterThan(5);
  store.close();
});

test("rows are counted once, until as many are added as may be stored", async () => {
  const store = await openStore();
  await store.write(MAX / 10);
  await store.purge();
  expect(store.counts()).toHaveLength(5);
  await store.write(MAX / 10);
  await store.purge();
  expect(store.counts()).toEqual([]);
  await store.write(MAX);
  await store.purge();
  expect(store.counts()).not.toEqual([]);
  expect(store.rows()).toBe(0.95 * MAX);
  store.close();
});

test("a commit keeps the five families of user agents of a client and day that were used last", async () => {
  const store = await openStore();
  const agent = (n: number): object => ({
    client: "busy",
    time: new Date(Date.UTC(2026, 0, 1, n)).toISOString(),
    agent: `${"abcdefgh"[n] ?? ""}program/1`,
  });
  await store.write(8, agent);
  await store.write(2, agent);
  await store.write(1, (n) => ({ ...agent(n), client: "other" }));
  const kept = store.all("SELECT client || ' ' || agent AS used FROM audit_agent ORDER BY used");
  expect(kept.map((row) => row["used"])).toEqual([
    ...["d", "e", "f", "g", "h"].map((letter) => `busy ${letter}program/1`),
    "other aprogram/1",
  ]);
  store.close();
});

test("the last user agent of a token is the same whether its requests are in one commit or in two", async () => {
  const store = await openStore();
  const request = (client: string, n: number): object => ({
    client,
    time: new Date(Date.UTC(2026, 0, 1, n)).toISOString(),
    agent: n === 0 ? "program/1" : "",
  });
  await store.write(2, (n) => request("one", 1 - n));
  await store.write(1, () => request("two", 0));
  await store.write(1, () => request("two", 1));
  const agents = store.all("SELECT agent FROM audit_token");
  expect(agents.map((row) => row["agent"])).toEqual([null, null]);
  store.close();
});

test("old segments are found by an index, and the sizes of all are summed once", async () => {
  const store = await openStore();
  await store.write(10);
  const statements = await store.makeRoom();
  const isSum = (text: string): boolean => /sum\(bytes/.test(text);
  expect(statements.filter(isSum)).toHaveLength(1);
  const old = statements.find((text) => /time < \$1/.test(text)) ?? "";
  const plan = store.all(`EXPLAIN QUERY PLAN ${old.replace("$1", "1")}`);
  expect(plan.map((row) => row["detail"])).toEqual([expect.stringMatching(/worth=\? AND time<\?/)]);
  expect((await store.makeRoom()).filter(isSum)).toEqual([]);
  store.close();
});
