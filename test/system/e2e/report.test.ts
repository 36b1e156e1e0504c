import { expect, test } from "@jest/globals";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { run } from "./program.ts";

const OLD = "2001-03-01T10:00:00.000Z";

/** A data folder as a gateway leaves it; one record is older than any gateway keeps them. */
async function recorded(): Promise<string> {
  const folder = temporaryFolder();
  const store = await openSqliteStore({
    directory: folder,
    durability: "strict",
    retentionDays: 36_500,
    sizeLimit: 1e12,
  });
  const newId = createRecordIds();
  await store.append(sampleRecord(newId(), { time: OLD, agent: "old/1" }));
  await store.append(sampleRecord(newId(), { time: new Date().toISOString(), client: null, agent: "new/1" }));
  await store.close();
  return folder;
}

test("report prints the migration report of a data folder, and its progress separately", async () => {
  const folder = await recorded();
  const { code, out, err } = await run(["report"], { env: { DATA_DIR: folder } }).ended;
  expect(out).toMatch(/^# Migration report: from alpha to v4\n/);
  expect(out).toContain("## old/1\n");
  expect({ code, err }).toEqual({ code: 0, err: "2 of 2 calls\n" });
});

test("report flags override the environment, and filter by client and days", async () => {
  const folder = await recorded();
  const narrowed = ["--client", "none", "--since", "2020-01-01", "--format", "json"];
  const env = { DATA_DIR: "/nowhere", AUDIT_RETENTION_DAYS: "1" };
  const { out } = await run(["report", "--data-dir", folder, ...narrowed], { env }).ended;
  expect(JSON.parse(out)).toMatchObject({ clients: [{ client: null, userAgent: "new/1" }] });
});

test("report deletes no record, however old", async () => {
  const folder = await recorded();
  const env = { DATA_DIR: folder, AUDIT_RETENTION_DAYS: "1" };
  for (let time = 0; time < 2; time += 1) {
    const { out } = await run(["report", "--format", "csv"], { env }).ended;
    expect(out).toContain("old/1");
  }
});
