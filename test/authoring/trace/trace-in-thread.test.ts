/** A trace for the console: in a thread, with the entries of catalogs that the gateway has. */
import { expect, test } from "@jest/globals";
import { createCatalogEntry } from "../../../src/pack/calls/compile-catalog.ts";
import { readPack } from "../../../src/pack/load/load-pack.ts";
import { findCatalogRows } from "../../../src/authoring/trace/catalog-rows.ts";
import { traceInThread } from "../../../src/authoring/trace/trace-in-thread.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { packIn } from "../../support/packs.ts";

const sample = sampleRecord("one", { route: "GET /vm/instances/:id" });
const VM = { id: 7, label: "one", status: "running", region: "us-east" };
const record = {
  ...sample,
  alpha: { ...sample.alpha, path: "/v4/vm/instances/7", query: "", filter: null, response: { id: 7 } },
  v4: [{ method: "GET", path: "/v4/vm/instances/7", filter: null, status: 200, ms: 1, response: VM }],
};

const entry = createCatalogEntry('{"id":"newark","label":"Newark, NJ","country":"us"}');
const rows = findCatalogRows(record, packIn("mappings"), {
  find: (catalog, id) => (catalog === "datacenter" && id === "us-east" ? entry : undefined),
});

const job = { files: readPack("mappings"), words: {}, rows };

test("uses the entries of catalogs in place of substitutes", async () => {
  const stubs = async (given: typeof rows): Promise<string[]> =>
    ((await traceInThread(record, { ...job, rows: given }))?.expressions ?? []).flatMap(({ place, path }) =>
      path === "catalog.stub" ? [place.split(":", 1)[0] ?? ""] : [],
    );
  expect(rows.map(([catalog, id]) => [catalog, id])).toEqual([["datacenter", "us-east"]]);
  expect(await stubs([])).toContain("datacenter.yaml");
  expect(await stubs(rows)).not.toContain("datacenter.yaml");
}, 60_000);

test("looks for the entries of a bounded number of texts, and stops at a bounded number of entries", () => {
  const texts = Array.from({ length: 20_000 }, (_, n) => `id-${n}`);
  const v4 = record.v4.map((call) => ({ ...call, response: { texts } }));
  let asked = 0;
  const findIn = (found: typeof entry | undefined): number =>
    findCatalogRows({ ...record, v4 }, packIn("mappings"), {
      find() {
        asked += 1;
        return found;
      },
    }).length;
  expect(findIn(entry)).toBe(500);
  expect(asked).toBe(500);
  const catalogs = packIn("mappings")
    .resources.values()
    .filter(({ catalog }) => catalog)
    .toArray().length;
  asked = 0;
  expect(findIn(undefined)).toBe(0);
  expect(asked).toBe(5_000 * catalogs);
});

test("runs one trace at a time", async () => {
  const [first, second] = await Promise.all([traceInThread(record, job), traceInThread(record, job)]);
  expect(first).toMatchObject({ route: "GET /vm/instances/:id", status: 200 });
  expect(second).toBeUndefined();
  expect(await traceInThread(record, job)).toMatchObject({ status: 200 });
}, 60_000);

test("fails if the thread fails, and can be used again", async () => {
  const files = { directory: "", files: [] };
  await expect(traceInThread(record, { ...job, files })).rejects.toThrow(/pack\.yaml/);
  expect(await traceInThread(record, job)).toMatchObject({ status: 200 });
}, 60_000);
