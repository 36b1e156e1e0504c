/** Why is this field like that? Every response of the packs' examples, explained (L-32). */
import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { explainRecord } from "../../../src/authoring/explain/explain-record.ts";
import type { ExplainedField } from "../../../src/compare/dry-run/explanation.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { exampleRecords } from "./example-records.ts";
import { packIn } from "../../support/packs.ts";

const pack = packIn("mappings");
const records = await exampleRecords("mappings", pack);
const library = packIn("examples/library/pack");

function recordCalled(title: string): AuditRecord {
  const found = records.find(([name]) => name === title);
  if (!found) throw new Error(`there is no example "${title}"`);
  return found[1];
}

const fieldsOf = async (title: string): Promise<Map<string, ExplainedField>> =>
  new Map((await explainRecord(recordCalled(title), pack)).answer.map((field) => [field.field, field]));

/** The paths of all values of a body that are not objects with members. */
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
  ["examples/library/pack", library, await exampleRecords("examples/library/pack", library)],
] as const)("explaining the examples of %s", (_folder, itsPack, itsRecords) => {
  const responded = itsRecords.filter(([, { alpha }]) => alpha.status === 200);

  test.each(responded)("L-32 each field of the response has its rule: %s", async (_title, record) => {
    const { answer: reply, note } = await explainRecord(record, itsPack);
    const { response, route } = record.alpha;
    const list = itsPack.route(route ?? "")?.list;
    const unexplained = leaves(response).filter((leaf) => !reply.some(({ field }) => covers(field, leaf)));
    // An empty list has no rows, and a response without members nothing, to explain.
    const nothing = new Set([list, ""]);
    // Without fields there is a reason.
    expect(reply.length > 0 ? unexplained.filter((leaf) => !nothing.has(leaf)) : []).toEqual([]);
    expect(reply.length > 0 || note !== null || leaves(response).every((leaf) => nothing.has(leaf))).toBe(
      true,
    );
    expect(new Set(reply.map(({ field }) => field)).size).toBe(reply.length);
  });

  test.each(responded)("T-1.1 a field of class same has v4's value: %s", async (_title, record) => {
    const { answer: response } = await explainRecord(record, itsPack);
    const same = response.filter(
      (field) => field.class === "same" && field.v4.value !== undefined && !/time|no value/.test(field.rule),
    );
    expect(same.map(({ value }) => value)).toEqual(same.map(({ v4 }) => v4.value));
  });
});

describe("explaining an instance with its backups", () => {
  const title = "Backups are on: the newest good ones are shown";

  test.each([
    ["id", "same", { call: "GET /v4/vm/instances/5201", field: "id", value: 5201 }, "the same name"],
    [
      "status",
      "value",
      { field: "status", value: "running" },
      "the same name, mapped by the value table vm_status",
    ],
    [
      "datacenter",
      "expanded",
      { field: "region", value: "us-east" },
      "from region, expanded to the entry of the catalog datacenter",
    ],
    [
      "total_transfer",
      "composed",
      { call: "GET /v4/vm/instances/5201/transfer", field: "used", value: 0 },
      "computed by $floor($calls.transfer.used / 1073741824)",
    ],
    [
      "alerts.transfer_in",
      "value",
      { field: "alerts.network_in", value: 10 },
      "from alerts.network_in, mapped by the value table alert",
    ],
    [
      "backups.snapshot",
      "composed",
      { call: "GET /v4/vm/instances/5201/backups", field: null },
      expect.stringContaining("as the object backup"),
    ],
  ])("explains %s as %s", async (name, kind, v4, rule) => {
    expect((await fieldsOf(title)).get(name)).toMatchObject({ class: kind, v4, rule });
  });

  test("a related request that was not sent is not a source", async () => {
    const record = recordCalled(title);
    const { answer: response } = await explainRecord({ ...record, v4: record.v4.slice(0, 1) }, pack);
    expect(response.find(({ field }) => field === "total_transfer")?.v4).toEqual({ call: null, field: null });
  });

  test("a loss that the record has is shown with its reason, and no other", async () => {
    const loss = "total_transfer: a part of a GB; 0 in lists";
    const { answer: response } = await explainRecord({ ...recordCalled(title), losses: [loss] }, pack);
    expect(response.filter((field) => field.loss !== null)).toMatchObject([
      { field: "total_transfer", loss: "a part of a GB; 0 in lists" },
    ]);
    expect([...(await fieldsOf(title)).values()].filter((field) => field.loss !== null)).toEqual([]);
  });
});

test("each row of a list is explained with its v4 row, and the counts with those of v4", async () => {
  const [, record] =
    records.find(
      ([, { alpha }]) => alpha.route === "GET /vm/instances" && leaves(alpha.response).includes("vms[1].id"),
    ) ?? [];
  const { answer: response } = await explainRecord(record as AuditRecord, pack);
  const named = new Map(response.map((field) => [field.field, field]));
  expect(named.get("vms[1].id")?.v4.field).toBe("data[1].id");
  expect(named.get("total_pages")).toMatchObject({ class: "renamed", v4: { field: "pages" } });
});

test("a body is explained by its members, and by the members that the gateway added", async () => {
  const [, record] =
    records.find(([, { alpha }]) => alpha.route === "POST /vm/instances" && alpha.status === 200) ?? [];
  const { body } = await explainRecord(record as AuditRecord, pack);
  const fields = new Map(body?.fields.map((field) => [field.field, field]));
  expect(fields.get("datacenter")).toMatchObject({ class: "expanded", v4: { field: "region" } });
  expect(body?.added).toContain("booted");
});

test("an error of v4 has the name of the field in v4, and an error of the gateway has none", async () => {
  const errors = await Promise.all(
    records
      .filter(([, { alpha }]) => alpha.status !== 200)
      .map(async ([, record]) => ({ record, ...(await explainRecord(record, pack)) })),
  );
  const all = errors.flatMap(({ record, errors: found }) => found.map((error) => ({ record, error })));
  expect(all.length).toBeGreaterThan(50);
  const ownValue = all.filter(({ record }) => record.v4.every(({ status }) => status === 200));
  expect(ownValue.map(({ error }) => error.v4)).toEqual(ownValue.map(() => null));
  expect(all.filter(({ error }) => error.v4?.field !== null && error.v4 !== null).length).toBeGreaterThan(5);
});

describe("an incomplete explanation says why", () => {
  const whole = recordCalled("Backups are on: the newest good ones are shown");
  const truncated = { truncated: true, bytes: 99_999, text: "{" };
  const [call] = whole.v4;

  test.each<[string, Partial<AuditRecord>, RegExp]>([
    ["a native request", { lane: "native" }, /forwarded unchanged/],
    ["no route", { alpha: { ...whole.alpha, route: null } }, /No route/],
    [
      "a route that was removed",
      { alpha: { ...whole.alpha, route: "GET /gone" } },
      /no longer has this route/,
    ],
    ["no bodies", { alpha: { ...sampleRecord("x").alpha, response: undefined } }, /AUDIT=metadata/],
    ["a truncated response", { alpha: { ...whole.alpha, response: truncated } }, /too long/],
    [
      "a truncated response of v4",
      { v4: [{ ...(call as never as AuditRecord["v4"][0]), response: truncated }] },
      /response of the upstream was too long/,
    ],
    ["no upstream request", { v4: [] }, /no upstream request/],
  ])("%s", async (_case, change, note) => {
    const { note: explainedNote, answer: response } = await explainRecord({ ...whole, ...change }, pack);
    expect(explainedNote).toMatch(note);
    expect(response).toEqual([]);
  });

  test("a response from a catalog names the v4 request of the catalog", async () => {
    const [, record] =
      records.find(([, { alpha }]) => alpha.route === "GET /datacenters" && alpha.filter === null) ?? [];
    const { note, answer: response } = await explainRecord(record as AuditRecord, pack);
    expect(note).toMatch(/catalog cache/);
    expect(response[0]).toMatchObject({ field: "datacenters[0].id", v4: { call: "GET /v4/regions" } });
  });
});

test("a record with any bodies can be explained", async () => {
  const names = pack.routes.map(({ name }) => name);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.constantFrom(...records.map(([, record]) => record)),
      fc.jsonValue(),
      fc.jsonValue(),
      async (route, whole, reply, response) => {
        const alpha = { ...whole.alpha, route, status: 200, response: reply, body: response };
        const v4 = whole.v4.map((call) => ({ ...call, response, body: reply }));
        expect(await explainRecord({ ...whole, alpha, v4 }, pack)).toMatchObject({ route });
      },
    ),
    { numRuns: 500 },
  );
});
