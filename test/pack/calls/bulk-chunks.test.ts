/** One request for many ids, of which the upstream takes several in a call. */
import { describe, expect, test } from "@jest/globals";
import { json, type Responder } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const BULK = {
  parameter: "ids",
  ids: "ids",
  most: 6,
  concurrency: 1,
  chunk: { size: 2 },
  list: { good: "$successes", bad: "$failures", count: "$failed" },
  failure: { id: "$id", status: "$status" },
};

const packOf = (bulk: object = {}, route: object = {}): SmallPack => ({
  upstream: { responses: { list: { rows: "$items" }, item: { node: "$object" } } },
  book: {
    inputs: { ids: { send: false } },
    bodies: { ids: { schema: { properties: { ids: { type: "array" }, title: { type: "string" } } } } },
    routes: [
      { client: "POST /books/read", upstream: "GET /items?in={ids}", bulk: { ...BULK, ...bulk }, ...route },
    ],
  },
});

const rows = (...ids: readonly number[]): Responder =>
  json(200, { rows: ids.map((id) => ({ node: { id, name: `n${id}` } })) });
const book = (id: number) => ({ id, title: `n${id}` });

async function read(pack: SmallPack, body: object, ...responses: readonly [Responder, ...Responder[]]) {
  const gateway = await startSmallGateway(pack);
  gateway.service.respondWith(...responses);
  const { status, body: results } = await gateway.send("POST /books/read", { body });
  return { status, results, calls: gateway.service.calls };
}

test("ids of the path are separated by commas, and each has its own result in its order", async () => {
  const { results, calls } = await read(packOf(), { ids: [1, 2, 3, 1] }, rows(2, 1), rows());
  expect(calls.map(({ path }) => decodeURIComponent(path))).toEqual(["/items?in=1,2", "/items?in=3"]);
  expect(results).toEqual({ good: [book(1), book(2), book(1)], bad: [{ id: 3, status: 404 }], count: 1 });
});

test("a call that fails is the failure of its ids alone", async () => {
  const { results } = await read(packOf(), { ids: [1, 2, 3] }, json(409, {}), rows(3));
  expect(results).toEqual({
    good: [book(3)],
    bad: [
      { id: 1, status: 409 },
      { id: 2, status: 409 },
    ],
    count: 2,
  });
});

test("a response that is not a list is a failure of the gateway", async () => {
  const { results } = await read(packOf(), { ids: [1, 2] }, json(200, { id: 1 }));
  expect(results.bad).toEqual([
    { id: 1, status: 500 },
    { id: 2, status: 500 },
  ]);
});

test("ids of the body are beside its other members", async () => {
  const pack = packOf(
    { chunk: { size: 2, member: "filter.ids" } },
    { upstream: "POST /items/find", body: "ids" },
  );
  const { results, calls } = await read(pack, { ids: [1, 2], title: "a" }, rows(1));
  expect(calls.map((call) => call.json())).toEqual([{ name: "a", filter: { ids: ["1", "2"] } }]);
  expect(results.good).toEqual([book(1)]);
});

test("all ids of a call have its result if its response contains no objects", async () => {
  const pack = packOf({ success: { id: "$id" } }, { upstream: "DELETE /items?in={ids}", response: "none" });
  const { results } = await read(pack, { ids: [1, 2, 3] }, json(200, {}), json(404, {}));
  expect(results).toEqual({ good: [{ id: 1 }, { id: 2 }], bad: [{ id: 3, status: 404 }], count: 1 });
});

describe("check reports", () => {
  test.each<[string, object, object, string]>([
    ["too many calls", { most: 300 }, {}, "one request may make 150 calls: 100 are allowed"],
    ["ids in two places", { chunk: { size: 2, member: "ids" } }, { body: "ids" }, "the ids are in"],
    [
      "a member without a body",
      { chunk: { size: 2, member: "ids" } },
      { upstream: "POST /items" },
      '"body" is missing',
    ],
    ["a key for one object", {}, { calls: [{ name: "more", upstream: "GET /more" }] }, "is about one object"],
    ["no results", { list: { failed: "$failed" } }, {}, "nothing shows the results"],
  ])("%s", (_what, bulk, route, message) => {
    expect(faultsOfSmallPack(packOf(bulk, route))).toContainEqual(expect.stringContaining(message));
  });
});
