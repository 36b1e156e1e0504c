import { expect, test } from "@jest/globals";
import { DatabaseSync } from "node:sqlite";
import { RecordMemory } from "../../../src/audit/record/record-memory.ts";
import { serializeRecord } from "../../../src/audit/record/record-text.ts";
import { NumberedNames } from "../../../src/audit/record/numbered-names.ts";
import { RecentBytes } from "../../../src/audit/store/sender-bytes.ts";
import { createBatch } from "../../../src/audit/store/segment.ts";
import { createJobs } from "../../../src/audit/store/sql/jobs.ts";
import { SCHEMA, sqliteDriver } from "../../../src/audit/store/sqlite/driver.ts";
import { columnsOf } from "../../../src/audit/store/record-row.ts";
import { migrateSqlite } from "../../../src/base/storage/schema.ts";
import { sampleId, sampleRecord } from "../record/sample-record.ts";

test("no statement that writes records reads a whole table, which grows all day", async () => {
  const database = new DatabaseSync(":memory:");
  migrateSqlite(database, SCHEMA);
  const statements = new Set<string>();
  const prepare = database.prepare.bind(database);
  database.prepare = (text) => {
    statements.add(text);
    return prepare(text);
  };
  const jobs = createJobs(sqliteDriver(database));
  const memory = new RecordMemory();
  const names = new NumberedNames(["body.label"], new Uint8Array([0x80]));
  const write = async (accepted: boolean): Promise<void> => {
    const rows = Array.from({ length: 1100 }, (_, n) => {
      const record = sampleRecord(sampleId(n + Number(accepted) * 2000), {
        client: `c${n % 9}`,
        accepted,
        ...(accepted && n % 2 === 0 && { application: "app" }),
      });
      return {
        ...columnsOf({ ...record, sent: names, lost: names }, record.client.address),
        ...memory.write(serializeRecord(record)),
      };
    });
    await jobs.write({ ...createBatch(rows, new RecentBytes()), counted: [] });
  };
  await write(false);
  await write(true);

  const plans = [...statements].flatMap((text) =>
    prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map(({ detail }) => String(detail)),
  );
  expect(plans.length).toBeGreaterThan(20);
  expect(plans.filter((step) => step.startsWith("SCAN audit"))).toEqual([]);
  database.close();
});
