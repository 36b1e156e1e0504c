/** What the purge reads of summaries that have reached their maximum: the writer waits for it. */
import { expect, test } from "@jest/globals";
import { DatabaseSync } from "node:sqlite";
import { RecordMemory } from "../../../src/audit/record/record-memory.ts";
import { serializeRecord } from "../../../src/audit/record/record-text.ts";
import { RecentBytes } from "../../../src/audit/store/client-shares.ts";
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
  const jobs = createJobs({
    ...driver,
    write: (work) =>
      driver.write((connection) =>
        work({
          ...connection,
          insert: connection.insert,
          query: (text, values) => (ran.push(text), connection.query(text, values)),
          run: (text, values) => (ran.push(text), connection.run(text, values)),
        }),
      ),
  });
  let written = 0;

  return {
    /** Writes requests of clients that were never seen, each with a row of the summaries, or of one client. */
    async write(requests: number, client?: string): Promise<void> {
      const memory = new RecordMemory();
      const rows = Array.from({ length: requests }, () => {
        const id = String((written += 1)).padStart(8, "0");
        const record = sampleRecord(id, { client: client ?? `c${id}`, accepted: true });
        return { ...columnsOf(record, record.client.address), ...memory.write(serializeRecord(record)) };
      });
      await jobs.write({ ...createBatch(rows, new RecentBytes()), counted: [] });
    },
    /** Purges until there is nothing more to delete. @returns the statements that read the keys of all rows */
    async purge(): Promise<readonly string[]> {
      ran = [];
      while ((await jobs.cutSummaries(LIMITS)).more);
      return ran.filter((text) => READS_ALL.test(text));
    },
    rows: () => database.prepare("SELECT count(*) AS rows FROM audit_usage").get()?.["rows"],
    close: () => database.close(),
  };
}

test("at their maximum, summaries are cut to 95 % of it, and nobody is chosen until it is reached again", async () => {
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

test("who is deleted is decided once for all rows above the maximum, not in each step", async () => {
  const store = await openStore();
  for (let n = 0; n < 8; n += 1) await store.write(MAX);
  const statements = await store.purge();
  expect(store.rows()).toBe(0.95 * MAX);
  expect(statements.filter((text) => /ORDER BY/.test(text)).length).toBeLessThan(4);
  store.close();
});
