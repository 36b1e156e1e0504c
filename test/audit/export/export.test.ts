import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { Writable } from "node:stream";
import { zstdDecompressSync } from "node:zlib";
import { exportTexts, writeExport } from "../../../src/audit/export/export-records.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../../src/audit/export/formats.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import type { AuditQuery } from "../../../src/audit/store/store.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incompressible, sampleId, sampleRecord } from "../record/sample-record.ts";

/** A store of these records that gives two at a time, and remembers how often it was asked. */
function pagedStore(records: readonly AuditRecord[]) {
  let reads = 0;
  async function texts({ before = "0" }: AuditQuery) {
    reads += 1;
    const start = Number(before);
    const page = records.slice(start, start + 2).map((record) => JSON.stringify(record));
    return { records: page, next: start + 2 < records.length ? String(start + 2) : null };
  }
  return { texts, reads: () => reads };
}

async function exported(format: ExportFormat, records: readonly AuditRecord[]): Promise<string> {
  const pieces: string[] = [];
  const options = { format, query: {}, filterHeaders: { client: "X-Filter", upstream: "X-V4-Filter" } };
  for await (const piece of exportTexts(pagedStore(records), options)) pieces.push(piece);
  return pieces.join("");
}

const sample = (count: number): AuditRecord[] =>
  Array.from({ length: count }, (_, n) => sampleRecord(sampleId(n)));

describe.each([0, 1, 2, 3, 5])("an export of %i records", (count) => {
  test("has one record per line as NDJSON", async () => {
    const text = await exported("ndjson", sample(count));
    const lines = text.split("\n").slice(0, -1);
    expect(lines.map((line) => JSON.parse(line))).toEqual(sample(count));
  });

  test("has a header line and one line per record as CSV", async () => {
    const [names, ...rows] = parseCsv(await exported("csv", sample(count)));
    expect(names?.slice(0, 5)).toEqual(["id", "time", "lane", "request_id", "client"]);
    expect(rows.map(([id]) => id)).toEqual(sample(count).map(({ id }) => id));
    for (const row of rows) expect(row).toHaveLength(names?.length ?? 0);
  });

  test("has each request and its v4 requests as HAR", async () => {
    const { log } = JSON.parse(await exported("har", sample(count)));
    expect(log).toMatchObject({ version: "1.2", creator: { name: "alpha-gateway" } });
    expect(log.entries).toHaveLength(count * 2);
  });
});

describe("an export with damaged records", () => {
  const whole = JSON.stringify(sampleRecord("whole"));
  const broken = JSON.stringify({ ...sampleRecord("broken"), timings: null });

  /** Exports pages of stored texts. @returns the export, and how many damaged records it reported */
  async function exportPages(format: ExportFormat, ...pages: (readonly string[])[]) {
    const reported: number[] = [];
    const store = {
      async texts({ before = "0" }: AuditQuery) {
        const next = Number(before) + 1;
        return { records: pages[next - 1] ?? [], next: next < pages.length ? String(next) : null };
      },
    };
    const onDamaged = (records: number): void => void reported.push(records);
    const options = { format, query: {}, onDamaged };
    return { text: (await Array.fromAsync(exportTexts(store, options))).join(""), reported };
  }

  test("leaves them out as CSV, and reports their number once", async () => {
    const { text, reported } = await exportPages("csv", [broken, whole], [broken], ["{"], [whole]);
    expect(parseCsv(text).map(([id]) => id)).toEqual(["id", "whole", "whole"]);
    expect(reported).toEqual([3]);
  });

  test("leaves them out as HAR, whose comment has their number", async () => {
    const { text, reported } = await exportPages("har", [broken], ["{", whole], [broken], [whole]);
    const { log } = JSON.parse(text);
    expect(log.comment).toBe("3 damaged records were left out");
    // Each with its v4 call.
    expect(log.entries.map(({ _record }: { _record: string }) => _record)).toEqual(Array(4).fill("whole"));
    expect(reported).toEqual([3]);
  });

  test("is empty as HAR if it has no others", async () => {
    expect(JSON.parse((await exportPages("har", [broken])).text).log.entries).toEqual([]);
  });

  test("has their texts as NDJSON", async () => {
    expect(await exportPages("ndjson", [broken, whole])).toEqual({
      text: `${broken}\n${whole}\n`,
      reported: [],
    });
  });
});

test("the documentation names each format of an export", () => {
  for (const page of ["reference/cli.md", "reference/admin-api.md", "guide/read-the-audit.md"]) {
    const text = readFileSync(`docs/${page}`, "utf8");
    expect([page, EXPORT_FORMATS.filter((name) => !text.includes(name))]).toEqual([page, []]);
  }
});

describe("a compressed export", () => {
  const options = { format: "ndjson.zst", query: {} } as const;

  /** Collects the written chunks. With `stopAfter` it accepts only that many. */
  function collector(stopAfter = Infinity) {
    const chunks: Buffer[] = [];
    const target = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        if (chunks.length < stopAfter) done();
      },
    });
    return { chunks, target };
  }

  test("is one zstd frame with the NDJSON export", async () => {
    const { chunks, target } = collector();
    await writeExport(exportTexts(pagedStore(sample(5)), options), "ndjson.zst", target);
    expect(zstdDecompressSync(Buffer.concat(chunks)).toString()).toBe(await exported("ndjson", sample(5)));
  });

  test("that fails leaves no complete frame", async () => {
    const { chunks, target } = collector();
    async function* failing() {
      yield* exportTexts(pagedStore(sample(5)), options);
      throw new Error("the store failed");
    }
    await expect(writeExport(failing(), "ndjson.zst", target)).rejects.toThrow("the store failed");
    expect(() => zstdDecompressSync(Buffer.concat(chunks))).toThrow(/end of file|Src size is incorrect/);
  });

  test("reads no further than its client, so that memory stays constant", async () => {
    const store = pagedStore(
      Array.from({ length: 2000 }, (_, n) => sampleRecord(sampleId(n), { agent: incompressible(20_000) })),
    );
    const { chunks, target } = collector(1);
    void writeExport(exportTexts(store, options), "ndjson.zst", target).catch(() => {});
    await waitFor(() => chunks.length === 1);
    let reads = 0;
    while (reads !== store.reads()) {
      reads = store.reads();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(reads).toBeLessThan(200);
    target.destroy();
  });
});

test("an export reads no further than its client", async () => {
  const store = pagedStore(sample(100));
  const texts = exportTexts(store, { format: "ndjson", query: {} });
  await texts.next();
  await texts.next();
  await texts.return();
  expect(store.reads()).toBe(2);
});

test("values survive a round trip through CSV (RFC 4180), and are never formulas", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (agent) => {
      const [, row] = parseCsv(await exported("csv", [sampleRecord("x", { agent })]));
      const cell = row?.[5] ?? "";
      expect(cell.replaceAll(/((?:^|[;\t\r\n])[\s;"']*)'(?=[=+\-@＝＋－＠])/g, "$1")).toBe(
        agent.replaceAll(/((?:^|[;\t\r\n])[\s;"']*)'(?=[=+\-@＝＋－＠])/g, "$1"),
      );
      // Also for a program that separates cells at semicolons, tabs or all line breaks.
      for (const part of cell.split(/[;\t\r\n]/)) expect(part).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]/);
    }),
    {
      examples: [
        ["=1+1"],
        ["@SUM(A1)"],
        ["-2"],
        ['a,"b"\r\nc'],
        ["\t=x"],
        ["＝1"],
        ["\n=1"],
        [""],
        ["a;=1+1"],
        ['a; "=1+1'],
        ["a\n;\t+1"],
        ["a;b;-1"],
        ['";=1'],
      ],
    },
  );
});

describe("the HAR 1.2 export", () => {
  const base = sampleRecord("x");
  const record: AuditRecord = {
    ...base,
    alpha: { ...base.alpha, method: "POST", query: "a=1&b=%20", filter: '{"x":1}', body: { label: "l" } },
    v4: [{ ...base.v4[0]!, status: null }],
  };

  test("has every required member", async () => {
    const { log } = JSON.parse(await exported("har", [record]));
    for (const entry of log.entries) {
      expect(entry).toMatchObject({
        startedDateTime: "2026-03-01T10:00:00.000Z",
        time: expect.any(Number),
        request: {
          method: expect.any(String),
          url: expect.stringMatching(/^http:\/\/(alpha|v4)\.invalid\/v4\//),
          httpVersion: "HTTP/1.1",
          cookies: [],
          headers: expect.any(Array),
          queryString: expect.any(Array),
          headersSize: -1,
          bodySize: expect.any(Number),
        },
        response: {
          status: expect.any(Number),
          statusText: expect.any(String),
          httpVersion: "HTTP/1.1",
          cookies: [],
          headers: [],
          content: { size: expect.any(Number), mimeType: "application/json" },
          redirectURL: "",
          headersSize: -1,
          bodySize: expect.any(Number),
        },
        cache: {},
        timings: { send: 0, wait: entry.time, receive: 0 },
      });
    }
  });

  test("shows requests in both dialects", async () => {
    const { log } = JSON.parse(await exported("har", [record]));
    const [alpha, v4] = log.entries;
    expect(alpha).toMatchObject({
      _dialect: "alpha",
      _record: "x",
      request: {
        postData: { text: '{"label":"l"}' },
        queryString: [
          { name: "a", value: "1" },
          { name: "b", value: " " },
        ],
        headers: [{ name: "X-Filter", value: '{"x":1}' }, { name: "User-Agent" }],
      },
      response: { status: 200, statusText: "OK", content: { text: '{"vms":[]}' } },
    });
    expect(v4).toMatchObject({ _dialect: "v4", _record: "x", response: { status: 0 } });
  });

  test("shows a native request once, as v4", async () => {
    const native = sampleRecord("n", { lane: "native", route: null });
    const { log } = JSON.parse(await exported("har", [native]));
    expect(log.entries).toMatchObject([
      { _dialect: "v4", request: { url: "http://v4.invalid/v4/vm/instances?page=1" } },
    ]);
  });
});

/** A reader of RFC 4180 alone, so that nothing but that is written. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  expect(rows.flat().length === 0 || cell.lastIndex === 0).toBe(true);
  return rows;
}
