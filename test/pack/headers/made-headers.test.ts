/** Headers that the pack makes of responses and of requests, over HTTP. */
import { describe, expect, test } from "@jest/globals";
import { SettingsError } from "../../../src/base/settings/settings.ts";
import { json, plain } from "../../support/fake-v4.ts";
import { RECORDING } from "../../support/gateway.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const READ = { client: "GET /books/:id", upstream: "GET /items/{id}" };
const CREATE = { client: "POST /books", upstream: "POST /items", status: 201 };
const BOOK = { id: 7, name: "Waves" };

const withHeaders = (headers: object, routes: readonly object[] = [READ, CREATE]): SmallPack => ({
  client: { headers },
  book: { routes },
});

describe("an absolute Location", () => {
  const absolute = withHeaders({
    response: { Location: { upstream: "Location", read: '"/books/" & id', links: "absolute" } },
  });
  const settings = { PUBLIC_URL: "https://books.example/old/" };

  test.each([
    ["of the upstream's address", { location: "http://new.internal/items/8" }, "8"],
    ["of the answer, if the upstream has none", {}, "7"],
    ["of the answer, if no route reads what the upstream names", { location: "/elsewhere/9" }, "7"],
  ])("is made %s", async (_what, headers, id) => {
    const { send, service } = await startSmallGateway(absolute, settings);
    service.respondWith(json(201, BOOK, headers));
    const response = await send("POST /books", {
      headers: { host: "127.0.0.1", "x-forwarded-host": "evil" },
    });
    expect(response.headers.get("location")).toBe(`https://books.example/old/books/${id}`);
  });

  test("needs PUBLIC_URL at start", async () => {
    await expect(startSmallGateway(absolute)).rejects.toThrow(SettingsError);
  });
});

test("a header is made of the whole object, whatever members the client chooses", async () => {
  const { send, service } = await startSmallGateway({
    client: {
      sparse_fields: { parameter: "fields" },
      headers: { response: { "X-Id": { read: "$object.id" } } },
    },
    book: { routes: [READ] },
  });
  service.respondWith(json(200, BOOK));
  const response = await send("GET /books/7?fields=title");
  expect(response.headers.get("x-id")).toBe("7");
  expect(response.body).toEqual({ title: "Waves" });
});

describe("an expression of a response header", () => {
  const read = (expression: string) => withHeaders({ response: { "X-Made": { read: expression } } });

  test.each<[what: string, expression: string, expected: string | null]>([
    ["a number", "id", "7"],
    ["a boolean", "id = 7", "true"],
    ["nothing", "none", null],
    ["an object", "$response", null],
    ["a line break, which would start another header", '"a\\r\\nX-Other: b"', null],
    ["a letter that no header can have", '"\\u20ac"', null],
  ])("with %s", async (_what, expression, expected) => {
    const { send, service } = await startSmallGateway(read(expression));
    service.respondWith(json(200, BOOK));
    const { status, headers } = await send("GET /books/7");
    expect([status, headers.get("x-made"), headers.get("x-other")]).toEqual([200, expected, null]);
  });

  test("that fails costs the header alone, and the record says why", async () => {
    const { send, service, lastRecord } = await startSmallGateway(read("$number(name)"), RECORDING);
    service.respondWith(json(200, BOOK));
    const { status, headers } = await send("GET /books/7");
    expect([status, headers.get("x-made")]).toEqual([200, null]);
    expect(await lastRecord()).toContain("headers.response.X-Made.read");
  });
});

describe("a header of every answer", () => {
  const always = withHeaders({
    response: { "X-Cost": { upstream: "X-Cost", on: "always" }, "X-Api": { const: "old", on: "always" } },
  });

  test.each<
    [
      what: string,
      call: string,
      respond: Parameters<SmallGateway["service"]["respondWith"]>[0],
      expected: unknown[],
    ]
  >([
    ["a success", "GET /books/7", json(200, BOOK, { "x-cost": "1" }), [200, "1", "old"]],
    ["an error of the upstream", "GET /books/7", json(404, {}, { "x-cost": "2" }), [404, "2", "old"]],
    ["a failure of the upstream", "GET /books/7", plain(200, "<html>", { "x-cost": "3" }), [500, "3", "old"]],
    ["an unknown path", "GET /none", json(200, {}), [404, null, "old"]],
    ["another method", "PUT /books/7", json(200, {}), [405, null, "old"]],
  ])("is on %s", async (_what, call, respond, expected) => {
    const { send, service } = await startSmallGateway(always);
    service.respondWith(respond);
    const { status, headers } = await send(call);
    expect([status, headers.get("x-cost"), headers.get("x-api")]).toEqual(expected);
  });
});

describe("a value of a request that the upstream has in another place", () => {
  const pack: SmallPack = {
    client: {
      credentials: { header: "X-Key" },
      headers: {
        request: {
          "X-Tenant": { query: "tenant", required: true },
          "X-All": { write: '$join($keys($headers), " ")' },
        },
      },
    },
    upstream: { credentials: { scheme: "Bearer" } },
  };

  test("is required, if the pack says so", async () => {
    const { send, service } = await startSmallGateway(pack);
    const { status, body } = await send("GET /books/7", { headers: { "x-key": "t-1" } });
    expect([status, body.message, service.calls]).toEqual([400, "The X-Tenant header is required.", []]);
  });

  test("is escaped in the query, and expressions never see the token", async () => {
    const { send, service } = await startSmallGateway(pack);
    service.respondWith(json(200, BOOK));
    const headers = { "x-key": "t-1", "x-tenant": "a&b=c", cookie: "d=e" };
    expect((await send("GET /books/7", { headers })).status).toBe(200);
    const [call] = service.calls;
    expect(call?.path).toBe("/items/7?tenant=a%26b%3Dc");
    expect(String(call?.headers["x-all"]).split(" ")).toEqual(
      expect.not.arrayContaining(["x-key", "cookie", "authorization"]),
    );
  });

  test("is made of the object without the client's wrapper, as fields are", async () => {
    const { send, service } = await startSmallGateway({
      client: {
        bodies: { object: { $name: "$object" } },
        headers: {
          request: {
            "X-Title": { write: "title" },
            "X-Body": { write: "$body.title", every_call: true },
          },
        },
      },
      book: {
        bodies: {
          create: { schema: { type: "object", properties: { title: { type: "string" } } } },
        },
        routes: [{ client: "POST /books", upstream: "POST /items", body: "create" }],
      },
    });
    service.respondWith(json(200, BOOK));
    await send("POST /books", { body: { book: { title: "Waves" } } });
    expect(service.calls[0]?.headers).toMatchObject({ "x-title": "Waves", "x-body": "Waves" });
  });

  test.each([
    ["fails", "$number(title)"],
    ["has a line break", '"a\\r\\nX-Other: b"'],
  ])("is a 400 if its expression %s", async (_what, write) => {
    const body = { schema: { type: "object", properties: { title: { type: "string" } } } };
    const { send, service } = await startSmallGateway({
      client: { headers: { request: { "X-Made": { write } } } },
      book: { bodies: { create: body }, routes: [READ, { ...CREATE, body: "create" }] },
    });
    const { status } = await send("POST /books", { body: { title: "Waves" } });
    expect([status, service.calls]).toEqual([400, []]);
  });
});

describe("an entity tag that the pack makes", () => {
  const tagged = withHeaders({ response: { ETag: { read: "version" } } }, [READ]);

  test.each<[what: string, known: string | undefined, expected: number]>([
    ["without a condition", undefined, 200],
    ["with another tag", '"2"', 200],
    ["with the same tag", '"3"', 304],
    ["with the same tag, marked as weak", 'W/"3"', 304],
    ["with one of several", '"1", "3"', 304],
    ["with any", "*", 304],
  ])("%s", async (_what, known, expected) => {
    const { send, service } = await startSmallGateway(tagged);
    service.respondWith(json(200, { ...BOOK, version: 3 }));
    const headers = known === undefined ? {} : { "if-none-match": known };
    const { status, text, headers: received } = await send("GET /books/7", { headers });
    expect([status, received.get("etag"), text === ""]).toEqual([expected, '"3"', expected === 304]);
    expect(service.calls[0]?.headers).not.toHaveProperty("if-none-match");
  });

  test("is left out of an object without the member, which is never a 304", async () => {
    const { send, service } = await startSmallGateway(tagged);
    service.respondWith(json(200, BOOK));
    const { status, headers } = await send("GET /books/7", { headers: { "if-none-match": "*" } });
    expect([status, headers.get("etag")]).toEqual([200, null]);
  });
});

describe("a member of the upstream's body", () => {
  const source = { member: "meta.source", write: '$uppercase($value) & "/" & title', default: "none/" };
  const pack = (headers: object) => ({
    ...withHeaders({ request: { "X-Source": headers } }, [{ ...CREATE, body: "create" }]),
    book: {
      bodies: { create: { schema: { type: "object", properties: { title: { type: "string" } } } } },
      routes: [{ ...CREATE, body: "create" }],
    },
  });

  test.each<[string, Record<string, string>, object, string]>([
    ["of the client's header", { "x-source": "app" }, { title: "Waves" }, "APP/Waves"],
    ["of the client's body", {}, { title: "Waves" }, "/Waves"],
  ])("is made %s", async (_what, headers, body, value) => {
    const { send, service } = await startSmallGateway(pack(source));
    service.respondWith(json(201, BOOK));
    await send("POST /books", { headers, body });
    expect(service.calls.at(-1)?.json()).toEqual({ name: "Waves", meta: { source: value } });
  });
});
