/** What `check` says about pages that can't be translated. */
import { describe, expect, test } from "@jest/globals";
import { PackError } from "../../../src/base/files/diagnostic.ts";
import { loadPagingPack, type Side } from "./paging-packs.ts";

const PAGES: Side = {
  pagination: { page: { parameter: "page" }, size: { parameter: "size", maximum: 50 } },
  list: { items: "$items", total: "$total" },
};
const CURSORS: Side = {
  pagination: { cursor: { parameter: "cursor" }, size: { parameter: "limit", maximum: 50 } },
  list: { items: "$items", next: "$next_cursor" },
};
const clientSize = { parameter: "limit", default: 10, maximum: 50 };

function problemsOf(client: Side, upstream: Side): string[] {
  try {
    loadPagingPack(client, upstream);
    return [];
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    return error.diagnostics.map(({ message, hint = "" }) => `${message}; ${hint}`);
  }
}

test.each<[string, Side, Side, string]>([
  [
    "two styles at once",
    { pagination: { page: { parameter: "p" }, offset: { parameter: "o" }, size: 5 }, list: "$items" },
    PAGES,
    'one of "page", "offset" and "cursor"',
  ],
  ["no style", { pagination: { size: 5 }, list: "$items" }, PAGES, 'one of "page", "offset" and "cursor"'],
  [
    "a total that the upstream does not have",
    { pagination: { page: { parameter: "page" }, size: 5 }, list: { data: "$items", count: "$total" } },
    CURSORS,
    '"$total" has no value: lists of upstream have no total; add $total',
  ],
  [
    "a header with a total that the upstream does not have",
    { pagination: { page: { parameter: "page" }, size: 5, total_header: "X-Total" }, list: "$items" },
    CURSORS,
    "lists of upstream have no total",
  ],
  [
    "a range of pages between cursors",
    {
      pagination: {
        cursor: { parameter: "after", item: "id" },
        size: 5,
        range_header: { name: "Content-Range", unit: "items" },
      },
      list: "$items",
    },
    PAGES,
    'pages between cursors have no positions; a range needs "pagination" with "page" or "offset"',
  ],
  [
    "the number of a page between cursors",
    {
      pagination: { cursor: { parameter: "after", item: "id" }, size: 5 },
      list: { data: "$items", page: "$page" },
    },
    PAGES,
    '"$page" needs "pagination" with "page" or "offset"',
  ],
  [
    "a page before a cursor that the upstream does not have",
    {
      pagination: { cursor: { parameter: "after", before: "before" }, size: clientSize },
      list: { data: "$items", next: "$next_cursor", previous: "$previous_cursor" },
    },
    CURSORS,
    'lists of upstream have no cursors of the page before that fit the client\'s pages; remove it, and reject the parameter: query: { parameters: { "before": { reject: NAME_OF_A_MESSAGE } } }',
  ],
  [
    "a previous cursor that the upstream does not have",
    {
      pagination: { cursor: { parameter: "after" }, size: clientSize },
      list: { data: "$items", next: "$next_cursor", previous: "$previous_cursor" },
    },
    CURSORS,
    "lists of upstream have no cursors of the page before that fit the client's pages; add $previous_cursor",
  ],
  [
    "a cursor of the page before that clients do not learn",
    {
      pagination: { cursor: { parameter: "after", before: "before" }, size: clientSize },
      list: { data: "$items", next: "$next_cursor" },
    },
    PAGES,
    "clients do not learn the cursor of the page before; add $previous_cursor",
  ],
  [
    "a page before an item without a parameter",
    {
      pagination: { cursor: { parameter: "after", item: "id" }, size: clientSize },
      list: { data: "$items", previous: "$previous_cursor" },
    },
    PAGES,
    'the page before an item needs a parameter of its own: "before" in "cursor"',
  ],
  [
    "one parameter twice",
    {
      pagination: { cursor: { parameter: "after", item: "id", before: "after" }, size: clientSize },
      list: { data: "$items", more: "$has_more" },
    },
    PAGES,
    '"before" is the same parameter as "parameter"',
  ],
  [
    "an upstream that does not say whether a page precedes",
    { pagination: { page: { parameter: "page" }, size: 5 }, list: "$items" },
    { ...CURSORS, pagination: { ...CURSORS.pagination, cursor: { parameter: "cursor", before: "before" } } },
    "the gateway does not learn whether a page precedes; add $previous_cursor, $previous_link to",
  ],
  [
    "the previous cursor of numbered pages",
    {
      pagination: { page: { parameter: "page" }, size: clientSize },
      list: { data: "$items", previous: "$previous_cursor" },
    },
    PAGES,
    '"$previous_cursor" needs "pagination" with "cursor"',
  ],
  [
    "a cursor that clients do not learn",
    { pagination: { cursor: { parameter: "after" }, size: 5 }, list: { data: "$items", more: "$has_more" } },
    PAGES,
    "clients do not learn the next cursor; add $next_cursor",
  ],
  [
    "a cursor that the gateway does not learn",
    { pagination: { page: { parameter: "page" }, size: 5 }, list: "$items" },
    { ...CURSORS, list: "$items" },
    "the gateway does not learn the next cursor; add $next_cursor",
  ],
  [
    "absolute links of lists without links",
    { pagination: { page: { parameter: "page" }, size: 5, links: "absolute" }, list: "$items" },
    PAGES,
    "lists of clients have no links; add $next_link",
  ],
  [
    "a default above the maximum",
    { pagination: { page: { parameter: "page" }, size: { ...clientSize, default: 51 } }, list: "$items" },
    PAGES,
    "the default 51 is larger than the maximum 50",
  ],
  [
    "pages that need too many requests",
    { pagination: { page: { parameter: "page" }, size: { ...clientSize, maximum: 501 } }, list: "$items" },
    { pagination: { page: { parameter: "page" }, size: 5 }, list: "$items" },
    "a page of 501 items needs more than 100 requests to upstream",
  ],
  [
    "a walk that needs too many requests",
    { pagination: { page: { parameter: "page" }, size: 5 }, list: "$items" },
    { ...CURSORS, pagination: { ...CURSORS.pagination, max_items: 5001 } },
    "needs more than 100 requests with pages of 50 items",
  ],
  [
    "sizes that do not fit between the upstream's cursors",
    { ...CURSORS, pagination: { cursor: { parameter: "after" }, size: clientSize } },
    { ...CURSORS, pagination: { cursor: { parameter: "cursor" }, size: 20 } },
    "the size must be fixed, and a multiple of 20",
  ],
  [
    "an unknown value of a list",
    { pagination: { page: { parameter: "page" }, size: 5 }, list: { data: "$items", more: "$has_mor" } },
    PAGES,
    'unknown name "$has_mor"; did you mean "$has_more"?',
  ],
])("check reports %s", (_what, client, upstream, message) =>
  expect(problemsOf(client, upstream)).toEqual([expect.stringContaining(message)]),
);

describe("lists of a resource without pages, in a pack with pages", () => {
  const client: Side = { pagination: { page: { parameter: "page" }, size: 5 }, list: "$items" };
  const object = { client: "GET /things/:id", upstream: "GET /items/{id}" };
  const load = (route: object) =>
    loadPagingPack(
      client,
      CURSORS,
      { pagination: "none" },
      { envelope: { upstream: { list: "$items" } }, routes: [route] },
    );

  test.each([
    ["a route that responds with an object", object],
    ["one with its own envelope", { ...object, envelope: { client: { object: { thing: "$object" } } } }],
  ])("are no problem of %s", (_what, route) => expect(() => load(route)).not.toThrow());

  test("are a problem of a route that reads all pages of a related list", () => {
    const all = { upstream: "GET /items", all_pages: true };
    expect(() => load({ ...object, calls: [{ name: "all", ...all }] })).toThrow(
      "the gateway does not learn the next cursor",
    );
  });
});

describe("the cursors of the pack, and a catalog whose list has another shape", () => {
  const load = (own: object) =>
    loadPagingPack(
      {
        pagination: { cursor: { parameter: "after" }, size: 5 },
        list: { items: "$items", next: "$next_cursor" },
      },
      CURSORS,
      { catalog: true, upstream: undefined },
      {
        envelope: { upstream: { list: { values: "$items" } } },
        catalog: { upstream: [{ request: "GET /things", ...own }], stub: '{ "id": $id }' },
        routes: [],
      },
    );

  test("are not a problem of a list without pages", () =>
    expect(() => load({ pagination: "none" })).not.toThrow());

  test("are a problem of the catalog if its list has pages", () =>
    expect(() => load({})).toThrow("the gateway does not learn the next cursor"));
});
