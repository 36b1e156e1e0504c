/** A compressed export, as a shell writes it to a file. */
import { execFileSync } from "node:child_process";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { manyRecords, storeRecords } from "../../audit/record/stored-records.ts";
import { run } from "./program.ts";

/** More than one page of the store. */
const RECORDS = 230;

test("a compressed export is what zstd decompresses to the NDJSON export, and replay reads it", async () => {
  const folder = await storeRecords(...manyRecords(RECORDS));
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
