import { beforeAll, describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { errorFields, items, createTestSandbox, type Json, type TestSandbox } from "./sandbox-service.ts";

let v4: TestSandbox;
let all: Json[];
beforeAll(async () => {
  v4 = createTestSandbox({ instances: 100, rateLimit: { limit: 100_000, seconds: 1 } });
  all = await v4.list("/vm/instances");
});

const text = (item: Json, name: string): string => String(item[name]);
const list = (item: Json, name: string): string[] => item[name] as string[];
const id = (item: Json): number => Number(item.id);

type Case = readonly [name: string, filter: object, picks: (item: Json) => boolean];
const cases: readonly Case[] = [
  ["V-016 equality", { region: "us-east" }, (item) => item.region === "us-east"],
  ["V-016 equality with null", { image: null }, (item) => item.image === null],
  [
    "V-016 members are ANDed",
    { region: "us-east", group: "shop" },
    (item) => item.region === "us-east" && item.group === "shop",
  ],
  ["equality minds capitals", { group: "Shop" }, (item) => item.group === "Shop"],
  ["equality with another type picks nothing", { id: "5201" }, () => false],
  ["an array field matches by one element", { tags: "prod" }, (item) => list(item, "tags").includes("prod")],
  ["V-020 +gt", { id: { "+gt": 5250 } }, (item) => id(item) > 5250],
  ["V-020 V-026 +gte", { id: { "+gte": 5250 } }, (item) => id(item) >= 5250],
  ["V-020 +lt", { id: { "+lt": 5250 } }, (item) => id(item) < 5250],
  ["V-020 +lte", { id: { "+lte": 5250 } }, (item) => id(item) <= 5250],
  [
    "several operators of a field are ANDed",
    { id: { "+gt": 5210, "+lt": 5220 } },
    (item) => id(item) > 5210 && id(item) < 5220,
  ],
  ["V-021 +contains", { label: { "+contains": "web" } }, (item) => text(item, "label").includes("web")],
  ["V-021 +contains minds capitals", { label: { "+contains": "WEB" } }, () => false],
  [
    "+contains in one element of an array",
    { ipv4: { "+contains": "192.168." } },
    (item) => list(item, "ipv4").some((address) => address.includes("192.168.")),
  ],
  ["V-022 +neq", { region: { "+neq": "us-east" } }, (item) => item.region !== "us-east"],
  ["V-022 +neq null", { image: { "+neq": null } }, (item) => item.image !== null],
  ["+neq of an array field", { tags: { "+neq": "prod" } }, (item) => !list(item, "tags").includes("prod")],
  [
    "V-019 +or",
    { "+or": [{ region: "us-east" }, { group: "mail" }] },
    (item) => item.region === "us-east" || item.group === "mail",
  ],
  [
    "V-019 +and",
    { "+and": [{ tags: "prod" }, { tags: "eu" }] },
    (item) => list(item, "tags").includes("prod") && list(item, "tags").includes("eu"),
  ],
  ["V-019 +or of nothing picks nothing", { "+or": [] }, () => false],
  ["V-019 +and of nothing picks all", { "+and": [] }, () => true],
  ["{} picks all", {}, () => true],
  [
    "V-029 the members of an object inside +or are ANDed",
    { "+or": [{ region: "us-east", group: "shop" }, { id: 5201 }] },
    (item) => (item.region === "us-east" && item.group === "shop") || id(item) === 5201,
  ],
  [
    "+or of one field, plain and with operators",
    { id: { "+or": [5201, { "+gte": 5290 }] } },
    (item) => id(item) === 5201 || id(item) >= 5290,
  ],
];

test.each(cases)("%s", async (_name, filter, picks) => {
  const response = await v4.request("GET /vm/instances", { filter });
  expect(response.status).toBe(200);
  expect(items(response).map(id)).toEqual(all.filter(picks).map(id));
});

test.each([["nothing is picked by accident", cases.filter(([, filter]) => Object.keys(filter).length > 0)]])(
  "%s: each of the cases above selects some rows and omits others",
  (_name, table) => {
    const selective = table.filter(([, , picks]) => {
      const found = all.filter(picks).length;
      return found > 0 && found < all.length;
    });
    expect(selective.length).toBeGreaterThanOrEqual(18);
  },
);

test("V-015 results and pages count the matching rows", async () => {
  const expected = all.filter((item) => id(item) >= 5231).length;
  const { body } = await v4.request("GET /vm/instances?page_size=25", {
    filter: { id: { "+gte": 5231 } },
  });
  expect(body).toMatchObject({ results: expected, pages: Math.ceil(expected / 25) });
});

test("V-020 date-times are compared by time", async () => {
  const events = await v4.list("/account/events");
  const middle = String(events[20]?.created);
  for (const [operator, count] of [
    ["+gt", 20],
    ["+gte", 21],
    ["+lt", events.length - 21],
    ["+lte", events.length - 20],
  ] as const) {
    const { body } = await v4.request("GET /account/events", {
      filter: { created: { [operator]: middle } },
    });
    expect([operator, body.results]).toEqual([operator, count]);
  }
});

test("nested members are named with a dot", async () => {
  const response = await v4.request("GET /account/events", {
    filter: { "entity.type": "vm", "entity.id": 5201 },
  });
  expect(items(response).length).toBeGreaterThan(0);
  for (const { entity } of items(response)) expect(entity).toMatchObject({ type: "vm", id: 5201 });
});

describe("order", () => {
  test.each([
    ["V-023 V-024 ascending by default", { "+order_by": "label" }, 1],
    ["V-024 asc", { "+order_by": "label", "+order": "asc" }, 1],
    ["V-024 desc", { "+order_by": "label", "+order": "desc" }, -1],
  ])("%s", async (_name, filter, sign) => {
    const labels = (await v4.list("/vm/instances", filter)).map((item) => text(item, "label"));
    const sorted = all.map((item) => text(item, "label")).sort((a, b) => sign * (a < b ? -1 : Number(a > b)));
    expect(labels).toEqual(sorted);
  });

  test("numbers are ordered numerically, also with a condition", async () => {
    const filter = { region: "us-east", "+order_by": "id", "+order": "desc" };
    const found = (await v4.list("/vm/instances", filter)).map(id);
    expect(found.length).toBeGreaterThan(1);
    expect(found).toEqual([...found].sort((a, b) => b - a));
  });
});

test.each([
  ["V-014 not JSON", "label"],
  ["V-014 not an object", "[]"],
  ["V-014 a string", '"label"'],
  ["V-014 null", "null"],
  ["V-014 empty", ""],
  ["V-017 a field that is not filterable", { status: "running" }],
  ["V-017 an unknown field", { nothing: 1 }],
  ["V-017 inside +or", { "+or": [{ status: "running" }] }],
  ["V-017 __proto__", '{"__proto__": 1}'],
  ["V-018 an unknown operator", { "+xor": [] }],
  ["V-018 alpha's +order-by", { "+order-by": "label" }],
  ["V-018 an unknown operator of a field", { label: { "+like": "a" } }],
  ["V-018 an operator from the prototype", { label: { constructor: "a" } }],
  ["V-018 no operator in a field", { label: {} }],
  ["V-023 +order_by of an unfilterable field", { "+order_by": "status" }],
  ["V-024 another +order", { "+order_by": "label", "+order": "up" }],
  ["V-025 +order alone", { "+order": "asc" }],
  ["order inside +and", { "+and": [{ "+order_by": "label" }] }],
  ["V-027 +and of an object", { "+and": { label: "a" } }],
  ["V-027 +or of plain values", { "+or": ["a"] }],
  ["V-027 +gt of a string", { id: { "+gt": "1" } }],
  ["V-027 +lte of null", { id: { "+lte": null } }],
  ["V-027 +gte of a date-time on another field", { label: { "+gte": "2022-01-01T00:00:00" } }],
  ["V-027 +contains of a number", { label: { "+contains": 1 } }],
  ["V-027 +neq of an object", { label: { "+neq": {} } }],
  ["V-027 +order_by of a number", { "+order_by": 1 }],
  ["a list as a value", { label: ["a"] }],
])("%s is 400 with the field X-Filter", async (_name, filter) => {
  const response = await v4.request("GET /vm/instances", { filter });
  expect(response.status).toBe(400);
  expect(new Set(errorFields(response))).toEqual(new Set(["X-Filter"]));
});

test("V-189 all errors of a filter are reported", async () => {
  const response = await v4.request("GET /vm/instances", {
    filter: { status: "a", "+xor": [], "+or": [{ nothing: 1 }, { id: { "+gt": "x" } }], "+order": "up" },
  });
  expect(errorFields(response)).toHaveLength(6);
});

type Condition = Readonly<Record<string, unknown>>;

/** The same expression read in the plainest way, for conditions of `+and`, `+or` and three fields. */
function holds(condition: Condition, item: Json): boolean {
  return Object.entries(condition).every(([name, value]) => {
    if (name === "+and") return (value as Condition[]).every((each) => holds(each, item));
    if (name === "+or") return (value as Condition[]).some((each) => holds(each, item));
    if (name === "tags") return list(item, name).includes(String(value));
    if (name === "id") return id(item) > Number((value as Json)["+gt"]);
    return item[name] === value;
  });
}

test("V-028 any nesting gives the result of the same boolean expression", async () => {
  const leaf = fc.oneof(
    fc.constantFrom("prod", "eu", "temp").map((tag) => ({ tags: tag })),
    fc.constantFrom("us-east", "eu-west").map((region) => ({ region })),
    fc.integer({ min: 5200, max: 5300 }).map((bound) => ({ id: { "+gt": bound } })),
  );
  const { filter } = fc.letrec<{ filter: Condition }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.record({ "+and": fc.array(tie("filter"), { maxLength: 3 }) }),
      fc.record({ "+or": fc.array(tie("filter"), { maxLength: 3 }) }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(filter, async (condition) => {
      const response = await v4.request("GET /vm/instances", { filter: condition });
      expect(items(response).map(id)).toEqual(all.filter((item) => holds(condition, item)).map(id));
    }),
    { numRuns: 60 },
  );
});

test.each([
  [190, 200],
  [1000, 400],
])("V-028 a filter of %i levels of +and gets %i", async (levels, status) => {
  const filter = `${'{"+and":['.repeat(levels)}{"id":5201}${"]}".repeat(levels)}`;
  expect((await v4.request("GET /vm/instances", { filter })).status).toBe(status);
});
