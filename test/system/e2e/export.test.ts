import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { run } from "./program.ts";

/** More than one page of the store, one of them without a token. */
const RECORDS = 230;

async function recorded(): Promise<string> {
  const folder = temporaryFolder();
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
