import { expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
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

function exported(records: readonly AuditRecord[]): string {
  const file = join(temporaryFolder(), "audit.ndjson");
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

async function stored(records: readonly AuditRecord[]): Promise<string> {
  const directory = temporaryFolder();
  const keep = { durability: "strict", retentionDays: 36_500, sizeLimit: 1e12 } as const;
  const store = await openSqliteStore({ directory, ...keep });
  for (const record of records) await store.append(record);
  await store.close();
  return directory;
}

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
