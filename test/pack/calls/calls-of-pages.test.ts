/** Calls for the rows of a list whose pages come from several of the upstream's. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const PACK: SmallPack = {
  client: {
    pagination: { page: { parameter: "page" }, size: 4 },
    responses: { list: { books: "$items", total: "$total" } },
  },
  upstream: {
    pagination: { page: { parameter: "p" }, size: { parameter: "s", maximum: 2 } },
    responses: { list: { data: "$items", total: "$total" } },
  },
  book: {
    fields: { id: "id", owner: { read: "($calls.owners[id = $$.owner])[0].name" } },
    routes: [
      {
        client: "GET /books",
        upstream: "GET /items",
        response: "list",
        calls: [{ name: "owners", upstream: "GET /owners/{each}", each: "$distinct(data.owner)" }],
      },
    ],
  },
};

test("calls are sent for the rows of each page of the upstream", async () => {
  const gateway = await startSmallGateway(PACK);
  const page = (...rows: object[]) => json(200, { data: rows, total: 3 });
  gateway.service.respondWith(
    page({ id: 1, owner: "a" }, { id: 2, owner: "a" }),
    json(200, { id: "a", name: "Ada" }),
    page({ id: 3, owner: "b" }),
    json(200, { id: "b", name: "Bob" }),
  );
  const { status, body } = await gateway.send("GET /books");
  expect([status, body]).toEqual([
    200,
    {
      books: [
        { id: 1, owner: "Ada" },
        { id: 2, owner: "Ada" },
        { id: 3, owner: "Bob" },
      ],
      total: 3,
    },
  ]);
  expect(gateway.service.calls.map(({ path }) => path)).toEqual([
    "/items?p=1&s=2",
    "/owners/a",
    "/items?p=2&s=2",
    "/owners/b",
  ]);
});
