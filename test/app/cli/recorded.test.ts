/** The commands that read records, of stores and of files: export, report and replay. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { emptyZones, sampleRecord } from "../../audit/record/sample-record.ts";
import { manyRecords, storeRecords } from "../../audit/record/stored-records.ts";
import { withPack } from "../../pack/load/pack-folder.ts";
import { createCommandRunner } from "../../support/command-output.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { restoreEnv, setEnv } from "../../support/env.ts";

const run = createCommandRunner();
afterEach(restoreEnv);

const newId = createRecordIds();

const native = (): AuditRecord => sampleRecord(newId(), { lane: "native", route: null });

function exported(records: readonly AuditRecord[]): string {
  const file = join(temporaryFolder(), "audit.ndjson");
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

/** More than one page of the store. */
const RECORDS = 230;

test("export prints every record once, newest first, and its progress separately", async () => {
  const folder = await storeRecords(...manyRecords(RECORDS));
  const { code, out, err } = await run("export", "--data-dir", folder);
  const times = out
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { time: string }).time);
  expect(new Set(times).size).toBe(RECORDS);
  expect(times).toEqual([...times].sort().toReversed());
  expect({ code, err }).toEqual({ code: 0, err: `${RECORDS} of ${RECORDS} records\n` });
});

/** One record is older than any gateway keeps them. */
const oldAndNew = (): Promise<string> =>
  storeRecords(
    sampleRecord(newId(), { time: "2001-03-01T10:00:00.000Z", agent: "old/1" }),
    sampleRecord(newId(), { time: new Date().toISOString(), client: null, agent: "new/1" }),
  );

test("report prints the migration report of a data folder, and its progress separately", async () => {
  const folder = await oldAndNew();
  const { code, out, err } = await run("report", "--data-dir", folder);
  expect(out).toMatch(/^# Migration report: from alpha to v4\n/);
  expect(out).toContain("## old/1\n");
  expect({ code, err }).toEqual({ code: 0, err: "2 of 2 calls\n" });
});

test("report flags override the environment, and filter by client and days", async () => {
  const folder = await oldAndNew();
  const narrowed = ["--client", "none", "--since", "2020-01-01", "--format", "json"];
  setEnv("DATA_DIR", "/nowhere");
  const { out } = await run("report", "--data-dir", folder, ...narrowed);
  expect(JSON.parse(out)).toMatchObject({ clients: [{ client: null, userAgent: "new/1" }] });
});

test("report deletes no record, however old", async () => {
  const folder = await oldAndNew();
  setEnv("DATA_DIR", folder);
  setEnv("AUDIT_RETENTION_DAYS", "1");
  for (let time = 0; time < 2; time += 1) {
    const { out } = await run("report", "--format", "csv");
    expect(out).toContain("old/1");
  }
});

const RENAMED = [
  {
    file: "zone.yaml",
    from: "upstream: GET /domains, response: list",
    to: "upstream: GET /zones, response: list",
  },
];

test("replay of an export under the current pack changes nothing, and prints progress on standard error", async () => {
  const from = exported([emptyZones(newId()), native(), emptyZones(newId())]);
  const { code, out, err } = await run("replay", "--from", from);
  expect(out).toBe(
    "2 the same, 0 changed, 1 inconclusive\ninconclusive:\n  1 native request: no pack is involved\n",
  );
  expect({ code, err }).toEqual({ code: 0, err: "3 records\n" });
});

test("replay of a data folder with another pack reports each kind of change once", async () => {
  const from = await storeRecords(emptyZones(newId()), emptyZones(newId()));
  await withPack(
    RENAMED,
    async (pack) => {
      const { code, out, err } = await run("replay", "--from", from, "--pack", pack);
      expect(out).toMatch(/ GET \/v4\/dns\/zones\n {2}v4 call: "GET \/v4\/domains\?.+" -> nothing\n/);
      expect(out.match(/-> nothing/g)).toHaveLength(1);
      expect(out).toContain("0 the same, 2 changed, 0 inconclusive\nchanged:\n  2 GET /dns/zones: v4 call\n");
      expect({ code, err }).toEqual({ code: 1, err: "2 of 2 records\n" });
    },
    "mappings",
  );
});
