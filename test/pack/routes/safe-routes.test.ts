import { expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { withPack } from "../load/pack-folder.ts";

const view = { upstream: "POST /views" };
const list = { response: "list", query: { parameters: { q: "q" } }, search: { text: "$q" } };

test.each([
  [true, true, { client: "GET /books/:id", upstream: "GET /items/{id}" }],
  [false, false, { client: "GET /books/:id/reboot", upstream: "POST /items/{id}/reboot", response: "none" }],
  [false, false, { client: "GET /books/:id/end", upstream: "DELETE /items/{id}", response: "none" }],
  [true, true, { client: "GET /books/:id", upstream: "POST /items/{id}/read", safe: true }],
  [
    true,
    true,
    { client: "GET /books/:id", upstream: "GET /items/{id}", calls: [{ upstream: "GET /views" }] },
  ],
  [false, false, { client: "GET /books/:id", upstream: "GET /items/{id}", calls: [view] }],
  [true, true, { client: "GET /books/:id", upstream: "GET /items/{id}", calls: [view], safe: true }],
  [
    true,
    true,
    {
      client: "GET /books/:id",
      upstream: "GET /items/{id}",
      calls: [{ part: "prefs", upstream: "PUT /items/{id}/prefs" }],
    },
  ],
  [true, true, { client: "GET /books", upstream: "POST /items/search", ...list }],
  [false, true, { client: "POST /books", upstream: "POST /items/search", ...list }],
  [true, true, { client: "POST /books", upstream: "POST /items/search", ...list, safe: true }],
  [false, true, { client: "POST /books/:id", upstream: "GET /items/{id}" }],
  [false, false, { client: "DELETE /books/:id", upstream: "DELETE /items/{id}", response: "none" }],
])("requests only read: %s, at the upstream: %s, of %j", (isSafe, onlyReadsUpstream, route) => {
  const [compiled] = loadPack(writeSmallPack({ book: { routes: [route] } })).routes;
  expect(compiled).toMatchObject({ isSafe, onlyReadsUpstream });
});

test.each([
  ["of a POST that only reads", ", safe: true", [1, 0]],
  ["not of a POST that may write", "", [0]],
])("a native GET needs the scopes of all routes that read with it: %s", (_case, key, levels) => {
  const route = `{ client: POST /books/found, scope: books:write, upstream: GET /items, response: list${key} }`;
  const pack = withPack(
    [{ file: "book.yaml", from: "\nroutes:\n", to: `\nroutes:\n  - ${route}\n` }],
    loadPack,
  );
  const { required = [] } = pack.v4Access("GET", "/api/new/items") ?? {};
  expect(required).toEqual(levels.map((level) => ({ resource: "books", level })));
});

test.each([
  ["an object", "GET /items/{id}", "/api/new/items/5", { resource: "books", level: 0 }],
  ["a row of a catalog", "GET /places/{id}", "/api/new/places/5", "public"],
])(
  "a native GET of %s needs the scope of an alpha GET with a further call that writes",
  (_what, upstream, path, other) => {
    const route = `{ client: "GET /books/:id/seen", scope: "books:write", upstream: "${upstream}", calls: [{ upstream: POST /views }] }`;
    const pack = withPack(
      [{ file: "book.yaml", from: "\nroutes:\n", to: `\nroutes:\n  - ${route}\n` }],
      loadPack,
    );
    const { required = [] } = pack.v4Access("GET", path) ?? {};
    expect(required).toEqual([{ resource: "books", level: 1 }, other]);
  },
);
