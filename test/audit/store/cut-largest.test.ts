/** How many rows of summaries clients lose when there are too many. */
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { array, assert, asyncProperty, integer } from "fast-check";
import { createJobs } from "../../../src/audit/store/sql/jobs.ts";
import { SCHEMA, sqliteDriver } from "../../../src/audit/store/sqlite/driver.ts";
import { migrateSqlite } from "../../../src/base/storage/schema.ts";

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
  migrateSqlite(database, SCHEMA);
});
afterEach(() => database.close());

/** Fills the table of losses, and cuts it. @returns how many rows each client loses */
async function cut(rows: readonly number[], summaryRows: number): Promise<number[]> {
  const add = database.prepare("INSERT INTO audit_loss VALUES (?, ?, 'GET /', 'detail: name', 1)");
  for (const [n, count] of rows.entries())
    for (let day = 1; day <= count; day += 1) add.run(20_000 + day, `c${n}`);
  const named = rows.map((_, n) => `c${n}`);
  const limits = { before: 0, usageBefore: 0, sizeLimit: 1e12, summaryTokens: 1000, summaryRows, named };
  const jobs = createJobs(sqliteDriver(database));
  while ((await jobs.cutSummaries(limits)).more);
  const left = database.prepare("SELECT count(*) AS rows FROM audit_loss WHERE client = ?");
  const cuts = rows.map((count, n) => count - Number(left.get(`c${n}`)?.["rows"]));
  database.exec("DELETE FROM audit_loss");
  return cuts;
}

test.each([
  [[100, 10, 1], 95, [20, 0, 0]],
  [[100, 90, 1], 169, [20, 10, 0]],
  [[10, 10, 10], 28, [1, 1, 1]],
  [[10, 5], 0, [10, 5]],
  [[10, 5], 15, [0, 0]],
])("of clients with %j rows, of which %i may be stored, are deleted: %j", async (rows, most, cuts) => {
  expect(await cut(rows, most)).toEqual(cuts);
});

test("exactly the requested number is deleted, and only from clients with the most rows", async () => {
  const counts = array(integer({ min: 1, max: 50 }), { maxLength: 20 });
  await assert(
    asyncProperty(counts, integer({ min: 1, max: 200 }), async (rows, most) => {
      const cuts = await cut(rows, most);
      const sum = (all: readonly number[]): number => all.reduce((one, other) => one + other, 0);
      const isExceeded = sum(rows) > most;
      expect(sum(rows) - sum(cuts)).toBe(isExceeded ? Math.ceil(0.95 * most) : sum(rows));
      const left = rows.map((count, n) => ({ isCut: (cuts[n] ?? 0) > 0, rows: count - (cuts[n] ?? 0) }));
      const largest = Math.max(0, ...left.map((each) => each.rows));
      // Rows are whole: one more or less.
      expect(left.filter((each) => each.isCut && each.rows < largest - 1)).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
