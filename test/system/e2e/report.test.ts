import { afterEach, expect, test } from "@jest/globals";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, run } from "./program.ts";

afterEach(async () => {
  await killAll();
  removeFolders();
});

const OLD = "2001-03-01T10:00:00.000Z";

/** A data folder as a gateway leaves it; one record is older than any gateway keeps them. */
async function recorded(): Promise<string> {
  const folder = createFolder();
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

test.each([
  [["report", "--format", "pdf"], "Allowed choices are md, html, json, csv"],
  [["report", "--since", "yesterday"], "--since: Has to be a moment in ISO 8601"],
  [["report", "--client", "me"], "--client: Has to be a name of CLIENTS_FILE"],
  [["report", "--colour", "red"], "--colour"],
])("report %j is rejected with a message", async (args, result) => {
  const { code, out, err } = await run(args).ended;
  expect(err).toContain(result);
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("report says so without records, and creates no store", async () => {
  const folder = createFolder();
  const { code, err } = await run(["report"], { env: { DATA_DIR: folder } }).ended;
  expect(err).toContain(`There is no audit store in ${folder}`);
  expect(code).toBe(1);
  expect(existsSync(join(folder, "audit.db"))).toBe(false);
});
