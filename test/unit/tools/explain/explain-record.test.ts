/** Why is this field like that? Every answer of the packs' examples, explained (lesson L32). */
import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import type { AuditRecord } from "../../../../src/audit/record.ts";
import { explainRecord } from "../../../../src/tools/explain/explain-record.ts";
import type { ExplainedField } from "../../../../src/tools/explain/explanation.ts";
import { loadPack } from "../../../../src/mapping/load/load-pack.ts";
import { sampleRecord } from "../../../integration/audit/sample-record.ts";
import { exampleRecords } from "./example-records.ts";

const pack = loadPack("mappings");
const records = await exampleRecords("mappings", pack);
const library = loadPack("test/fixtures/library-pack");

function recordCalled(title: string): AuditRecord {
  const found = records.find(([name]) => name === title);
  if (!found) throw new Error(`there is no example "${title}"`);
  return found[1];
}

const fieldsOf = async (title: string): Promise<Map<string, ExplainedField>> =>
  new Map((await explainRecord(recordCalled(title), pack)).answer.map((field) => [field.field, field]));

/** Every place of a body where something stands that is no object with members. */
function leaves(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [at];
  const members = Array.isArray(value)
    ? value.map((item, index) => [`${at}[${index}]`, item] as const)
    : Object.entries(value).map(([name, item]) => [at === "" ? name : `${at}.${name}`, item] as const);
  return members.length === 0 ? [at] : members.flatMap(([place, item]) => leaves(item, place));
}

const covers = (field: string, leaf: string): boolean =>
  leaf === field || leaf.startsWith(`${field}.`) || leaf.startsWith(`${field}[`);

describe.each([
  ["mappings", pack, records],
  ["test/fixtures/library-pack", library, await exampleRecords("test/fixtures/library-pack", library)],
] as const)("explaining the examples of %s", (_folder, itsPack, itsRecords) => {
  const answered = itsRecords.filter(([, { alpha }]) => alpha.status === 200);

  test.each(answered)("each field of the response has its rule: %s", async (_title, record) => {
    const { answer, note } = await explainRecord(record, itsPack);
    const { response, route } = record.alpha;
    const list = itsPack.route(route ?? "")?.list;
    const unexplained = leaves(response).filter((leaf) => !answer.some(({ field }) => covers(field, leaf)));
    // An empty list has no rows, and an answer without members nothing, to explain.
    const nothing = new Set([list, ""]);
    // Where nothing of an answer can be told, it is said why.
    expect(answer.length > 0 ? unexplained.filter((leaf) => !nothing.has(leaf)) : []).toEqual([]);
    expect(answer.length > 0 || note !== null || leaves(response).every((leaf) => nothing.has(leaf))).toBe(
      true,
    );
    expect(new Set(answer.map(({ field }) => field)).size).toBe(answer.length);
  });

  test.each(answered)("a field of class same has v4's value: %s", async (_title, record) => {
    const { answer } = await explainRecord(record, itsPack);
    const same = answer.filter(
      (field) => field.class === "same" && field.v4.value !== undefined && !/time|nothing/.test(field.rule),
    );
    expect(same.map(({ value }) => value)).toEqual(same.map(({ v4 }) => v4.value));
  });
});

describe("explaining an instance with its backups", () => {
  const title = "Backups are on: the newest good ones are shown";

  test.each([
    ["id", "same", { call: "GET /v4/vm/instances/5201", field: "id", value: 5201 }, "as v4 has it"],
    [
      "status",
      "value",
      { field: "status", value: "running" },
      "as v4 has it, through the values of vm_status",
    ],
    [
      "datacenter",
      "expanded",
      { field: "region", value: "us-east" },
      "from region, shown whole out of the catalog datacenter",
    ],
    [
      "total_transfer",
      "composed",
      { call: "GET /v4/vm/instances/5201/transfer", field: "used", value: 0 },
      "made by $floor($with.transfer.used / 1073741824)",
    ],
    [
      "alerts.transfer_in",
      "value",
      { field: "alerts.network_in", value: 10 },
      "from alerts.network_in, through the values of alert",
    ],
    [
      "backups.snapshot",
      "composed",
      { call: "GET /v4/vm/instances/5201/backups", field: null },
      expect.stringContaining("shown as backup"),
    ],
  ])("explains %s as %s", async (name, kind, v4, rule) => {
    expect((await fieldsOf(title)).get(name)).toMatchObject({ class: kind, v4, rule });
  });

  test("omits a related request that was not sent", async () => {
    const record = recordCalled(title);
    const { answer } = await explainRecord({ ...record, v4: record.v4.slice(0, 1) }, pack);
    expect(answer.find(({ field }) => field === "total_transfer")?.v4).toEqual({ call: null, field: null });
  });

  test("lists losses with their reasons", async () => {
    const fields = await fieldsOf(title);
    expect(fields.get("total_transfer")?.loss).toBe("a part of a GB; 0 in lists");
    expect(fields.get("id")?.loss).toBeNull();
  });
});

test("rows of a list are explained each with its v4 row, and the envelope separately", async () => {
  const [, record] =
    records.find(
      ([, { alpha }]) => alpha.route === "GET /vm/instances" && leaves(alpha.response).includes("vms[1].id"),
    ) ?? [];
  const { answer } = await explainRecord(record as AuditRecord, pack);
  const named = new Map(answer.map((field) => [field.field, field]));
  expect(named.get("vms[1].id")?.v4.field).toBe("data[1].id");
  expect(named.get("total_pages")).toMatchObject({ class: "renamed", v4: { field: "pages" } });
});

test("a body is explained by what each member became and what the gateway added", async () => {
  const [, record] =
    records.find(([, { alpha }]) => alpha.route === "POST /vm/instances" && alpha.status === 200) ?? [];
  const { body } = await explainRecord(record as AuditRecord, pack);
  const fields = new Map(body?.fields.map((field) => [field.field, field]));
  expect(fields.get("datacenter")).toMatchObject({ class: "expanded", v4: { field: "region" } });
  expect(body?.added).toContain("booted");
});

test("an error of v4 is explained with v4's field name, one of the gateway has none", async () => {
  const errors = await Promise.all(
    records
      .filter(([, { alpha }]) => alpha.status !== 200)
      .map(async ([, record]) => ({ record, ...(await explainRecord(record, pack)) })),
  );
  const all = errors.flatMap(({ record, errors: found }) => found.map((error) => ({ record, error })));
  expect(all.length).toBeGreaterThan(50);
  const own = all.filter(({ record }) => record.v4.every(({ status }) => status === 200));
  expect(own.map(({ error }) => error.v4)).toEqual(own.map(() => null));
  expect(all.filter(({ error }) => error.v4?.field !== null && error.v4 !== null).length).toBeGreaterThan(5);
});

describe("an incomplete explanation has a reason", () => {
  const whole = recordCalled("Backups are on: the newest good ones are shown");
  const cut = { truncated: true, bytes: 99_999, text: "{" };
  const [call] = whole.v4;

  test.each<[string, Partial<AuditRecord>, RegExp]>([
    ["native lane", { lane: "native" }, /forwarded untouched/],
    ["no route", { alpha: { ...whole.alpha, route: null } }, /No route/],
    ["a route that is gone", { alpha: { ...whole.alpha, route: "GET /gone" } }, /no such route any more/],
    ["no bodies", { alpha: { ...sampleRecord("x").alpha, response: undefined } }, /AUDIT=metadata/],
    ["a cut answer", { alpha: { ...whole.alpha, response: cut } }, /too long/],
    [
      "a cut answer of v4",
      { v4: [{ ...(call as never as AuditRecord["v4"][0]), response: cut }] },
      /v4's answer was too long/,
    ],
    ["no call", { v4: [] }, /no call/],
  ])("%s", async (_case, change, note) => {
    const { note: said, answer } = await explainRecord({ ...whole, ...change }, pack);
    expect(said).toMatch(note);
    expect(answer).toEqual([]);
  });

  test("a response from a catalog names the catalog's request", async () => {
    const [, record] =
      records.find(([, { alpha }]) => alpha.route === "GET /datacenters" && alpha.filter === null) ?? [];
    const { note, answer } = await explainRecord(record as AuditRecord, pack);
    expect(note).toMatch(/copy of the catalog/);
    expect(answer[0]).toMatchObject({ field: "datacenters[0].id", v4: { call: "GET /v4/regions" } });
  });
});

test("explaining any recorded body does not throw", async () => {
  const names = pack.routes.map(({ name }) => name);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.constantFrom(...records.map(([, record]) => record)),
      fc.jsonValue(),
      fc.jsonValue(),
      async (route, whole, answer, response) => {
        const alpha = { ...whole.alpha, route, status: 200, response: answer, body: response };
        const v4 = whole.v4.map((call) => ({ ...call, response, body: answer }));
        expect(await explainRecord({ ...whole, alpha, v4 }, pack)).toMatchObject({ route });
      },
    ),
    { numRuns: 500 },
  );
});
