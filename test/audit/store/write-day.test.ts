import { expect, test } from "@jest/globals";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { createPartition } from "../../../src/audit/store/sqlite/partition.ts";
import { prepareDay } from "../../../src/audit/store/sqlite/write-day.ts";

/** What SQLite does for a statement, without the values. */
const planOf = (database: DatabaseSync, { sourceSQL }: StatementSync): string[] =>
  database
    .prepare(`EXPLAIN QUERY PLAN ${sourceSQL}`)
    .all()
    .map(({ detail }) => String(detail));

test("no statement that writes a segment reads a whole table, which grows all day", () => {
  const database = new DatabaseSync(":memory:");
  createPartition(database, "20260301");
  const { text, addText, add, addSegment, claim, promote, owners } = prepareDay(database, "20260301");
  const plans = [text, addText, add, addSegment, claim, promote, owners.own].flatMap((statement) =>
    planOf(database, statement),
  );
  expect(plans.filter((step) => step.startsWith("SCAN"))).toEqual([]);
  database.close();
});
