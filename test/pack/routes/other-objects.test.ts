/** Routes that respond with another object than that of their file, and objects without a file of their own. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const packOf = (routes: readonly object[], book: object = {}): SmallPack => ({
  client: { responses: { list: { $list: "$items" }, object: { $name: "$object" } } },
  upstream: { responses: { object: { $name: "$object" } } },
  book: {
    objects: {
      page: { fields: { number: "no", text: { upstream: "text", object: "line" } } },
      line: { fields: { says: "s" } },
    },
    routes,
    ...book,
  },
});

async function get(pack: SmallPack, path: string, response: object) {
  const gateway = await startSmallGateway(pack);
  gateway.service.respondWith(json(200, response));
  return (await gateway.send(`GET ${path}`)).body;
}

const PAGE = { no: 1, text: [{ s: "a" }] };
const SHOWN = { number: 1, text: [{ says: "a" }] };

test("an object of the file has its own fields and name", async () => {
  const pack = packOf([{ client: "GET /books/:id/page", upstream: "GET /items/{id}/page", object: "page" }]);
  expect(await get(pack, "/books/1/page", { page: PAGE })).toEqual({ page: SHOWN });
});

test("rows of a list are other objects, in a list with the name of those or of the file", async () => {
  const route = { client: "GET /books/:id/pages", upstream: "GET /items/{id}/pages", response: "list" };
  expect(await get(packOf([{ ...route, object: "page" }]), "/books/1/pages", [PAGE])).toEqual({
    books: [SHOWN],
  });
  const other = {
    ...packOf([{ ...route, object: "sheet" }], { objects: {} }),
    others: { sheet: { list: "sheets", fields: { number: "no" } } },
  };
  expect(await get(other, "/books/1/pages", [PAGE])).toEqual({ sheets: [{ number: 1 }] });
});

describe("check reports", () => {
  const route = { client: "GET /books/:id", upstream: "GET /items/{id}" };
  test.each<[string, SmallPack, string]>([
    [
      "an unknown object",
      packOf([{ ...route, object: "pag" }]),
      'unknown object "pag"; did you mean "page"?',
    ],
    [
      "an object besides several ones",
      packOf([{ ...route, object: "page", one_of: [{ object: "line" }] }]),
      '"object" and "one_of" exclude each other: one of several objects is named there',
    ],
    [
      "an object where a response has none",
      packOf([{ ...route, object: "page", response: "none" }]),
      '"object" needs a route that responds with an object or a list of the upstream',
    ],
    [
      "two objects of one name",
      packOf([route], { objects: { book: { fields: { id: "id" } } } }),
      'book.yaml has the object "book" already',
    ],
    ["an object without fields", packOf([{ ...route, object: "page" }], { objects: { page: {} } }), "fields"],
  ])("%s", (_what, pack, message) => {
    expect(faultsOfSmallPack(pack)).toContainEqual(expect.stringContaining(message));
  });
});
