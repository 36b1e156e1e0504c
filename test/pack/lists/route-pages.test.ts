/** Lists whose route says itself how they are paged, in front of an upstream that goes wrong. */
import { beforeAll, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { describePack } from "../../../src/pack/openapi/document.ts";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request } from "../../support/request.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

const FOLDER = "examples/json-api/pack";

let gateway: GatewayWithFakeV4;
beforeAll(async () => {
  gateway = await startGatewayWithFakeV4({ MAPPINGS_DIR: FOLDER });
});

/** A list of labels, as its upstream pages it: two at once. */
const labels = (total: number, page: number) =>
  json(200, {
    labels: Array.from({ length: Math.max(0, Math.min(2, total - 2 * (page - 1))) }, (_, index) => ({
      text: `${2 * (page - 1) + index}`,
    })),
  });

const pageIn = (path: string): number =>
  Number(new URL(path, "http://v4.invalid").searchParams.get("page[number]"));

const get = async (path: string) => {
  const before = gateway.v4.calls.length;
  const { status, body } = await request(gateway.app, `GET ${path}`, {
    headers: { authorization: "Token t-1" },
  });
  return { status, body, calls: gateway.v4.calls.length - before };
};

test("a client without pages gets all pages of the upstream, whatever page it asks for", async () => {
  gateway.v4.respondWith((call, response) => labels(7, pageIn(call.path))(call, response));
  const { status, body, calls } = await get("/tags/all?page=3&per_page=1");
  expect([status, calls]).toEqual([200, 4]);
  expect(body).toEqual({ tags: Array.from({ length: 7 }, (_, index) => ({ name: String(index) })) });
});

test("a list that is longer than what is read is an error, never a part of it", async () => {
  gateway.v4.respondWith((call, response) => labels(1000, pageIn(call.path))(call, response));
  const { status, body, calls } = await get("/tags/all");
  expect(status).toBe(500);
  expect(calls).toBeLessThanOrEqual(101);
  expect(JSON.stringify(body)).not.toContain("tags");
});

test("a page that fails in the middle is its error, and no further page is read", async () => {
  const gone = json(404, { errors: [{ detail: "Gone." }] });
  gateway.v4.respondWith((call, response) =>
    (pageIn(call.path) === 2 ? gone : labels(9, pageIn(call.path)))(call, response),
  );
  const { status, calls } = await get("/tags/all");
  expect([status, calls]).toEqual([404, 2]);
});

test("a list that no side pages is sent for without a page", async () => {
  gateway.v4.respondWith(json(200, [{ text: "a" }]));
  const { status, body } = await get("/tags/popular?page=2");
  expect([status, body, gateway.v4.calls.at(-1)?.path]).toEqual([
    200,
    { tags: [{ name: "a" }] },
    "/api/labels/popular",
  ]);
});

test("the cursor of a route is that of no other one", async () => {
  gateway.v4.respondWith(json(200, { labels: [] }));
  await get("/tags?after=b&page=2&per_page=2");
  expect(gateway.v4.calls.at(-1)?.path).toBe("/api/labels?page%5Bnumber%5D=2&page%5Bsize%5D=2");
});

test("the description of the client's API has each route's own parameters", () => {
  const { paths } = describePack(loadPack(FOLDER), "1") as {
    paths: Record<string, { get: { parameters?: { name: string }[] } }>;
  };
  const namesOf = (path: string) => paths[path]?.get.parameters?.map(({ name }) => name) ?? [];
  expect(["/tags", "/tags/all", "/tags/popular", "/tags/latest"].map(namesOf)).toEqual([
    ["fields[tag]", "page", "per_page"],
    ["fields[tag]"],
    ["fields[tag]"],
    ["fields[tag]", "after"],
  ]);
});

const cats = { client: "GET /cats", upstream: "GET /cats", response: "list" };

test.each([
  [
    { client: "GET /cats/:id", upstream: "GET /cats/{id}", pagination: "none" },
    ['"pagination" needs a route that responds with a list'],
  ],
  [
    { ...cats, pagination: { client: { size: 10 } } },
    ['one of "page", "offset" and "cursor" says how lists are paged; page: { parameter: page }'],
  ],
  [
    {
      ...cats,
      pagination: { client: { offset: { parameter: "from" }, size: 10 } },
      query: { parameters: { from: "since" } },
    },
    ['"from" asks for a page: see "pagination"'],
  ],
  [
    {
      ...cats,
      pagination: { upstream: { offset: { parameter: "c" }, size: 10 } },
      query: { parameters: { q: "c" } },
    },
    ['"c" asks the upstream for a page: see "pagination"'],
  ],
])("check reports what a route can't say of its pages: %j", (route, faults) => {
  const pagination = { page: { parameter: "page" }, size: 10 };
  expect(
    faultsOfSmallPack({ client: { pagination }, upstream: { pagination }, book: { routes: [route] } }),
  ).toEqual(faults);
});
