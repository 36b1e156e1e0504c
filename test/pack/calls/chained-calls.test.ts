/** Values of the client's path and of answers in further calls: what hostile, missing and wrong values become. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

let gateway: SmallGateway;

const FILTERS = { filters: { parameter: "{field}" } };
const HEADER_FILTERS = { filters: { header: "X-Filter", operators: { and: "and" } } };

const packOf = (route: object, others: SmallPack = {}): SmallPack => ({
  ...others,
  book: {
    fields: { id: "id", shelf: { read: "$calls.shelf.name", omit_null: true } },
    routes: [{ client: "GET /books/:id", upstream: "GET /items/{id}", ...route }],
  },
});

/** Sends a request, and gives the paths that the upstream was called with. */
async function pathsOf(
  pack: SmallPack,
  call: string,
  ...answers: readonly [object, ...object[]]
): Promise<{ status: number; body: unknown; paths: readonly string[] }> {
  gateway = await startSmallGateway(pack, RECORDING);
  const [first, ...others] = answers.map((answer) => json(200, answer));
  if (first) gateway.service.respondWith(first, ...others);
  const { status, body } = await gateway.send(call);
  return { status, body, paths: gateway.service.calls.map(({ path }) => path) };
}

describe("a value of an answer in the path of the next call", () => {
  const RELATED = packOf({
    calls: [{ name: "shelf", upstream: "GET /shelves/{response.shelf}?of={response.owner}" }],
  });

  test.each([
    ["a question mark", "a?b=c", "/shelves/a%3Fb%3Dc?of=me"],
    ["a slash", "a/b", "/shelves/a%2Fb?of=me"],
    ["an encoded slash", "a%2fb", "/shelves/a%252fb?of=me"],
    ["a fragment", "a#b", "/shelves/a%23b?of=me"],
    ["another alphabet", "böse", "/shelves/b%C3%B6se?of=me"],
    ["a number that no double holds", 12345678901234567890n, "/shelves/12345678901234567890?of=me"],
  ])("is encoded: %s", async (_case, shelf, path) => {
    gateway = await startSmallGateway(RELATED);
    const text = typeof shelf === "bigint" ? String(shelf) : JSON.stringify(shelf);
    gateway.service.respondWith(
      (_call, response) => response.end(`{"id":1,"owner":"me","shelf":${text}}`),
      json(200, { name: "top" }),
    );
    const { body } = await gateway.send("GET /books/1");
    expect(body).toEqual({ id: 1, shelf: "top" });
    expect(gateway.service.calls.map((call) => call.path)).toEqual(["/items/1", path]);
  });

  test.each([
    ["a dot segment", "../../console"],
    ["an encoded dot segment", "%2e%2e"],
    ["a dot segment between backslashes", "a\\..\\b"],
    ["a control character", "a\u0000b"],
    ["an empty text", ""],
    ["an object", { id: 5 }],
    ["null", null],
  ])("is never sent: %s. The response lacks what the call is for", async (_case, shelf) => {
    const { status, body, paths } = await pathsOf(RELATED, "GET /books/1", { id: 1, owner: "me", shelf });
    expect([status, body, paths]).toEqual([200, { id: 1 }, ["/items/1"]]);
    expect(await gateway.lastRecord()).toContain("shelf: ");
  });

  test("a value in the query may be anything, and adds no parameter", async () => {
    const answer = { id: 1, shelf: "a", owner: "../x&admin=1#" };
    const { paths } = await pathsOf(RELATED, "GET /books/1", answer, {});
    expect(paths).toEqual(["/items/1", "/shelves/a?of=..%2Fx%26admin%3D1%23"]);
  });

  test("has the secrets of the query masked in the record", async () => {
    const pack = packOf(
      { calls: [{ name: "shelf", upstream: "GET /shelves?access_key={response.key}" }] },
      { pack: { secrets: ["access_key", "key"] } },
    );
    const { paths } = await pathsOf(pack, "GET /books/1", { id: 1, key: "hunter2secret" }, {});
    expect(paths.at(-1)).toBe("/shelves?access_key=hunter2secret");
    expect(await gateway.lastRecord()).not.toContain("hunter2secret");
  });
});

describe("calls before the main call, of which one has values of another", () => {
  const calls = {
    item: { at: "before", upstream: "GET /items/{id}" },
    shelf: { at: "before", upstream: "GET /shelves/{item.shelf}" },
  };
  const route = { upstream: "GET /rooms/{shelf.room}", calls: ["item", "shelf"] };
  const PACK = packOf(route, { pack: { calls } });

  test("are called one after the other", async () => {
    const { paths } = await pathsOf(PACK, "GET /books/1", { shelf: 2 }, { room: 3 }, { id: 3 });
    expect(paths).toEqual(["/items/1", "/shelves/2", "/rooms/3"]);
  });

  test("an answer without the value ends the request, and nothing further is called", async () => {
    const { status, paths } = await pathsOf(PACK, "GET /books/1", { other: 2 });
    expect([status, paths]).toEqual([500, ["/items/1"]]);
    expect(await gateway.lastRecord()).toContain("no value for {item.shelf} of an upstream path");
  });

  test("the error of the first is the answer of the request", async () => {
    gateway = await startSmallGateway(PACK);
    gateway.service.respondWith(json(404, { message: "gone" }));
    const { status } = await gateway.send("GET /books/1");
    expect([status, gateway.service.calls.length]).toEqual([404, 1]);
  });

  /** A body whose author must exist, and the author's house. @param name of the first of the two calls */
  const authorPack = (name: string): SmallPack => ({
    client: { responses: { error: { errors: [{ field: "$field", message: "$message" }] } } },
    pack: {
      messages: { unknown_record: "No such thing" },
      calls: {
        [name]: { at: "before", upstream: "GET /authors/{author}", not_found_field: "author" },
        house: { at: "before", upstream: `GET /houses/{${name}.house}`, not_found_field: "author" },
      },
    },
    book: {
      inputs: { author: { upstream: "by" } },
      bodies: { create: { schema: { type: "object", properties: { author: { type: "string" } } } } },
      routes: [{ client: "POST /books", upstream: "POST /items", body: "create", calls: [name, "house"] }],
    },
  });

  test("a value that is not found is one error of its field, and nothing further is called", async () => {
    gateway = await startSmallGateway(authorPack("writer"));
    gateway.service.respondWith(json(404, {}));
    const { status, body } = await gateway.send("POST /books", { body: { author: "x" } });
    expect([status, body]).toEqual([400, { errors: [{ field: "author", message: "No such thing" }] }]);
    expect(gateway.service.calls.length).toBe(1);
  });

  test("a call with the name of a member that a path has is reported", () =>
    expect(faultsOfSmallPack(authorPack("author"))).toEqual([
      "{author} could be an earlier call or a path parameter or a member of the body: one of them needs another name",
    ]));
});

test.each(["before", "after"])(
  "a call %s the main call with the name of a path parameter is reported",
  (at) =>
    expect(
      faultsOfSmallPack({
        book: {
          routes: [
            {
              client: "GET /hives/:hive",
              upstream: "GET /items/1",
              calls: [{ name: "hive", at, upstream: "GET /hives/1" }],
            },
          ],
        },
      }),
    ).toEqual(['a path parameter has the name of the call "hive": rename the call']),
);

test("a call before the main call has the id of the path, whatever id the body has", async () => {
  const properties = { id: { type: "integer" }, title: { type: "string" } };
  gateway = await startSmallGateway({
    pack: { calls: { current: { at: "before", upstream: "GET /items/{id}" } } },
    book: {
      bodies: { edit: { merge_with: "current", schema: { type: "object", properties } } },
      routes: [{ client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit", calls: ["current"] }],
    },
  });
  gateway.service.respondWith(json(200, { id: 5, name: "old", owner: "me" }));
  expect((await gateway.send("PUT /books/5", { body: { id: 7, title: "x" } })).status).toBe(200);
  expect(gateway.service.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /items/5",
    "PUT /items/5",
  ]);
});

describe("the read after a call, by the id of its answer", () => {
  const PACK = packOf({
    client: "POST /books",
    upstream: "POST /items",
    calls: [{ upstream: "GET /items/{response.id}", answer: true, fallback: '{ "id": 0 }' }],
  });

  test("has the answer that the read gives", async () => {
    const { body, paths } = await pathsOf(PACK, "POST /books", { id: 8 }, { id: 8 });
    expect([body, paths]).toEqual([{ id: 8 }, ["/items", "/items/8"]]);
  });

  test.each([{}, { id: ".." }, []])(
    "is left out without an id: the call has succeeded (%j)",
    async (answer) => {
      const { status, body, paths } = await pathsOf(PACK, "POST /books", answer);
      expect([status, body, paths]).toEqual([200, { id: 0 }, ["/items"]]);
    },
  );
});

describe("values in the condition of a list", () => {
  const list = (where: object, filters: object = FILTERS, parameters: object = {}): SmallPack =>
    packOf(
      { client: "GET /people/:person/books", upstream: "GET /items", response: "list", where },
      { client: { path_parameters: parameters }, upstream: filters },
    );

  test("a value of the path is sent", async () =>
    expect((await pathsOf(list({ owner: "{person}" }), "GET /people/5/books", [])).paths).toEqual([
      "/items?owner=5",
    ]));

  test("a value of the path adds no parameter", async () =>
    expect(
      (await pathsOf(list({ owner: "u-{person}" }), "GET /people/a%26owner%3D9/books", [])).paths,
    ).toEqual(["/items?owner=u-a%26owner%3D9"]));

  test.each([
    ["a text", {}, "5"],
    ["a number, if the parameter is an integer", { person: "integer" }, 5],
  ])("in a filter header it is %s", async (_case, parameters, value) => {
    const where = { owner: "{person}", any: [{ tag: "by-{person}" }, { tag: "x" }] };
    await pathsOf(list(where, HEADER_FILTERS, parameters), "GET /people/5/books", []);
    expect(JSON.parse(String(gateway.service.calls[0]?.headers["x-filter"]))).toEqual({
      owner: value,
      any: [{ tag: "by-5" }, { tag: "x" }],
    });
  });

  test("two requests do not share a value", async () => {
    await pathsOf(list({ owner: "{person}" }), "GET /people/5/books", []);
    await gateway.send("GET /people/6/books");
    expect(gateway.service.calls.map(({ path }) => path)).toEqual(["/items?owner=5", "/items?owner=6"]);
  });
});

describe("check reports a name that no request has a value for", () => {
  test.each<[string, SmallPack, string]>([
    [
      "in a condition",
      packOf(
        {
          client: "GET /people/:person/books",
          upstream: "GET /items",
          response: "list",
          where: { owner: "{persn}" },
        },
        { upstream: FILTERS },
      ),
      'unknown name {persn}; did you mean "person"?',
    ],
    [
      "deep in a condition, of a path without parameters",
      packOf(
        {
          client: "GET /books",
          upstream: "GET /items",
          response: "list",
          where: { and: [{ owner: "a{id}" }] },
        },
        { upstream: HEADER_FILTERS },
      ),
      "unknown name {id}; the client's path has no parameter, such as /:id",
    ],
    [
      "in a call after the main call",
      packOf({ calls: [{ name: "shelf", upstream: "GET /shelves/{respons.id}" }] }),
      'unknown name {respons.id}; did you mean "response"?',
    ],
    [
      "in a call that comes before the one it needs",
      packOf({
        calls: [
          { name: "second", at: "before", upstream: "GET /b/{first.id}" },
          { name: "first", at: "before", upstream: "GET /a" },
        ],
      }),
      "unknown name {first.id}",
    ],
    [
      "with two meanings",
      packOf({
        client: "GET /books/:response",
        upstream: "GET /items/{response}",
        calls: [{ name: "shelf", upstream: "GET /shelves/{response}" }],
      }),
      "{response} could be the response of the call or another name of the route: one of them needs another name",
    ],
  ])("%s", (_case, pack, fault) => {
    const faults = faultsOfSmallPack(pack);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });
});
