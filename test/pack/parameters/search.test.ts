import { describe, expect, test } from "@jest/globals";
import type { SourceLocation } from "../../../src/base/files/source-location.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { compileSearch } from "../../../src/pack/parameters/search.ts";
import { faultsOf } from "../load/pack-folder.ts";
import { sendToLibrary } from "../load/library-gateway.ts";

const nowhere = { at: () => nowhere, report() {}, reportKey() {} } as unknown as SourceLocation;
const lists = new Map([
  ["tags", "repeat"],
  ["kinds", "comma"],
] as const);
const types = new Map(["page", "size"].map((name) => [name, ["integer"] as const]));
const move = (shape: Record<string, unknown>, path: string, filter?: string) =>
  compileSearch(
    shape,
    { names: [], types, lists, separated: new Set(["states"]) },
    nowhere,
  )({ path, filter });

describe("moving the query of a list to a body", () => {
  test("gives pages as numbers, repeated parameters as lists, and leaves out what has no value", () =>
    expect(
      move(
        { paging: { number: "$page", size: "$size" }, tags: "$tag", q: { text: "$q" } },
        "/a?page=2&size=10&tag=1&tag=x",
      ),
    ).toEqual({
      path: "/a",
      filter: undefined,
      body: { paging: { number: 2, size: 10 }, tags: ["1", "x"] },
    }));

  test.each([
    [
      "a parameter with several values is a list with one value too",
      { tags: "$tags" },
      "tags=1",
      { tags: ["1"] },
    ],
    [
      "and so it is where one text has several values",
      { kinds: "$kinds" },
      "kinds=a,b",
      { kinds: ["a", "b"] },
    ],
    ["a name in brackets is a list of all its values", { ids: ["$id"] }, "id=1", { ids: ["1"] }],
    ["of several values", { ids: ["$id", "$tags"] }, "id=1&id=2&tags=x", { ids: ["1", "2", "x"] }],
    ["of a filter by several values", { all: ["$states"] }, "states=a,b", { all: ["a", "b"] }],
    ["and is left out without a value", { ids: ["$id"], q: "$q" }, "q=1", { q: "1" }],
    [
      "a condition in a list is left out with its value",
      {
        all: [
          { field: "a", is: "$a" },
          { field: "b", is: "$b" },
        ],
      },
      "b=2",
      { all: [{ field: "b", is: "2" }] },
    ],
    [
      "constants stay",
      { sort: ["name"], none: [], ids: [{ kind: "x" }] },
      "",
      { sort: ["name"], none: [], ids: [{ kind: "x" }] },
    ],
  ])("%s", (_what, shape, query, body) => expect(move(shape, `/a?${query}`).body).toEqual(body));

  test("gives the filter header as JSON", () =>
    expect(move({ where: "$filter" }, "/a", '{"price":{"gt":5}}')).toEqual({
      path: "/a",
      filter: undefined,
      body: { where: { price: { gt: 5 } } },
    }));

  test("keeps other parameters in the query, and a filter without a place in the header", () =>
    expect(move({ page: "$page" }, "/a?x=%26%20&page=1", "{}")).toEqual({
      path: "/a?x=%26%20",
      filter: "{}",
      body: { page: 1 },
    }));
});

const search = {
  file: "book.yaml",
  from: "upstream: GET /items, response: list }",
  to: "upstream: POST /items/find, response: list, search: { where: $filter, page: $page } }",
};

test("a list with pages and a filter is read by a POST, which counts as a read", async () => {
  const list = { rows: [], page: 2, last_page: 2, total: 10 };
  const { status, sent, context } = await sendToLibrary(
    { edits: [search] },
    { method: "GET", path: "/old/books?page=2", headers: { "X-Where": '{"title":"Waves"}' } },
    () => [200, list],
  );
  expect(status).toBe(200);
  expect(sent).toEqual([
    { call: "POST /api/new/items/find?per_page=10", body: { where: { name: "Waves" }, page: 2 } },
  ]);
  expect(context.upstreamEquivalent).toBe("POST /api/new/items/find");
});

test("an opaque cursor is a text, also if it has digits only", async () => {
  const pack = writeSmallPack({
    client: {
      pagination: { cursor: { parameter: "after" }, size: 5 },
      responses: { list: { items: "$items", next: "$next_cursor" } },
    },
    upstream: {
      pagination: { cursor: { parameter: "cursor" }, size: { parameter: "limit", maximum: 50 } },
      responses: { list: { items: "$items", next: "$next_cursor" } },
    },
    book: {
      routes: [
        {
          client: "GET /books",
          upstream: "POST /items/find",
          response: "list",
          search: { after: "$cursor", size: "$limit" },
        },
      ],
    },
  });
  const sent: unknown[] = [];
  const run = createDryRun(loadPack(pack), {
    call: async ({ body }) => {
      sent.push(JSON.parse(String(body)));
      return { status: 200, headers: {}, bytes: Buffer.from('{"items":[],"next":null}'), ms: 0 };
    },
    close: async () => {},
  });
  try {
    const { status } = (await run.send({ method: "GET", path: "/books?after=0012" })).response;
    expect([status, sent]).toEqual([200, [{ after: "0012", size: 5 }]]);
  } finally {
    run.catalogs.stop();
  }
});

describe("check reports", () => {
  test.each([
    ["a list by a POST without a search", "POST /items/find, response: list }", 'needs "search"'],
    [
      "a search by a GET",
      "GET /items, response: list, search: { page: $page } }",
      "responds with a list by a POST",
    ],
    [
      "a search without values",
      "POST /items, response: list, search: { page: 1 } }",
      "needs a value from the query",
    ],
    [
      "a name that no request has a value for",
      "POST /items, response: list, search: { page: $page, all: [{ is: $pag }] } }",
      'the upstream\'s query has no parameter "pag"',
    ],
    [
      "a name in a key",
      "POST /items, response: list, search: { page: $page, $filter: true } }",
      '"$filter" is a key: only values of "search" come from the query',
    ],
  ])("%s", (_case, to, message) => {
    const faults = faultsOf({ ...search, to: `upstream: ${to}` });
    expect(faults.map((fault) => fault.message)).toEqual([expect.stringContaining(message)]);
  });
});
