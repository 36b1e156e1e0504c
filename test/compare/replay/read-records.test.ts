import { expect, test } from "@jest/globals";
import { array, assert, asyncProperty, nat } from "fast-check";
import { InvalidExportError, matchesQuery, readRecords } from "../../../src/compare/replay/read-records.ts";
import { createReplaySummary } from "../../../src/compare/replay/summary.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";

async function* given(chunks: readonly string[]): AsyncGenerator<string> {
  yield* chunks;
}

const idsIn = async (chunks: readonly string[]): Promise<string[]> =>
  (await Array.fromAsync(readRecords(given(chunks)))).map(({ id }) => id);

const EXPORT = ["a", "b", "c"].map((id) => `${JSON.stringify(sampleRecord(id))}\n`).join("");

test("records are the same for any split of the text into chunks", async () => {
  await assert(
    asyncProperty(array(nat(EXPORT.length), { maxLength: 8 }), async (cuts) => {
      const positions = [0, ...cuts.toSorted((one, other) => one - other), EXPORT.length];
      const chunks = positions.slice(1).map((end, index) => EXPORT.slice(positions[index], end));
      expect(await idsIn(chunks)).toEqual(["a", "b", "c"]);
    }),
    { numRuns: 50 },
  );
});

test("no more is read than the records that were used", async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<string> {
    for (;;) yield `${JSON.stringify(sampleRecord(String((read += 1))))}\n`;
  }
  const records = readRecords(endless());
  await records.next();
  await records.next();
  expect(read).toBe(2);
  await records.return(undefined);
});

test.each([
  ["not JSON", "{oops\n", 1],
  ["no audit record", `${EXPORT}{"id":1}\n`, 4],
  ["an export of another format", "id,time,lane\r\n", 1],
])("%s is an error that names the line, and not its content", async (_what, text, line) => {
  const failure = idsIn([text]);
  await expect(failure).rejects.toThrow(InvalidExportError);
  await expect(failure).rejects.toThrow(
    new RegExp(`^Line ${line} is not an audit record\\. Create the file with`),
  );
});

test("a line without an end does not fill the memory", async () => {
  const piece = "x".repeat(1024 * 1024);
  let pieces = 0;
  async function* endless(): AsyncGenerator<string> {
    for (; pieces < 1000; pieces += 1) yield piece;
  }
  await expect(readRecords(endless()).next()).rejects.toThrow("longer than any audit record");
  expect(pieces).toBeLessThan(100);
});

test.each([
  [{}, true],
  [{ client: "0123456789abcdef" }, true],
  [{ client: "f".repeat(16) }, false],
  [{ route: "GET /vm/instances" }, true],
  [{ route: "GET /dns/zones" }, false],
  [{ status: 200 }, true],
  [{ status: 404 }, false],
  [{ since: "2026-03-01T10:00:00.000Z" }, true],
  [{ since: "2026-03-01T10:00:00.001Z" }, false],
  [{ until: "2026-03-01T10:00:00.000Z" }, false],
])("%j selects records of a file as it does those of a store", (query, matches) => {
  expect(matchesQuery(sampleRecord("one"), query)).toBe(matches);
});

test("a summary reports a kind of change once, and has a bound", () => {
  const summary = createReplaySummary();
  const add = (what: string): boolean =>
    summary.add(sampleRecord("one"), { kind: "changed", differences: [{ what, was: "1", is: "2" }] });
  expect([add("response.vms[0].label"), add("response.vms[1].label"), add("response.page")]).toEqual([
    true,
    false,
    true,
  ]);
  for (let kind = 0; kind < 2000; kind += 1) add(`response.field_${kind}`);
  expect(summary.changes().length).toBeLessThanOrEqual(501);
  expect(summary.changes()[0]).toEqual(["others", 1502]);
  expect(summary.counts.changed).toBe(2003);
});
