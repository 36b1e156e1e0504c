import { expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const list = { response: "list", query: { parameters: { q: "q" } }, search: { text: "$q" } };

test.each([
  [true, { client: "GET /books/:id", upstream: "GET /items/{id}" }],
  [false, { client: "GET /books/:id/reboot", upstream: "POST /items/{id}/reboot", response: "none" }],
  [false, { client: "GET /books/:id/end", upstream: "DELETE /items/{id}", response: "none" }],
  [true, { client: "GET /books/:id", upstream: "POST /items/{id}/read", safe: true }],
  [true, { client: "GET /books", upstream: "POST /items/search", ...list }],
  [false, { client: "POST /books", upstream: "POST /items/search", ...list }],
  [true, { client: "POST /books", upstream: "POST /items/search", ...list, safe: true }],
  [false, { client: "POST /books/:id", upstream: "GET /items/{id}" }],
  [false, { client: "DELETE /books/:id", upstream: "DELETE /items/{id}", response: "none" }],
])("requests only read: %s of %j", (isSafe, route) => {
  const folder = writeSmallPack({ book: { routes: [route] } });
  expect(loadPack(folder).routes.map((each) => each.isSafe)).toEqual([isSafe]);
});
