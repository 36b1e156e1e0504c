/** The commands that read records, of stores and of files: export, report and replay. */
import { execFileSync } from "node:child_process";
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { UNLIMITED } from "../../audit/store/store-contract.ts";
import { withPack } from "../../pack/load/pack-folder.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { run } from "./program.ts";

const newId = createRecordIds();

const native = (): AuditRecord => sampleRecord(newId(), { lane: "native", route: null });

/** An empty list of zones. */
function zones(): AuditRecord {
  const sample = sampleRecord(newId(), { route: "GET /dns/zones" });
  const counts = { page: 1, total_pages: 1, total_results: 0 };
  return {
    ...sample,
    alpha: { ...sample.alpha, path: "/v4/dns/zones", query: "", response: { dnszones: [], ...counts } },
    v4: [
      {
        method: "GET",
        path: "/v4/domains?page=1&page_size=25",
        filter: null,
        status: 200,
        response: { data: [], page: 1, pages: 1, results: 0 },
        ms: 1,
      },
    ],
  };
}

/** A data folder as a gateway leaves it. */
async function stored(records: readonly AuditRecord[]): Promise<string> {
  const directory = temporaryFolder();
  const store = await openSqliteStore({ ...UNLIMITED, directory, durability: "relaxed" });
  for (const record of records) await store.append(record);
  await store.close();
  return directory;
}

function exported(records: readonly AuditRecord[]): string {
  const file = join(temporaryFolder(), "audit.ndjson");
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

/** More than one page of the store. */
const RECORDS = 230;

const manyRecords = (): Promise<string> =>
  stored(
    Array.from({ length: RECORDS }, (_, n) =>
      sampleRecord(newId(), { time: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString() }),
    ),
  );

test("export prints every record once, newest first, and its progress separately", async () => {
  const folder = await manyRecords();
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
  const folder = await manyRecords();
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

/** One record is older than any gateway keeps them. */
const oldAndNew = (): Promise<string> =>
  stored([
    sampleRecord(newId(), { time: "2001-03-01T10:00:00.000Z", agent: "old/1" }),
    sampleRecord(newId(), { time: new Date().toISOString(), client: null, agent: "new/1" }),
  ]);

test("report prints the migration report of a data folder, and its progress separately", async () => {
  const folder = await oldAndNew();
  const { code, out, err } = await run(["report"], { env: { DATA_DIR: folder } }).ended;
  expect(out).toMatch(/^# Migration report: from alpha to v4\n/);
  expect(out).toContain("## old/1\n");
  expect({ code, err }).toEqual({ code: 0, err: "2 of 2 calls\n" });
});

test("report flags override the environment, and filter by client and days", async () => {
  const folder = await oldAndNew();
  const narrowed = ["--client", "none", "--since", "2020-01-01", "--format", "json"];
  const env = { DATA_DIR: "/nowhere", AUDIT_RETENTION_DAYS: "1" };
  const { out } = await run(["report", "--data-dir", folder, ...narrowed], { env }).ended;
  expect(JSON.parse(out)).toMatchObject({ clients: [{ client: null, userAgent: "new/1" }] });
});

test("report deletes no record, however old", async () => {
  const folder = await oldAndNew();
  const env = { DATA_DIR: folder, AUDIT_RETENTION_DAYS: "1" };
  for (let time = 0; time < 2; time += 1) {
    const { out } = await run(["report", "--format", "csv"], { env }).ended;
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
  const from = exported([zones(), native(), zones()]);
  const { code, out, err } = await run(["replay", "--from", from]).ended;
  expect(out).toBe(
    "2 the same, 0 changed, 1 inconclusive\ninconclusive:\n  1 native request: no pack is involved\n",
  );
  expect({ code, err }).toEqual({ code: 0, err: "3 records\n" });
});

test("replay of a data folder with another pack reports each kind of change once", async () => {
  const from = await stored([zones(), zones()]);
  await withPack(
    RENAMED,
    async (pack) => {
      const { code, out, err } = await run(["replay", "--from", from, "--pack", pack]).ended;
      expect(out).toMatch(/ GET \/v4\/dns\/zones\n {2}v4 call: "GET \/v4\/domains\?.+" -> nothing\n/);
      expect(out.match(/-> nothing/g)).toHaveLength(1);
      expect(out).toContain("0 the same, 2 changed, 0 inconclusive\nchanged:\n  2 GET /dns/zones: v4 call\n");
      expect({ code, err }).toEqual({ code: 1, err: "2 of 2 records\n" });
    },
    "mappings",
  );
});
