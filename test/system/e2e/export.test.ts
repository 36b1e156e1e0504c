import { afterEach, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { existsSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, run } from "./program.ts";

afterEach(async () => {
  await killAll();
  removeFolders();
});

/** More than one page of the store, one of them without a token. */
const RECORDS = 230;

async function recorded(): Promise<string> {
  const folder = createFolder();
  const limits = { retentionDays: 36_500, sizeLimit: 1e12 };
  const store = await openSqliteStore({ directory: folder, durability: "relaxed", ...limits });
  const newId = createRecordIds();
  for (let n = 0; n < RECORDS; n += 1) {
    const time = new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
    await store.append(sampleRecord(newId(), { time, ...(n === 7 && { agent: "new/1" }) }));
  }
  await store.close();
  return folder;
}

test("export prints every record once, newest first, and its progress separately", async () => {
  const folder = await recorded();
  const { code, out, err } = await run(["export"], { env: { DATA_DIR: folder } }).ended;
  const times = out
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { time: string }).time);
  expect(new Set(times).size).toBe(RECORDS);
  expect(times).toEqual([...times].sort().toReversed());
  expect({ code, err }).toEqual({ code: 0, err: `${RECORDS} of ${RECORDS} records\n` });
});

test("export can filter, and write CSV or HAR", async () => {
  const folder = await recorded();
  const env = { DATA_DIR: folder };
  const narrowed = ["--since", "2026-01-01T00:00:00Z", "--until", "2026-01-01T00:00:09Z"];
  const csv = await run(["export", "--format", "csv", ...narrowed], { env }).ended;
  expect(csv.out.match(/new\/1/g)).toHaveLength(1);
  const har = await run(["export", "--format", "har", ...narrowed], { env }).ended;
  expect(JSON.parse(har.out)).toMatchObject({ log: { version: "1.2", entries: expect.any(Array) } });
  expect(har.err).toBe(csv.err);
});

test("export to CSV leaves a damaged record out, and says so", async () => {
  const folder = createFolder();
  const limits = { retentionDays: 36_500, sizeLimit: 1e12 };
  const store = await openSqliteStore({ directory: folder, durability: "relaxed", ...limits });
  await store.append({ ...sampleRecord("broken"), timings: null } as unknown as AuditRecord);
  await store.append(sampleRecord("whole"));
  await store.close();

  const { code, out, err } = await run(["export", "--format", "csv"], { env: { DATA_DIR: folder } }).ended;
  expect(out).toMatch(/^id,.*\r\nwhole,.*\r\n$/);
  expect(err).toContain("AG_AUDIT_RECORD_DAMAGED: left out 1 damaged record of the audit store\n");
  expect(code).toBe(0);
});

test("a compressed export is what zstd decompresses to the NDJSON export, and replay reads it", async () => {
  const folder = await recorded();
  const env = { DATA_DIR: folder };
  const file = join(folder, "calls.ndjson.zst");
  const toFile = ["sh", "-c", 'exec "$@" > "$FILE"', "sh"];
  const written = await run(["export", "--format", "ndjson.zst"], {
    env: { ...env, FILE: file },
    within: toFile,
  }).ended;
  expect(written.err).toBe(`${RECORDS} of ${RECORDS} records\n`);
  const plain = await run(["export"], { env }).ended;
  expect(execFileSync("zstd", ["-dc", file]).toString()).toBe(plain.out);

  const replayed = await run(["replay", "--from", file], { env }).ended;
  expect(replayed.err).toBe(`${RECORDS} records\n`);

  truncateSync(file, statSync(file).size - 10);
  const cut = await run(["replay", "--from", file], { env }).ended;
  expect(cut.err).toContain("The compressed export is damaged or incomplete");
  expect(cut.code).toBe(1);
});

test.each([
  [["--format", "pdf"], "Allowed choices are ndjson, ndjson.zst, csv, har"],
  [["--status", "ok"], "--status: Has to be a status"],
  [["--route", "list"], "--route: Has to be a route of the pack"],
])("export %j is rejected with a message", async (args, result) => {
  const { code, out, err } = await run(["export", ...args]).ended;
  expect(err).toContain(result);
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("export says so without records, and creates no store", async () => {
  const folder = createFolder();
  const { code, err } = await run(["export"], { env: { DATA_DIR: folder } }).ended;
  expect(err).toContain(`There is no audit store in ${folder}`);
  expect(code).toBe(1);
  expect(existsSync(join(folder, "audit.db"))).toBe(false);
});
