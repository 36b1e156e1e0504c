/** Filters and sorting in the query or in a header, on either side. */
import { describe, expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { parseJson } from "../../../src/base/json/parse.ts";
import { PackError } from "../../../src/base/files/diagnostic.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";

const HEADER = {
  header: "X-Find",
  operators: {
    and: "$and",
    or: "$or",
    gte: "$gte",
    neq: "$ne",
    contains: "$has",
    order_by: "$by",
    order: "$dir",
    search: "$text",
  },
};
const QUERY = {
  parameter: "{field}",
  operators: { gte: "{field}[gte]", neq: "{field}[ne]", contains: "{field}[has]", search: "q" },
  in: { parameter: "{field}", multiple: "comma" },
  sort: { parameter: "sort" },
};

interface Changes {
  readonly client?: object;
  readonly upstream?: object;
  readonly resource?: object;
  readonly route?: object;
}

/** Writes a pack with filters, and passes its folder on. */
function withFilters<T>({ client, upstream, resource, route }: Changes, use: (folder: string) => T): T {
  const folder = temporaryFolder();
  const pack = {
    format: 2,
    client: { ...(client && { filters: client }), pagination: { page: { parameter: "page" }, size: 5 } },
    upstream: upstream && { filters: upstream },
    values: {
      state: { read: { O: "open", C: "closed", X: "closed" } },
      cents: { read: "$value / 100", write: "$round($value * 100)", keeps_order: true },
      grade: { read: { a: "high", b: "high", d: "low", e: "low" } },
      mood: { read: { G: "good", B: "bad" }, otherwise: "bad" },
      place: {
        read: { "us-east": "newark", "us-east-2": "newark", "old-1": "newark", "us-west": "fremont" },
      },
    },
  };
  const thing = {
    object: "thing",
    list: "things",
    fields: {
      id: { upstream: "key", type: "integer", filter: true },
      state: { upstream: "status", values: "state", filter: true },
      price: { upstream: "amount", values: "cents", type: "number", filter: true },
      born: { upstream: "created", format: "date-time", filter: true },
      owned: { upstream: "has_owner", type: "boolean", filter: true },
      name: { upstream: "label", filter: true },
      city: { upstream: "address.town", filter: "town" },
      grade: { upstream: "grade", values: "grade", filter: true },
      note: "note",
    },
    routes: [{ client: "GET /things", upstream: "GET /items", response: "list", ...route }],
    ...resource,
  };
  writeFileSync(join(folder, "pack.yaml"), stringify({ ...pack, upstream: pack.upstream ?? {} }));
  writeFileSync(join(folder, "thing.yaml"), stringify(thing));
  return use(folder);
}

/** The messages of `check`. */
const problemsOf = (changes: Changes): string[] =>
  withFilters(changes, (folder) => {
    try {
      loadPack(folder);
      return [];
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      return error.diagnostics.map(({ message }) => message);
    }
  });

/** What the upstream got, or the client's error. */
async function list(changes: Changes, query: string, header?: unknown, rows: readonly object[] = []) {
  const pack = withFilters(changes, (folder) => loadPack(folder));
  const sent: { path: string; filter: unknown }[] = [];
  const run = createDryRun(pack, {
    async call({ path, headers }) {
      const filter = headers["x-find"];
      sent.push({ path: decodeURIComponent(path), filter: filter && JSON.parse(filter) });
      return { status: 200, headers: {}, bytes: Buffer.from(JSON.stringify(rows)), ms: 0 };
    },
    close: async () => {},
  });
  await run.catalogs.refresh();
  const headers = header === undefined ? {} : { "X-Find": JSON.stringify(header) };
  const { response, context } = await run.send({ method: "GET", path: `/things${query}`, headers });
  run.catalogs.stop();
  const body = JSON.parse(response.body) as { message?: string };
  return { status: response.status, message: body.message, body, sent, ignored: context.ignoredParameters };
}

describe("a filter has the same meaning", () => {
  // name | in a client's query | in a client's header | in the upstream's query | in the upstream's header
  test.each([
    ["an integer", "?id=5", { id: 5 }, "?key=5", { key: 5 }],
    ["a boolean", "?owned=true", { owned: true }, "?has_owner=true", { has_owner: true }],
    ["text with a separator", "?name=a%26b%3D1", { name: "a&b=1" }, "?label=a&b=1", { label: "a&b=1" }],
    ["a value of a table", "?state=open", { state: "open" }, "?status=O", { status: "O" }],
    [
      "a value with two upstream values",
      "?state=closed",
      { state: "closed" },
      "?status=C,X",
      { $or: [{ status: "C" }, { status: "X" }] },
    ],
    [
      "several values",
      "?name=a,b",
      { $or: [{ name: "a" }, { name: "b" }] },
      "?label=a,b",
      { $or: [{ label: "a" }, { label: "b" }] },
    ],
    [
      "a comparison of a converted value",
      "?price[gte]=1.5",
      { price: { $gte: 1.5 } },
      "?amount[gte]=150",
      { amount: { $gte: 150 } },
    ],
    [
      "a time",
      "?born[gte]=2020-01-01T00:00:00Z",
      { born: { $gte: "2020-01-01T00:00:00Z" } },
      "?created[gte]=2020-01-01T00:00:00",
      { created: { $gte: "2020-01-01T00:00:00" } },
    ],
    ["a field with another name in filters", "?city=Bath", { city: "Bath" }, "?town=Bath", { town: "Bath" }],
    ["an operator", "?name[ne]=a", { name: { $ne: "a" } }, "?label[ne]=a", { label: { $ne: "a" } }],
    [
      "two conditions",
      "?name[has]=a&id[gte]=7",
      { name: { $has: "a" }, id: { $gte: 7 } },
      "?label[has]=a&key[gte]=7",
      { label: { $has: "a" }, key: { $gte: 7 } },
    ],
    [
      "a descending order",
      "?sort=-name",
      { $by: "name", $dir: "desc" },
      "?sort=-label",
      { $by: "label", $dir: "desc" },
    ],
    [
      "an order by a converted value",
      "?sort=price",
      { $by: "price", $dir: "asc" },
      "?sort=amount",
      { $by: "amount", $dir: "asc" },
    ],
    ["a search", "?q=blue%20socks", { $text: "blue socks" }, "?q=blue socks", { $text: "blue socks" }],
    ["nothing", "", {}, "", undefined],
  ])("%s, in all four combinations", async (_name, query, header, upstreamQuery, upstreamHeader) => {
    const sent = [
      await list({ client: QUERY, upstream: QUERY }, query),
      await list({ client: HEADER, upstream: QUERY }, "", header),
      await list({ client: QUERY, upstream: HEADER }, query),
      await list({ client: HEADER, upstream: HEADER }, "", header),
    ].map(({ sent: [call], message }) => call ?? message);
    const inQuery = { path: `/items${upstreamQuery}`, filter: undefined };
    const inHeader = { path: "/items", filter: upstreamHeader };
    expect(sent).toEqual([inQuery, inQuery, inHeader, inHeader]);
  });
});

test("an id of a catalog that several upstream ids have selects the objects of all of them, but not hidden ones", async () => {
  const resource = {
    catalog: {
      upstream: [{ request: "GET /places" }],
      ids: "place",
      accepts: { "new-york": "us-east-2" },
      hidden_prefix: "old-",
      stub: '{ "id": $name }',
    },
    fields: { id: "id", place: { upstream: "place_id", catalog: "thing", filter: true } },
  };
  const sentFor = async (upstream: object, filter: object) =>
    (await list({ client: HEADER, upstream, resource }, "", filter)).sent.at(-1);
  const inQuery = await sentFor(QUERY, { place: "newark" });
  expect(inQuery?.path).toBe("/items?place_id=us-east,us-east-2");
  expect((await sentFor(QUERY, { place: "new-york" }))?.path).toBe("/items?place_id=us-east-2,us-east");
  expect((await sentFor(QUERY, { place: "fremont" }))?.path).toBe("/items?place_id=us-west");
  const both = [{ place_id: "us-east" }, { place_id: "us-east-2" }];
  expect((await sentFor(HEADER, { place: "newark" }))?.filter).toEqual({ $or: both });
  expect((await sentFor(HEADER, { place: { $ne: "newark" } }))?.filter).toEqual({
    $and: both.map(({ place_id }) => ({ place_id: { $ne: place_id } })),
  });
});

test("a filter has the value of responses where a body has another one", async () => {
  const resource = { fields: { name: { upstream: "label", write: "$uppercase($value)", filter: true } } };
  const { sent } = await list({ client: QUERY, upstream: QUERY, resource }, "?name=a&sort=name");
  expect(sent[0]?.path).toBe("/items?label=a&sort=label");
});

describe("orders in a query", () => {
  test.each([
    ["several, with commas", { parameter: "sort", multiple: "comma" }, "sort=name,-id", "sort=label,-key"],
    [
      "several, repeated, with a direction each",
      { parameter: "sort", ascending: "{field},asc", descending: "{field},desc", multiple: "repeat" },
      "sort=name,desc&sort=id,asc",
      "sort=label,desc&sort=key,asc",
    ],
    [
      "a direction after a colon",
      { parameter: "sort", ascending: "{field}:a", descending: "{field}:d" },
      "sort=name:d",
      "sort=label:d",
    ],
    ["an empty one", { parameter: "sort" }, "sort=", ""],
  ])("%s", async (_name, sort, query, expected) => {
    const filters = { ...QUERY, sort };
    const { sent } = await list({ client: filters, upstream: filters }, `?${query}`);
    expect(sent[0]?.path).toBe(`/items${expected && `?${expected}`}`);
  });

  test("become one another", async () => {
    const words = {
      ...QUERY,
      sort: { parameter: "by", ascending: "{field},up", descending: "{field},down" },
    };
    const minus = await list({ client: QUERY, upstream: words }, "?sort=-name");
    expect(minus.sent[0]?.path).toBe("/items?by=label,down");
    const named = await list({ client: words, upstream: QUERY }, "?by=name,down");
    expect(named.sent[0]?.path).toBe("/items?sort=-label");
  });

  test.each([
    ["several where the upstream has one", "sort=name,id", "A list can be ordered by one field only."],
    ["an unknown field", "sort=size", "size cannot be ordered by."],
    ["a field whose values have another order", "sort=state", "state cannot be ordered by."],
  ])("%s are a 400", async (_name, query, message) => {
    const several = { ...QUERY, sort: { parameter: "sort", multiple: "comma" } };
    const result = await list({ client: several, upstream: QUERY }, `?${query}`);
    expect(result).toMatchObject({ status: 400, message, sent: [] });
  });
});

describe("the value of all other upstream values", () => {
  const fields = { id: "key", mood: { upstream: "temper", values: "mood", filter: true } };

  test.each([
    [HEADER, "", { mood: "bad" }],
    [HEADER, "", { mood: { $ne: "bad" } }],
    [QUERY, "?mood=bad", undefined],
    [QUERY, "?mood=good,bad", undefined],
  ])("is a 400 in a filter: %#", async (client, query, header) => {
    for (const upstream of [HEADER, QUERY])
      expect(await list({ client, upstream, resource: { fields } }, query, header)).toMatchObject({
        status: 400,
        message: "mood cannot be compared with this value.",
        sent: [],
      });
  });

  test("can't be a default filter", () => {
    const route = {
      client: "GET /things",
      upstream: "GET /items",
      response: "list",
      default_filter: { mood: "bad" },
    };
    expect(problemsOf({ client: QUERY, upstream: QUERY, resource: { fields, routes: [route] } })).toEqual([
      "can't be translated: mood cannot be compared with this value.",
    ]);
  });

  test("selects all its rows in a list that the gateway filters itself", async () => {
    const route = {
      client: "GET /things",
      upstream: "GET /items",
      response: "list",
      aggregate: { max_items: 9 },
    };
    const rows = ["G", "B", "X"].map((temper, key) => ({ key, temper }));
    const { body } = await list(
      { client: QUERY, resource: { fields, routes: [route] } },
      "?mood=bad",
      undefined,
      rows,
    );
    expect(Object(body).map(({ id }: { id: number }) => id)).toEqual([1, 2]);
  });

  test("leaves filters by the other values as they are", async () => {
    const { sent } = await list({ client: QUERY, upstream: QUERY, resource: { fields } }, "?mood=good");
    expect(sent[0]?.path).toBe("/items?temper=G");
  });
});

describe("a filter that can't be translated exactly is a 400, and the upstream is not called", () => {
  const both = { client: QUERY, upstream: QUERY };
  test.each([
    ["a value that is not an integer", both, "?id=five", "id must be of type integer."],
    ["a number that would be rounded", both, "?id=9007199254740993", "id must be of type integer."],
    ["a decimal that would be rounded", both, "?price=9007199254740993.5", "price must be of type number."],
    ["a value that is not in the table", both, "?state=lost", "state must be one of open, closed."],
    ["a time that is invalid", both, "?born=yesterday", "born is compared with date-times only"],
    ["a comparison of text", both, "?name[gte]=m", "name is compared with numbers only."],
    ["a comparison of a table", both, "?state[gte]=open", "[gte] cannot be used on state."],
    ["a repeated parameter", both, "?name=a&name=b", "name is given more than once."],
    ["a repeated search", both, "?q=a&q=b", "q is given more than once."],
    ["a field without a filter", both, "?note=x", "note cannot be filtered by."],
    ["an operator on a field without a filter", both, "?note[gte]=x", "note cannot be filtered by."],
    ["an operator on an unknown field", both, "?size[gte]=5", "size cannot be filtered by."],
    [
      "an operator that the upstream lacks",
      { client: QUERY, upstream: { parameter: "{field}" } },
      "?name[ne]=a",
      "[ne] is not supported any more.",
    ],
    [
      "a search that the upstream lacks",
      { client: QUERY, upstream: { parameter: "{field}" } },
      "?q=a",
      "q is not supported any more.",
    ],
    [
      "several values that the upstream can't have",
      { client: QUERY, upstream: { parameter: "{field}" } },
      "?name=a,b",
      "or is not supported any more.",
    ],
    ["any filter, where the upstream has none", { client: QUERY }, "?name=a", "name cannot be compared with"],
    [
      "a comma that the upstream would read as a list",
      { client: { ...QUERY, in: undefined }, upstream: QUERY },
      "?name=a,b",
      "name cannot be compared with this value.",
    ],
  ])("%s", async (_name, changes, query, message) => {
    const result = await list(changes, query);
    expect(result).toMatchObject({ status: 400, message: expect.stringContaining(message), sent: [] });
  });

  test.each([
    ["a choice between fields", { $or: [{ name: "a" }, { id: 5 }] }, "conditions that cannot be combined"],
    ["a choice between operators", { $or: [{ id: { $gte: 5 } }, { id: 1 }] }, "cannot be combined"],
    ["two values of one field", { $and: [{ name: "a" }, { name: "b" }] }, "cannot be combined"],
    ["null", { name: null }, "name cannot be compared with this value."],
    ["not null", { name: { $ne: null } }, "name cannot be compared with this value."],
  ])("%s, for a query", async (_name, filter, message) => {
    const result = await list({ client: HEADER, upstream: QUERY }, "", filter);
    expect(result).toMatchObject({ status: 400, message: expect.stringContaining(message), sent: [] });
  });
});

describe.each(["comma", "repeat"])(
  "groups are flattened for a query with several values by %s",
  (multiple) => {
    const upstream = { ...QUERY, in: { parameter: "{field}", multiple } };
    const several = (...values: readonly string[]) =>
      multiple === "comma" ? `grade=${values.join(",")}` : values.map((value) => `grade=${value}`).join("&");

    test.each([
      ["a choice inside of a choice", { $or: [{ $or: [{ name: "a" }] }] }, "label=a"],
      [
        "values that have several upstream values",
        { $or: [{ grade: "high" }, { grade: "low" }] },
        several("a", "b", "d", "e"),
      ],
      [
        "a group of one condition",
        { $or: [{ $and: [{ grade: "high" }] }, { $or: [] }, { grade: "low" }] },
        several("a", "b", "d", "e"),
      ],
      [
        "a choice of one group",
        { $or: [{ $and: [{ name: "a" }, { id: { $gte: 5 } }] }] },
        "label=a&key[gte]=5",
      ],
      ["a choice of one object", { $or: [{ name: "a", id: 5 }] }, "label=a&key=5"],
    ])("%s", async (_name, filter, expected) => {
      const { sent, message } = await list({ client: HEADER, upstream }, "", filter);
      expect(sent[0]?.path ?? message).toBe(`/items?${expected}`);
    });

    test.each([
      [
        "a choice between groups of conditions",
        { $or: [{ $and: [{ name: "a" }, { id: 5 }] }, { $and: [{ name: "b" }, { id: 6 }] }] },
      ],
      [
        "a choice between fields inside of a choice",
        { $or: [{ $or: [{ name: "a" }, { id: 5 }] }, { name: "b" }] },
      ],
      ["a choice with a group that holds for every row", { $or: [{ $and: [] }, { name: "a" }] }],
      ["a choice without alternatives", { $or: [{ $or: [] }] }],
    ])("%s is a 400", async (_name, filter) => {
      const result = await list({ client: HEADER, upstream }, "", filter);
      const message = "The filter has conditions that cannot be combined.";
      expect(result).toMatchObject({ status: 400, message, sent: [] });
    });

    test("in a query, and in a default filter", async () => {
      const expected = `/items?${several("a", "b", "d", "e")}`;
      expect((await list({ client: QUERY, upstream }, "?grade=high,low")).sent[0]?.path).toBe(expected);
      const route = { default_filter: { grade: ["high", "low"] } };
      expect((await list({ client: QUERY, upstream, route }, "")).sent[0]?.path).toBe(expected);
    });
  },
);

describe("a filter by an unknown field is ignored where the pack says so", () => {
  test("and the record has its name", async () => {
    const client = { ...QUERY, unknown: "ignore" };
    const { status, sent, ignored } = await list(
      { client, upstream: QUERY },
      "?note=x&size[gte]=5&name=a&z=1",
    );
    expect([status, sent[0]?.path, ignored]).toEqual([200, "/items?label=a", ["note", "size[gte]", "z"]]);
  });
});

describe("a condition of the pack", () => {
  const route = { where: { kind: "public", amount: { "{field}[gte]": 5 } } };

  test("is added to the client's in the query", async () => {
    const { sent } = await list({ client: QUERY, upstream: QUERY, route }, "?name=a");
    expect(sent[0]?.path).toBe("/items?label=a&kind=public&amount[gte]=5");
  });

  test("is sent where clients can't filter", async () => {
    const { sent } = await list({ upstream: QUERY, route }, "");
    expect(sent[0]?.path).toBe("/items?kind=public&amount[gte]=5");
  });

  test("can't be replaced by the client's", async () => {
    const result = await list({ client: QUERY, upstream: QUERY, route }, "?price[gte]=0");
    expect(result).toMatchObject({ status: 400, sent: [] });
  });
});

const DEFAULTS = {
  default_filter: { state: "open" },
  default_order: { born: "descending", id: "ascending" },
};
const SORTED = { ...QUERY, sort: { parameter: "sort", multiple: "comma" } };
const ONE_ORDER = { default_filter: { state: "open" }, default_order: { born: "descending" } };

describe("a default filter and order", () => {
  const changes = { client: SORTED, upstream: SORTED, route: DEFAULTS };

  test.each([
    ["apply if the client gives none", "", "?status=O&sort=-created,key"],
    ["apply to other fields than the client's", "?name=a", "?label=a&status=O&sort=-created,key"],
    ["are replaced by the client's", "?state=closed&sort=name", "?status=C,X&sort=label"],
    ["are replaced by an operator on the field", "?state[ne]=closed&sort=name", undefined],
  ])("%s", async (_name, query, expected) => {
    const { sent, status } = await list(changes, query);
    expect(sent[0]?.path).toBe(expected && `/items${expected}`);
    expect(status).toBe(expected === undefined ? 400 : 200);
  });

  test("apply to filters in headers, on either side", async () => {
    const route = ONE_ORDER;
    const inHeader = { status: "O", $by: "created", $dir: "desc" };
    const none = await list({ client: HEADER, upstream: HEADER, route }, "");
    expect(none.sent[0]?.filter).toEqual(inHeader);
    const empty = await list({ client: HEADER, upstream: HEADER, route }, "", {});
    expect(empty.sent[0]?.filter).toEqual(inHeader);
    const group = { $or: [{ state: "open" }, { id: 5 }], $by: "name" };
    const nested = await list({ client: HEADER, upstream: HEADER, route }, "", group);
    expect(nested.sent[0]?.filter).toEqual({ $or: [{ status: "O" }, { key: 5 }], $by: "label" });
    expect((await list({ client: QUERY, upstream: HEADER, route }, "")).sent[0]?.filter).toEqual(inHeader);
  });

  test("apply where clients can't filter", async () => {
    const { sent } = await list({ upstream: SORTED, route: DEFAULTS }, "");
    expect(sent[0]?.path).toBe("/items?status=O&sort=-created,key");
  });

  test("apply to a list that the gateway filters itself", async () => {
    const rows = ["a", "b", "a"].map((label, key) => ({ key, label, status: "O" }));
    const route = {
      aggregate: { max_items: 10 },
      default_filter: { name: "a" },
      default_order: { id: "descending" },
    };
    const idsOf = async (query: string) =>
      (
        (await list({ client: QUERY, route }, query, undefined, rows)).body as unknown as { id: number }[]
      ).map(({ id }) => id);
    expect(await idsOf("")).toEqual([2, 0]);
    expect(await idsOf("?name=b")).toEqual([1]);
  });
});

describe("a value that means no filter", () => {
  const fields = {
    id: { upstream: "key", type: "integer", filter: { all: "any" } },
    state: { upstream: "status", values: "state", filter: { all: "all", upstream_all: "ALL" } },
    name: { upstream: "label", filter: { upstream: "title", all: "*" } },
  };
  const resource = { fields };
  const inQuery = { client: QUERY, upstream: QUERY, resource };

  test.each([
    ["is not sent, and the upstream gets its own", "?state=all&id=any", "?status=ALL"],
    ["of the upstream is sent without a filter of the client", "", "?status=ALL"],
    ["of the upstream is not sent with a filter by the field", "?state=open", "?status=O"],
    ["among several values includes all", "?state=open,all&name=x,*", "?status=ALL"],
    ["is text for another operator on text", "?name[has]=*", "?title[has]=*&status=ALL"],
  ])("%s", async (_name, query, expected) => {
    expect((await list(inQuery, query)).sent[0]?.path).toBe(`/items${expected}`);
  });

  test("is left out of a filter in a header, in groups too", async () => {
    const changes = { client: HEADER, upstream: HEADER, resource };
    const sentFor = async (filter: object) => (await list(changes, "", filter)).sent[0]?.filter;
    expect(await sentFor({ state: "all", id: 5 })).toEqual({ key: 5, status: "ALL" });
    expect(await sentFor({ $and: [{ name: "*" }, { id: 5 }] })).toEqual({
      $and: [{ key: 5 }],
      status: "ALL",
    });
    expect(await sentFor({ $or: [{ name: "*" }, { id: 5 }] })).toEqual({ status: "ALL" });
    expect(await sentFor({ $and: [{ name: "*" }] })).toEqual({ status: "ALL" });
    expect(await sentFor({ $or: [{ state: "open" }, { id: 5 }] })).toEqual({
      $or: [{ status: "O" }, { key: 5 }],
    });
  });

  test.each([
    ["?state[ne]=all", 'state cannot be compared with "all" by this operator.'],
    ["?id[gte]=any", 'id cannot be compared with "any" by this operator.'],
    ["?state=lost", "state must be one of open, closed, or all."],
  ])("with an operator, or another one, is a 400: %s", async (query, message) => {
    expect(await list(inQuery, query)).toMatchObject({ status: 400, message, sent: [] });
  });

  test("is a 400 beside another operator too", async () => {
    const filter = { name: { $has: "*", $ne: "*" } };
    expect(await list({ client: HEADER, upstream: HEADER, resource }, "", filter)).toMatchObject({
      status: 400,
      message: 'name cannot be compared with "*" by this operator.',
    });
  });

  test("replaces the default filter", async () => {
    const route = { default_filter: { state: "open" } };
    expect((await list({ ...inQuery, route }, "?name=a")).sent[0]?.path).toBe("/items?title=a&status=O");
    // `resource` replaces the routes: they are added again.
    const routes = [{ client: "GET /things", upstream: "GET /items", response: "list", ...route }];
    const all = await list({ ...inQuery, resource: { fields, routes } }, "?state=all");
    expect(all.sent[0]?.path).toBe("/items?status=ALL");
  });

  test("of the upstream is not sent with a condition of the pack on the field, and is sent for a whole list", async () => {
    const where = { ...inQuery, route: { where: { status: "X" } } };
    expect((await list(where, "")).sent[0]?.path).toBe("/items?status=X");
    const whole = { ...inQuery, route: { aggregate: { max_items: 10 } } };
    expect((await list(whole, "?state=open")).sent[0]?.path).toBe("/items?status=ALL");
    const inHeader = { ...whole, client: HEADER, upstream: HEADER };
    expect((await list(inHeader, "", { state: "open" })).sent[0]?.filter).toEqual({ status: "ALL" });
  });
});

test("the search for a boundary includes objects that the upstream shows only where it is asked for them", async () => {
  const resource = {
    fields: {
      seen: { upstream: "read", boundary: "key", type: "boolean", filter: true },
      state: { upstream: "status", values: "state", filter: { upstream_all: "ALL" } },
    },
  };
  const rows = [
    { key: 9, read: false },
    { key: 7, read: true },
  ];
  const upstream = { ...HEADER, operators: { ...HEADER.operators, lte: "$lte", gt: "$gt" } };
  const { sent } = await list({ client: QUERY, upstream, resource }, "?seen=true", undefined, rows);
  expect(sent.map(({ filter }) => filter)).toEqual([
    { status: "ALL", $by: "key", $dir: "desc" },
    { key: { $lte: 7 }, status: "ALL" },
  ]);
});

test("a list that the gateway filters itself has the same parameters", async () => {
  const rows = [5, 7, 9].map((key) => ({ key, amount: key * 100, label: key > 5 ? "b" : "a", status: "O" }));
  const route = { aggregate: { max_items: 10 } };
  const { sent, body } = await list(
    { client: { ...QUERY, sort: { parameter: "sort", multiple: "comma" } }, route },
    "?id[gte]=5&sort=-name,-id&state=open",
    undefined,
    rows,
  );
  expect(sent.map(({ path }) => path)).toEqual(["/items"]);
  expect((body as unknown as { id: number }[]).map(({ id }) => id)).toEqual([9, 7, 5]);
});

describe("a list that the gateway filters itself has numbers that no double holds", () => {
  const rows = parseJson(`[
    { "label": "c", "key": 1700000000000000003, "amount": 5 },
    { "label": "a", "key": 1700000000000000001, "amount": 0.30000000000000000002 },
    { "label": "d", "key": 18e999, "amount": -1e400 },
    { "label": "b", "key": 1700000000000000002, "amount": 0.3 },
    { "label": "small", "key": 7, "amount": null }
  ]`) as object[];
  const resource = { fields: { key: "key", amount: "amount", label: "label" } };
  const route = {
    client: "GET /things",
    upstream: "GET /items",
    response: "list",
    aggregate: { max_items: 9 },
  };
  const labelsOf = async (filters: object, query: string, header?: object) => {
    const changes = { client: filters, resource: { ...resource, routes: [route] } };
    const { body } = await list(changes, query, header, rows);
    return Object(body).map(({ label }: { label: string }) => label);
  };

  test.each([
    ["are sorted by all their digits", "?sort=key", ["small", "a", "b", "c", "d"]],
    ["are sorted backwards", "?sort=-key", ["d", "c", "b", "a", "small"]],
    ["have places among other numbers", "?sort=amount", ["small", "d", "b", "a", "c"]],
    ["are compared with short numbers", "?key[gte]=8&sort=key", ["a", "b", "c", "d"]],
    ["are compared by all their digits", "?key[gte]=1700000000000000002&sort=key", ["b", "c", "d"]],
    ["equal the number with the same digits", "?key=1700000000000000002,7&sort=key", ["small", "b"]],
    ["equal the same number in another form", "?key=1700000000000000002.0", ["b"]],
    ["differ from all others", "?key[ne]=1700000000000000002&sort=key", ["small", "a", "c", "d"]],
  ])("that %s: %s", async (_name, query, labels) => {
    expect(await labelsOf(QUERY, query)).toEqual(labels);
  });

  test("which a filter in a header sorts and compares", async () => {
    expect(await labelsOf(HEADER, "", { key: { $gte: 8 }, $by: "key", $dir: "asc" })).toEqual([
      "a",
      "b",
      "c",
      "d",
    ]);
  });
});

test("a catalog is read with its condition in the query", async () => {
  const resource = {
    catalog: { upstream: [{ request: "GET /items", filter: { kind: "public" } }], stub: '{ "id": $id }' },
    routes: [{ client: "GET /things", catalog: true, response: "list" }],
  };
  const paths: string[] = [];
  const run = createDryRun(
    withFilters({ client: QUERY, upstream: QUERY, resource }, (folder) => loadPack(folder)),
    {
      async call({ path }) {
        paths.push(path);
        return { status: 200, headers: {}, bytes: Buffer.from("[]"), ms: 0 };
      },
      close: async () => {},
    },
  );
  await run.catalogs.refresh();
  run.catalogs.stop();
  expect(paths).toEqual(["/items?kind=public"]);
});

describe("hostile queries", () => {
  test("with too many conditions are a 400", async () => {
    const values = Array.from({ length: 300 }, (_, index) => index).join(",");
    expect(await list({ client: QUERY, upstream: QUERY }, `?id=${values}`)).toMatchObject({
      status: 400,
      message: "The filter has more than 200 conditions.",
    });
  });

  test("with deep brackets name no field", async () => {
    const deep = `name${"[a]".repeat(2000)}`;
    const { status, sent } = await list({ client: QUERY, upstream: QUERY }, `?${deep}=1&__proto__[gte]=1`);
    expect([status, sent]).toEqual([400, []]);
  });
});

describe("check reports defaults", () => {
  const route = (change: object) => ({ client: QUERY, upstream: QUERY, route: change });
  const state = (filter: object) => ({
    client: QUERY,
    upstream: QUERY,
    resource: { fields: { state: { upstream: "status", values: "state", filter } } },
  });
  test.each([
    ["by an unknown field", route({ default_filter: { stat: "open" } }), 'can\'t be filtered by "stat"'],
    ["by a field without a filter", route({ default_filter: { note: "x" } }), 'can\'t be filtered by "note"'],
    ["by an unknown value", route({ default_filter: { state: "lost" } }), "must be one of open, closed"],
    ["by a value of another type", route({ default_filter: { id: "x" } }), "must be of type integer"],
    ["of an order by an unknown field", route({ default_order: { size: "ascending" } }), 'sorted by "size"'],
    [
      "of an order by a converted value",
      route({ default_order: { state: "ascending" } }),
      "state cannot be ordered by.",
    ],
    [
      "of an order that the upstream can't have",
      route({ default_order: { id: "ascending", name: "ascending" } }),
      "A list can be ordered by one field only.",
    ],
    [
      "that contradict a condition of the pack",
      route({ default_filter: { name: "a" }, where: { label: "b" } }),
      "cannot be combined",
    ],
    [
      "that the upstream can't have",
      { client: QUERY, route: { default_filter: { name: "a" } } },
      'the upstream has no "filters"',
    ],
    [
      "of a single object",
      route({
        client: "GET /things/:id",
        upstream: "GET /items/{id}",
        response: "object",
        default_order: { id: "ascending" },
      }),
      '"default_order" needs a route that responds with a list',
    ],
    [
      "that mean no filter",
      {
        client: QUERY,
        upstream: QUERY,
        resource: {
          fields: { name: { upstream: "label", filter: { all: "*" } } },
          routes: [
            {
              client: "GET /things",
              upstream: "GET /items",
              response: "list",
              default_filter: { name: "*" },
            },
          ],
        },
      },
      '"*" means no filter: leave the field out',
    ],
    ["with a value for no filter that is a value", state({ all: "open" }), '"open" is a value of the field'],
    ["with one of the upstream that is a value", state({ upstream_all: "X" }), '"X" is a value'],
    [
      "with a value for no filter that the upstream can't get",
      { ...state({ upstream_all: "ALL" }), upstream: { sort: { parameter: "sort" } } },
      "the upstream can't compare a field with a value",
    ],
    [
      "with a value for no filter of a boundary",
      {
        client: HEADER,
        upstream: HEADER,
        resource: {
          fields: { seen: { upstream: "seen", boundary: "key", filter: { upstream_all: "ALL" } } },
        },
      },
      'it has a "boundary"',
    ],
  ])("%s", (_name, changes, message) => {
    expect(problemsOf(changes)).toEqual([expect.stringContaining(message)]);
  });
});

describe("check reports filters", () => {
  test("of the pack on a list that the gateway filters itself", () => {
    const route = { aggregate: { max_items: 10 }, where: { status: "X" } };
    expect(problemsOf({ client: QUERY, upstream: QUERY, route })).toEqual([
      expect.stringContaining('"where" needs a route whose list the upstream filters'),
    ]);
  });
  const query = (change: object) => ({ client: { ...QUERY, ...change }, upstream: QUERY });
  test.each([
    ["in both places", query({ header: "X-Find" }), '"parameter" belongs to filters in the query'],
    [
      "without a place",
      query({ parameter: undefined, in: undefined, sort: undefined, operators: {} }),
      "the place of filters is missing",
    ],
    [
      "in a header that can't be ignored",
      { client: { ...HEADER, unknown: "ignore" }, upstream: HEADER },
      "a filter in a header by an unknown field is always a 400",
    ],
    ["without the place of the field", query({ parameter: "name" }), "needs the place of the field, once"],
    [
      "with an operator that a query lacks",
      query({ operators: { or: "any" } }),
      'a query has no operator "or"',
    ],
    [
      "with one parameter for two operators",
      query({ operators: { gt: "{field}[a]", gte: "{field}[a]" } }),
      '"gt" has the same parameter',
    ],
    ["with an ambiguous order", query({ sort: { parameter: "s", descending: "{field}" } }), "are the same"],
    [
      "with an order without a field",
      query({ sort: { parameter: "s", descending: "desc" } }),
      "place of the field",
    ],
    [
      "with a comma in an order",
      query({ sort: { parameter: "s", descending: "{field},desc", multiple: "comma" } }),
      "has a comma",
    ],
    [
      "with the parameter of a page",
      query({ sort: { parameter: "page" } }),
      '"page" is a parameter of filters',
    ],
    ["that a pack adds for an upstream without filters", { route: { where: { kind: "a" } } }, "no effect"],
    [
      "that a pack adds in another form",
      { upstream: QUERY, route: { where: { $or: [{ kind: "a" }] } } },
      "a condition in a query is a field with a value",
    ],
    [
      "by a field that an expression reads",
      {
        client: QUERY,
        upstream: QUERY,
        resource: {
          fields: {
            price: {
              upstream: "amount",
              read: "$value / 100",
              write: "$round($value * 100)",
              type: "number",
              filter: true,
            },
          },
        },
      },
      '"read" converts the values of this field, and filters would not be converted',
    ],
    [
      "by an input that an expression writes",
      {
        client: QUERY,
        upstream: QUERY,
        resource: {
          fields: { id: "key" },
          inputs: { price: { upstream: "amount", write: "$value * 100", filter: true } },
        },
      },
      '"write" converts the values of this field, and filters would not be converted',
    ],
    [
      "whose parameters the upstream gets twice",
      { client: QUERY, upstream: QUERY, route: { upstream: "GET /items?label=a" } },
      'the upstream gets the parameter "label" twice',
    ],
  ])("%s", (_name, changes, message) => {
    expect(problemsOf(changes)).toEqual([expect.stringContaining(message)]);
  });
});

describe.each([
  [
    "a catalog",
    {
      route: { client: "GET /things", catalog: true, response: "list" },
      catalog: { upstream: [{ request: "GET /items" }], stub: '{ "id": $id }' },
    },
  ],
  [
    "a list that the gateway collects",
    {
      route: {
        client: "GET /things",
        upstream: "GET /items",
        response: "list",
        aggregate: { include: "true", max_items: 9 },
      },
    },
  ],
])(
  "in the query of %s a text is a number or a boolean where the value is",
  (_case, { route, ...resource }) => {
    const rows = [
      { id: "a", floor: 3, lit: true, code: "3", rooms: [1, 2], size: { width: 2 } },
      { id: "b", floor: -1, lit: false, code: "true", rooms: [], size: { width: 1.5 } },
    ];
    const fields = {
      id: "id",
      floor: "floor",
      lit: "lit",
      code: "code",
      rooms: "rooms",
      "size.width": "size.width",
    };

    test.each([
      ["?lit=true", ["a"]],
      ["?lit[ne]=true", ["b"]],
      ["?floor=3", ["a"]],
      ["?floor=3.0", ["a"]],
      ["?floor=-1,7", ["b"]],
      ["?floor[gte]=0", ["a"]],
      ["?floor=high", []],
      ["?code=3", ["a"]],
      ["?code=true", ["b"]],
      ["?rooms=2", ["a"]],
      ["?size.width=1.5", ["b"]],
    ])("%s", async (query, ids) => {
      const changes = { client: QUERY, resource: { fields, routes: [route], ...resource } };
      const { status, body } = await list(changes, query, undefined, rows);
      expect([status, Object(body).map(({ id }: { id: string }) => id)]).toEqual([200, ids]);
    });

    test("and a comparison with another text is a 400", async () => {
      const changes = { client: QUERY, resource: { fields, routes: [route], ...resource } };
      expect(await list(changes, "?floor[gte]=high", undefined, rows)).toMatchObject({
        status: 400,
        message: "floor is compared with numbers only.",
      });
    });
  },
);
