/** Values of clients that become part of an upstream path. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

let gateway: SmallGateway;

async function send(call: string, body?: object) {
  gateway = await startSmallGateway({
    pack: { values: { prefixed: { read: '"b_" & $value', write: '$substringAfter($value, "b_")' } } },
    client: { responses: { error: { message: "$message", field: "$field" } } },
    book: {
      path_parameters: { id: { type: "path", values: "prefixed" } },
      bodies: {
        move: {
          schema: { type: "object", properties: { title: { type: "string" } } },
          to_path: { name: "name" },
        },
      },
      routes: [
        { client: "GET /books/:id", upstream: "GET /items/{id}" },
        { client: "POST /moves", upstream: "POST /moves/{name}", body: "move", response: "none" },
      ],
    },
  });
  gateway.service.respondWith(json(200, { id: 7 }));
  const { status, body: response } = await gateway.send(call, body && { body });
  return { status, response, calls: gateway.service.calls.length };
}

describe("a path parameter that is translated", () => {
  test("is sent if its value can be in a path", async () => {
    expect(await send("GET /books/b_7")).toMatchObject({ status: 200, calls: 1 });
  });

  test.each([
    ["empty", "b_"],
    ["a dot segment", "b_.."],
    ["a path with a dot segment", "b_../7"],
    ["an encoded dot segment", "b_%252e%252e"],
    ["a path with an empty segment", "b_/7"],
  ])("is a 404 without a call if its value is %s", async (_case, value) => {
    expect(await send(`GET /books/${value}`)).toMatchObject({ status: 404, calls: 0 });
  });
});

describe("a member of a body that is sent in the path", () => {
  test.each([
    ["half of a surrogate pair", "\ud800"],
    ["a dot segment", ".."],
    ["an empty text", ""],
  ])("is a 400 that names the member, without a call, if it is %s", async (_case, title) => {
    const response = { message: "Not a valid value.", field: "title" };
    expect(await send("POST /moves", { title })).toEqual({ status: 400, response, calls: 0 });
  });
});

describe("a value of a path that is in a header, in the query, or made by an expression", () => {
  async function read(call: string, headers: Record<string, string> = {}) {
    gateway = await startSmallGateway({
      client: {
        headers: { request: { "X-Shop": { path: "shop", required: true } } },
        query: { parameters: { region: { path: "region", required: true } } },
        responses: { error: { message: "$message", field: "$field", code: "$code" } },
      },
      pack: { errors: { validation: { codes: { required: "missing", default: "invalid" } } } },
      book: {
        routes: [
          { client: "GET /books/:id", upstream: "GET /items/{id}" },
          { client: "GET /shelf/:id", upstream: "GET /{shop}/items/{id}" },
          {
            client: "GET /places/:id",
            upstream: "GET /{region}/items/{id}",
            calls: [{ name: "place", at: "before", upstream: "GET /{region}/places/{id}" }],
          },
          {
            client: "GET /notes/:id",
            upstream: "GET /items/{item}",
            values: { item: '$path.id = "none" ? null : "i" & $path.id' },
          },
        ],
      },
    });
    gateway.service.respondWith(json(200, { id: 7 }));
    const { status, body } = await gateway.send(call, { headers });
    return { status, body, calls: gateway.service.calls.map(({ path }) => path) };
  }

  test("is part of the paths of all calls", async () => {
    const { calls } = await read("GET /places/7?region=eu");
    expect(calls).toEqual(["/eu/places/7", "/eu/items/7"]);
  });

  test("is not required on routes without it", async () => {
    expect(await read("GET /books/7")).toMatchObject({ status: 200, calls: ["/items/7"] });
  });

  test("is a 400 that names the header, if it is missing or leads to another path", async () => {
    const missing = { message: "The X-Shop header is required.", field: "X-Shop", code: "missing" };
    expect(await read("GET /shelf/7")).toEqual({ status: 400, body: missing, calls: [] });
    await gateway.stop();
    const invalid = { message: "Not a valid value.", field: "X-Shop", code: "invalid" };
    expect(await read("GET /shelf/7", { "x-shop": ".." })).toEqual({ status: 400, body: invalid, calls: [] });
    await gateway.stop();
    expect(await read("GET /shelf/7", { "x-shop": "a/b" })).toMatchObject({ calls: ["/a%2Fb/items/7"] });
  });

  test("is a failure without a call, if its expression gives no text", async () => {
    expect(await read("GET /notes/7")).toMatchObject({ status: 200, calls: ["/items/i7"] });
    await gateway.stop();
    expect(await read("GET /notes/none")).toMatchObject({ status: 500, calls: [] });
  });
});
