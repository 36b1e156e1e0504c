/**
 * Filters. What a filter selects is compared with the same condition applied to the whole list
 * as alpha shows it, so that a filter that v4 understands differently can't pass.
 */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { fetchAllRows, type Json } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

interface Row extends Json {
  readonly id: number;
  readonly label: string;
  readonly group: string;
  readonly ipv4: string[];
  readonly datacenter: { id: string };
  readonly distribution: { id: string } | null;
}

const gateway = startForTests(() => startGateway());
let vms: Row[];
beforeAll(async () => {
  vms = (await fetchAllRows(gateway, "GET /vm/instances", "vms")) as Row[];
});

const ids = (rows: readonly Json[]): unknown[] => rows.map(({ id }) => id);
const newark = ({ datacenter }: Row): boolean => datacenter.id === "newark";

/** What of the filters below v4 says otherwise. */
const inV4 = (filter: Json): Json =>
  JSON.parse(
    JSON.stringify(filter)
      .replaceAll('"datacenter":"newark"', '"region":"us-east"')
      .replaceAll('"datacenter":"london"', '"region":"eu-west"'),
  );

/** Without `v4` the filter is forwarded unchanged. */
type Case = readonly [name: string, filter: Json, picks: (row: Row) => boolean, v4?: Json];

const cases: readonly Case[] = [
  [
    "A-020 equality with a string",
    { label: "api-01" },
    ({ label }) => label === "api-01",
    { label: "api-01" },
  ],
  ["A-020 equality with a number", { id: 5210 }, ({ id }) => id === 5210],
  ["A-020 equality with the empty string", { group: "" }, ({ group }) => group === ""],
  ["A-020 a field that v4 calls otherwise", { datacenter: "newark" }, newark, { region: "us-east" }],
  [
    "A-020 the id of a region that has no datacenter id",
    { datacenter: "ca-central" },
    ({ datacenter }) => datacenter.id === "ca-central",
    { region: "ca-central" },
  ],
  [
    "A-020 null, where no distribution and a private image are shown alike",
    { distribution: null },
    ({ distribution }) => distribution === null,
    { "+or": [{ image: null }, { image: { "+contains": "private/" } }] },
  ],
  [
    "A-020 null beside other conditions",
    { "+or": [{ distribution: null }, { datacenter: "newark" }] },
    (row) => row.distribution === null || newark(row),
    {
      "+or": [{ "+or": [{ image: null }, { image: { "+contains": "private/" } }] }, { region: "us-east" }],
    },
  ],
  [
    "A-020 a distribution",
    { distribution: "vm/arch" },
    ({ distribution }) => distribution?.id === "vm/arch",
    { image: "vm/arch" },
  ],
  [
    "A-020 one of several addresses",
    { ipv4: "192.168.148.84" },
    ({ ipv4 }) => ipv4.includes("192.168.148.84"),
  ],
  ["A-020 nothing at all", {}, () => true],
  [
    "A-021 two keys are ANDed",
    { datacenter: "newark", group: "shop" },
    (row) => newark(row) && row.group === "shop",
    { region: "us-east", group: "shop" },
  ],
  [
    "A-021 three keys are ANDed",
    { id: { "+gt": 5207 }, datacenter: "newark", group: { "+neq": "mail" } },
    (row) => row.id > 5207 && newark(row) && row.group !== "mail",
  ],
  [
    "A-022 +and",
    { "+and": [{ id: { "+gte": 5210 } }, { id: { "+lt": 5240 } }, { datacenter: "newark" }] },
    (row) => row.id >= 5210 && row.id < 5240 && newark(row),
  ],
  [
    "A-022 +or",
    { "+or": [{ datacenter: "newark" }, { label: "api-01" }] },
    (row) => newark(row) || row.label === "api-01",
  ],
  ["A-022 +or of one", { "+or": [{ group: "shop" }] }, ({ group }) => group === "shop"],
  ["A-022 +or of none", { "+or": [] }, () => false],
  ["A-022 +and of none", { "+and": [] }, () => true],
  [
    "A-022 +or beside a key",
    { group: "shop", "+or": [{ datacenter: "newark" }, { datacenter: "london" }] },
    (row) => row.group === "shop" && (newark(row) || row.datacenter.id === "london"),
  ],
  [
    "A-022 keys of one member of +or are ANDed",
    { "+or": [{ datacenter: "newark", group: "shop" }, { id: 5201 }] },
    (row) => (newark(row) && row.group === "shop") || row.id === 5201,
  ],
  ["A-023 +gt", { id: { "+gt": 5230 } }, ({ id }) => id > 5230, { id: { "+gt": 5230 } }],
  ["A-023 +gte", { id: { "+gte": 5230 } }, ({ id }) => id >= 5230],
  ["A-023 +lt", { id: { "+lt": 5230 } }, ({ id }) => id < 5230],
  ["A-023 +lte", { id: { "+lte": 5230 } }, ({ id }) => id <= 5230],
  [
    "A-023 two bounds",
    { id: { "+gt": 5205, "+lte": 5230 } },
    ({ id }) => id > 5205 && id <= 5230,
    { "+and": [{ id: { "+gt": 5205 } }, { id: { "+lte": 5230 } }] },
  ],
  ["A-023 a fraction", { id: { "+gt": 5230.5 } }, ({ id }) => id > 5230],
  ["A-024 +contains", { label: { "+contains": "api" } }, ({ label }) => label.includes("api")],
  [
    "A-024 +contains is not about the beginning",
    { label: { "+contains": "-1" } },
    ({ label }) => label.includes("-1"),
  ],
  [
    "A-024 +contains on the addresses",
    { ipv4: { "+contains": "192.168." } },
    ({ ipv4 }) => ipv4.some((one) => one.includes("192.168.")),
  ],
  ["A-024 +contains that nothing does", { label: { "+contains": "zz" } }, () => false],
  ["A-025 +neq", { group: { "+neq": "shop" } }, ({ group }) => group !== "shop"],
  [
    "A-025 +neq of a value that is translated",
    { datacenter: { "+neq": "newark" } },
    (row) => !newark(row),
    { region: { "+neq": "us-east" } },
  ],
  [
    "A-029 +ne is +neq",
    { group: { "+ne": "shop" } },
    ({ group }) => group !== "shop",
    { group: { "+neq": "shop" } },
  ],
  [
    "A-030 operators nest, and names are translated at every depth",
    {
      "+or": [
        { "+and": [{ datacenter: "newark" }, { "+or": [{ group: "shop" }, { id: { "+lt": 5220 } }] }] },
        { distribution: "vm/arch" },
      ],
    },
    (row) => (newark(row) && (row.group === "shop" || row.id < 5220)) || row.distribution?.id === "vm/arch",
    {
      "+or": [
        { "+and": [{ region: "us-east" }, { "+or": [{ group: "shop" }, { id: { "+lt": 5220 } }] }] },
        { image: "vm/arch" },
      ],
    },
  ],
  [
    "A-030 ten levels",
    Array.from({ length: 9 }).reduce<Json>((inner) => ({ "+and": [inner, { group: { "+neq": "mail" } }] }), {
      datacenter: "newark",
    }),
    (row) => newark(row) && row.group !== "mail",
  ],
];

describe("a filter of instances", () => {
  test.each(cases.map(([name, filter, picks, v4 = inV4(filter)]) => [name, filter, picks, v4] as const))(
    "%s",
    async (_name, filter, picks, v4) => {
      gateway.takeV4Requests();
      const rows = await fetchAllRows(gateway, "GET /vm/instances", "vms", { filter });
      expect(ids(rows)).toEqual(ids(vms.filter(picks)));
      const [sent] = gateway.takeV4Requests();
      const header = sent?.headers["x-filter"];
      expect(header === undefined ? {} : JSON.parse(String(header))).toEqual(v4);
    },
  );

  test("each of the cases above selects some rows and omits others", () => {
    const selective = cases.filter(([, , picks]) => {
      const found = vms.filter(picks).length;
      return found > 0 && found < vms.length;
    });
    expect(selective.length).toBeGreaterThanOrEqual(cases.length - 4);
  });

  test("A-020 is not sent to v4 if the client sends none", async () => {
    gateway.takeV4Requests();
    await gateway.request("GET /vm/instances");
    expect(gateway.takeV4Requests()[0]?.headers["x-filter"]).toBeUndefined();
  });
});

describe("the order of instances", () => {
  const byLabel = (a: Row, b: Row): number => (a.label < b.label ? -1 : Number(a.label > b.label));

  test.each<[string, Json, (a: Row, b: Row) => number, Json]>([
    ["A-026 +order-by", { "+order-by": "label" }, byLabel, { "+order_by": "label" }],
    ["A-026 A-029 +order_by", { "+order_by": "label" }, byLabel, { "+order_by": "label" }],
    [
      "A-028 asc",
      { "+order-by": "label", "+order": "asc" },
      byLabel,
      { "+order_by": "label", "+order": "asc" },
    ],
    [
      "A-028 desc",
      { "+order-by": "label", "+order": "desc" },
      (a, b) => byLabel(b, a),
      { "+order_by": "label", "+order": "desc" },
    ],
    [
      "A-028 desc of a number",
      { "+order_by": "id", "+order": "desc" },
      (a, b) => b.id - a.id,
      { "+order_by": "id", "+order": "desc" },
    ],
  ])("%s", async (_name, filter, order, v4) => {
    gateway.takeV4Requests();
    const rows = await fetchAllRows(gateway, "GET /vm/instances", "vms", { filter });
    expect(ids(rows)).toEqual(ids(vms.toSorted(order)));
    expect(JSON.parse(String(gateway.takeV4Requests()[0]?.headers["x-filter"]))).toEqual(v4);
  });

  test("A-026 can be combined with a condition", async () => {
    const filter = { datacenter: "newark", "+order-by": "label", "+order": "desc" };
    const rows = await fetchAllRows(gateway, "GET /vm/instances", "vms", { filter });
    expect(rows.length).toBeGreaterThan(1);
    expect(ids(rows)).toEqual(ids(vms.filter(newark).toSorted((a, b) => byLabel(b, a))));
  });

  test("A-026 by distribution is by its id", async () => {
    const rows = (await fetchAllRows(gateway, "GET /vm/instances", "vms", {
      filter: { "+order-by": "distribution" },
    })) as Row[];
    const distributionIds = rows.flatMap(({ distribution }) => (distribution ? [distribution.id] : []));
    expect(distributionIds).toEqual(distributionIds.toSorted());
    expect(rows).toHaveLength(vms.length);
  });
});
