/** Functions and schemas of `pack.yaml`, which all files use by their names. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const PACK: SmallPack = {
  pack: {
    functions: {
      loud: "function($text) { $uppercase($text) }",
      twice: "function($text) { $loud($text) & $loud($text) }",
    },
    schemas: { short: { type: "string", maxLength: 3 }, book: { properties: { title: { $ref: "short" } } } },
    values: { loud: { read: "$loud($value)", write: "$lowercase($value)" } },
  },
  book: {
    fields: {
      id: "id",
      title: { upstream: "name", values: "loud" },
      both: { read: "$twice(name)" },
      all: { read: "$map(names, $loud)" },
    },
    bodies: { edit: { schema: { $ref: "book", required: ["title"] } } },
    routes: [
      {
        client: "GET /books/:id",
        upstream: "GET /items/{id}",
        query: { parameters: { q: { upstream: "q", schema: { $ref: "short" } } } },
      },
      { client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" },
    ],
  },
};

async function send(call: string, body?: object) {
  const gateway = await startSmallGateway(PACK);
  gateway.service.respondWith(json(200, { id: 1, name: "a", names: ["x", "y"] }));
  const response = await gateway.send(call, { ...(body && { body }) });
  return { status: response.status, body: response.body };
}

test("functions are called by expressions, by value kinds and by each other", async () => {
  expect((await send("GET /books/1")).body).toEqual({ id: 1, title: "A", both: "AA", all: ["X", "Y"] });
});

test("schemas are those of bodies and parameters, with keywords of their own", async () => {
  expect((await send("PUT /books/1", { title: "abc" })).status).toBe(200);
  expect((await send("PUT /books/1", { title: "abcd" })).status).toBe(400);
  expect((await send("PUT /books/1", {})).status).toBe(400);
  expect((await send("GET /books/1?q=abcd")).status).toBe(400);
});

describe("check reports", () => {
  const read = (expression: string) => ({ fields: { id: "id", title: { read: expression } } });
  test.each<[string, SmallPack, string]>([
    ["an unknown function", { ...PACK, book: read("$lound(name)") }, "$lound"],
    [
      "what is no function",
      { pack: { functions: { f: "name" } }, book: read("$f(name)") },
      "must be a function",
    ],
    [
      "a name that JSONata has",
      { pack: { functions: { uppercase: "function($x) { $x }" } }, book: read("$uppercase(name)") },
      "JSONata has a function $uppercase already",
    ],
    [
      "a function with the name of a variable of requests",
      { pack: { functions: { calls: "function($x) { $x }" } }, book: read("$calls(name)") },
      "$calls is a variable of requests, which the function would hide",
    ],
    [
      "a variable in a function",
      { pack: { functions: { f: "function() { $value }" } }, book: read("$f()") },
      "$value",
    ],
    [
      "an unknown schema",
      { book: { bodies: { edit: { schema: { $ref: "shart" } } } } },
      'unknown schema "shart"',
    ],
    [
      "a schema in itself",
      {
        pack: { schemas: { a: { properties: { id: { $ref: "a" } } } } },
        book: {
          bodies: { edit: { schema: { $ref: "a" } } },
          routes: [{ client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" }],
        },
      },
      "inside of itself",
    ],
  ])("%s", (_what, pack, message) => {
    expect(faultsOfSmallPack(pack)).toContainEqual(expect.stringContaining(message));
  });
});
