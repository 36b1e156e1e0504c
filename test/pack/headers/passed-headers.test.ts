/** Statuses of success, headers that pass from one side to the other, and versions. */
import { describe, expect, test } from "@jest/globals";
import { badRequestBody } from "../../../src/gateway/index.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { RECORDING, type TestSettings } from "../../support/gateway.ts";
import { json, plain, startFakeV4 } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import { type SmallPack, writeSmallPack } from "../../support/small-pack.ts";

let gateway: SmallGateway;

const start = async (pack: SmallPack, settings: TestSettings = {}): Promise<SmallGateway> =>
  (gateway = await startSmallGateway(pack, settings));

const READ = { client: "GET /books/:id", upstream: "GET /items/{id}" };
const BOOK = { id: 7, name: "Waves" };

describe("the status of a success", () => {
  test("204 has neither a body nor headers about one, and is recorded", async () => {
    const route = {
      client: "DELETE /books/:id",
      upstream: "DELETE /items/{id}",
      response: "none",
      status: 204,
    };
    const { send, service, lastRecord } = await start({ book: { routes: [READ, route] } }, RECORDING);
    service.respondWith(json(200, { done: true }));
    const { status, text, headers } = await send("DELETE /books/7");
    expect([status, text, headers.get("content-length"), headers.get("content-type")]).toEqual([
      204,
      "",
      null,
      null,
    ]);
    expect(await lastRecord()).toContain('"status":204');
  });

  test("is that of the route, whatever the upstream's is", async () => {
    const route = { client: "POST /books", upstream: "POST /items", status: 202 };
    const { send, service } = await start({ book: { routes: [READ, route] } });
    service.respondWith(json(201, BOOK));
    const { status, body } = await send("POST /books");
    expect([status, body]).toEqual([202, { id: 7, title: "Waves" }]);
  });
});

describe("Location", () => {
  test.each([
    ["a number in its value kind", "/items/5", "/books/T5"],
    ["a text in its value kind", "/items/a", undefined],
    ["a text that is no canonical number", "/items/05", undefined],
  ])("has an id that is %s", (_, address, path) => {
    const tid = { read: '"T" & ($value + 0)', write: "$substring($value, 1)" };
    const { locate } = loadPack(
      writeSmallPack({ client: { path_parameters: { id: { values: "tid" } } }, pack: { values: { tid } } }),
    );
    expect(locate(address, "/items")).toBe(path);
  });

  const createAt = async (location: string) => {
    const { send, service } = await start({
      client: { base_path: "/old", headers: { response: { Location: "Location" } } },
      upstream: { base_path: "/api" },
      book: { routes: [READ, { client: "POST /books", upstream: "POST /items", status: 201 }] },
    });
    service.respondWith(json(201, BOOK, { location }));
    return (await send("POST /old/books")).headers.get("location");
  };

  test.each([
    ["a path", "/api/items/7", "/old/books/7"],
    ["a URL", "https://new.internal/api/items/7?full=1#top", "/old/books/7"],
    ["a URL whose service has a path of its own", "https://new.internal/tenant/api/items/7", "/old/books/7"],
    ["a relative path", "items/7", "/old/books/7"],
    ["a value with escapes", "/api/items/a%20b%2Fc", "/old/books/a%20b%2Fc"],
  ])("becomes the client's path: %s", async (_form, location, expected) =>
    expect(await createAt(location)).toBe(expected),
  );

  test("has the client's values of path parameters", async () => {
    const { send, service } = await start({
      client: {
        path_parameters: { id: { type: "text", values: "book_id" } },
        headers: { response: { Location: "Location" } },
      },
      pack: { values: { book_id: { read: '"b_" & $value', write: '$substringAfter($value, "b_")' } } },
      book: {
        routes: [
          { client: "GET /books/{id}.json", upstream: "GET /items/{id}" },
          { client: "POST /books", upstream: "POST /items", status: 201 },
        ],
      },
    });
    service.respondWith(json(201, BOOK, { location: "/items/7" }));
    expect((await send("POST /books")).headers.get("location")).toBe("/books/b_7.json");
  });

  const NESTED = { client: "GET /shelves/:shelf/books/:id", upstream: "GET /shelves/{shelf}/items/{id}" };
  const createIn = async (routes: readonly object[]) => {
    const create = {
      client: "POST /shelves/:shelf/books",
      upstream: "POST /shelves/{shelf}/items",
      status: 201,
    };
    const { send, service } = await start({
      client: { headers: { response: { Location: "Location" } } },
      book: { routes: [...routes, create] },
    });
    service.respondWith(json(201, BOOK, { location: "/shelves/3/items/5" }));
    return (await send("POST /shelves/3/books")).headers.get("location");
  };

  test("of an object below another one is that of the route with both", async () =>
    expect(await createIn([READ, NESTED])).toBe("/shelves/3/books/5"));

  test("of an object below another one is left out where only an object of the same name has a route", async () =>
    expect(await createIn([READ])).toBeNull());

  test.each([
    ["a path", "/tenant/items/7", "/books/7"],
    ["a URL, whatever its host", "https://public.example/tenant/items/7", "/books/7"],
    ["a relative path", "items/7", "/books/7"],
    ["the path that the service has behind a proxy", "/items/7", "/books/7"],
    ["another path in front", "/other/items/7", null],
    ["a path that only begins like it", "/tenants/items/7", null],
  ])("may have the path of UPSTREAM_URL in front: %s", async (_form, location, expected) => {
    const service = await startFakeV4();
    gateway = await startSmallGateway(
      {
        client: { headers: { response: { Location: "Location" } } },
        book: { routes: [READ, { client: "POST /books", upstream: "POST /items", status: 201 }] },
      },
      { UPSTREAM_URL: `${service.url}/tenant/` },
    );
    service.respondWith(json(201, BOOK, { location }));
    expect((await gateway.send("POST /books")).headers.get("location")).toBe(expected);
    expect(service.calls.map(({ path }) => path)).toEqual(["/tenant/items"]);
  });

  test.each([
    ["nothing that a route reads", "/api/invoices/7"],
    ["another level", "/api/items/7/pages"],
    ["a dot segment", "/api/items/%2e%2e"],
    ["no address", "http://["],
    ["something endless", `/api/items/${"a".repeat(5000)}`],
  ])("is left out for %s, so that no address of the upstream leaks", async (_what, location) =>
    expect(await createAt(location)).toBeNull(),
  );
});

describe("headers of requests", () => {
  const client = {
    credentials: { header: "X-Key" },
    headers: {
      request: { "Idempotency-Key": "X-Once", "Accept-Language": { upstream: "X-Lang", default: "en" } },
    },
  };
  const upstream = { credentials: { header: "X-Token" }, headers: { "X-Client": "gateway" } };

  test("are passed under the upstream's names, and other headers are not", async () => {
    const { send, service } = await start({ client, upstream });
    service.respondWith(json(200, BOOK));
    const headers = {
      "x-key": "secret-key",
      "idempotency-key": "a1",
      "x-other": "b",
      "x-once": "c",
      "x-token": "d",
    };
    expect((await send("GET /books/7", { headers })).status).toBe(200);
    const [call] = service.calls;
    expect(call?.headers).toMatchObject({
      "x-once": "a1",
      "x-lang": "en",
      "x-token": "secret-key",
      "x-client": "gateway",
    });
    expect(call?.headers).not.toHaveProperty("x-other");
    expect(call?.headers).not.toHaveProperty("x-key");
  });
});

describe("a conditional request", () => {
  const pack = {
    client: { headers: { request: { "If-None-Match": "If-None-Match" }, response: { ETag: "ETag" } } },
  };

  test("gets 304 with the headers that pass", async () => {
    const { send, service } = await start(pack);
    service.respondWith(plain(304, "", { etag: '"a1"' }));
    const { status, text, headers } = await send("GET /books/7", { headers: { "if-none-match": '"a1"' } });
    expect([status, text, headers.get("etag")]).toEqual([304, "", '"a1"']);
  });

  test.each([
    ["whose client chooses members", { sparse_fields: { parameter: "fields" } }, {}],
    ["with a header made of the client's response", {}, { "X-Id": { read: "$object.book.id" } }],
  ])("gets 304 without the wrapper of its object, also one %s", async (_which, keys, made) => {
    const { headers: conditions } = pack.client;
    const { send, service } = await start({
      client: {
        ...keys,
        responses: { object: { book: "$object" } },
        headers: { ...conditions, response: { ...conditions.response, ...made } },
      },
    });
    service.respondWith(plain(304, "", { etag: '"a1"' }));
    const { status, text, headers } = await send("GET /books/7?fields=id", {
      headers: { "if-none-match": '"a1"' },
    });
    expect([status, text, headers.get("etag"), headers.get("x-id")]).toEqual([304, "", '"a1"', null]);
  });

  test("is an error of the upstream where the client has not asked", async () => {
    const { send, service } = await start(pack);
    service.respondWith(plain(304, "", { etag: '"a1"' }));
    expect((await send("GET /books/7")).status).toBe(500);
  });
});

describe("a version by media type", () => {
  const type = "application/vnd.shop+json;version=1";
  const statusFor = async (accept: string | undefined, required?: true) => {
    const { send, service } = await start({
      client: { version: { media_type: type, ...(required && { required }) } },
    });
    service.respondWith(json(200, BOOK));
    const { status, headers } = await send("GET /books/7", {
      headers: accept === undefined ? {} : { accept },
    });
    return [status, headers.get("content-type")];
  };

  test.each([
    ["itself", "application/vnd.shop+json; version=1"],
    ["itself among others", 'text/html, application/vnd.shop+json;q=0.5;Version="1"'],
    ["JSON", "application/json"],
    ["anything", "*/*;q=0.1"],
    ["nothing said", undefined],
  ])("serves %s", async (_what, accept) => expect(await statusFor(accept)).toEqual([200, type]));

  test.each([
    ["another version", "application/vnd.shop+json;version=2"],
    ["no version", "application/vnd.shop+json"],
    ["another type", "text/html"],
    ["an exclusion", "application/vnd.shop+json;version=1;q=0"],
  ])("rejects %s with 406", async (_what, accept) => expect((await statusFor(accept))[0]).toBe(406));

  test.each([
    ["JSON", "application/json"],
    ["nothing said", undefined],
  ])("rejects %s where the version is required", async (_what, accept) =>
    expect((await statusFor(accept, true))[0]).toBe(406),
  );
});

describe("the type of responses", () => {
  const type = "application/json; charset=utf-8";

  test.each([
    ["a success", "GET /books/7", json(200, BOOK), 200],
    ["an error of the upstream", "GET /books/7", json(404, {}), 404],
    ["an unknown path", "GET /none", json(200, {}), 404],
  ])("is that of the pack, whatever the client accepts: %s", async (_what, call, response, expected) => {
    const { send, service } = await start({ client: { content_type: type } });
    service.respondWith(response);
    const { status, headers } = await send(call, { headers: { accept: "text/html" } });
    expect([status, headers.get("content-type")]).toEqual([expected, type]);
  });

  test("errors may have a type of their own", async () => {
    const responses = { error_media_type: "application/problem+json" };
    const { send } = await start({ client: { content_type: type, responses } });
    expect((await send("GET /none")).headers.get("content-type")).toBe("application/problem+json");
  });

  test("is also that of a message that is no valid request", () => {
    const folder = writeSmallPack({ client: { content_type: type } });
    expect(badRequestBody(loadPack(folder), "malformed").type).toBe(type);
  });
});

describe("a version by header", () => {
  test("is checked, and the upstream gets its own", async () => {
    const { send, service } = await start({
      client: { version: { header: "Api-Version", value: "1", required: true } },
      upstream: { version: { media_type: "application/vnd.shop.v2+json" } },
    });
    service.respondWith(json(200, BOOK));
    const statuses = [];
    for (const version of ["1", "2", undefined])
      statuses.push(
        (await send("GET /books/7", { headers: version ? { "api-version": version } : {} })).status,
      );
    expect(statuses).toEqual([200, 400, 400]);
    expect(service.calls.map(({ headers }) => headers.accept)).toEqual(["application/vnd.shop.v2+json"]);
  });
});
