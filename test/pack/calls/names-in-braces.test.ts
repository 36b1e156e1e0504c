/** Names in braces with members and indexes. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

const packOf = (upstream: string) => ({
  book: {
    routes: [
      {
        client: "GET /books/:id",
        upstream,
        calls: [{ name: "item", at: "before", upstream: "GET /search?legacy_id={id}" }],
      },
    ],
  },
});

async function pathOf(upstream: string, found: unknown) {
  const gateway = await startSmallGateway(packOf(upstream));
  gateway.service.respondWith(json(200, found), json(200, { id: 7 }));
  await gateway.send("GET /books/7");
  return gateway.service.calls.at(-1)?.path;
}

test.each([
  ["GET /items/{item.results[0].uuid}", { results: [{ uuid: "a/b" }] }, "/items/a%2Fb"],
  ["GET /items/{item.results.0.uuid}", { results: [{ uuid: "u" }] }, "/items/u"],
  ["GET /items?uuid={item.results[1].uuid}", { results: [{}, { uuid: "u" }] }, "/items?uuid=u"],
  ["GET /items/{item[0]}", ["u"], "/items/u"],
  ["GET /items/{item.results.0}", { results: { 0: "u" } }, "/items/u"],
  ["GET /items/{item.results[0].uuid}", { results: [] }, "/search?legacy_id=7"],
  ["GET /items/{item.length}", ["u"], "/search?legacy_id=7"],
])("%s", async (upstream, found, path) => expect(await pathOf(upstream, found)).toBe(path));

test.each(["{item.results[*].uuid}", "{item-results}", "{", "x}"])(
  "check reports the path GET /items/%s",
  (text) =>
    expect(faultsOfSmallPack(packOf(`GET /items/${text}`)).join()).toContain(
      "has a brace that holds no name",
    ),
);
