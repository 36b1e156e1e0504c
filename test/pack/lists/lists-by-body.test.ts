/** Lists that clients ask for with a body, of which the upstream has values in the path of a GET. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const packOf = (maximum: number, route: object = {}): SmallPack => ({
  client: {
    pagination: { page: { parameter: "page" }, size: { parameter: "size", default: 2, maximum: 3 } },
  },
  upstream: {
    pagination: { page: { parameter: "p" }, size: { parameter: "s", maximum } },
    responses: { list: { data: "$items", total: "$total" } },
  },
  book: {
    inputs: { shelf: { upstream: "shelf" } },
    bodies: {
      find: {
        to_path: { shelf: "shelf" },
        schema: { type: "object", required: ["shelf"], properties: { shelf: { type: "string" } } },
      },
    },
    routes: [
      {
        client: "POST /books/find",
        upstream: "GET /shelves/{shelf}/items",
        response: "list",
        body: "find",
        ...route,
      },
    ],
  },
});

test.each([
  ["the same pages as clients", 3],
  ["smaller pages than clients", 2],
])("an upstream with %s gets the page of the client", async (_pages, maximum) => {
  const gateway = await startSmallGateway(packOf(maximum));
  gateway.service.respondWith(json(200, { data: [{ id: 3, name: "x" }], total: 3 }));
  const { status, body } = await gateway.send("POST /books/find?page=2", { body: { shelf: "a" } });
  expect([status, body]).toEqual([200, [{ id: 3, title: "x" }]]);
  expect(gateway.service.calls.map(({ path }) => path)).toEqual(["/shelves/a/items?p=2&s=2"]);
});

describe("check reports a body of which the upstream gets nothing:", () => {
  test.each([
    ["on a route with a whole list", { aggregate: { max_items: 10 } }],
    ["on a route with a file", { response: "file", file: { content_type: "image/png" } }],
  ])("%s", (_where, route) =>
    expect(faultsOfSmallPack(packOf(3, route))).toContainEqual(
      expect.stringContaining('"body" has no effect: the upstream gets nothing of it on this route'),
    ),
  );
});
