/** One request for many ids: what becomes of it if some of its calls fail, hang, are refused, or its client leaves. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING, type TestSettings } from "../../support/gateway.ts";
import { json, neverRespond, raw, type Responder } from "../../support/fake-v4.ts";
import { startListeningGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { accepted, byId, found, foundAs, JOB, REPEAT, running } from "../../support/job-responses.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";

const BULK = {
  parameter: "id",
  ids: "ids",
  most: 10,
  concurrency: 2,
  success: { id: "$id", status: "$status", book: "$object" },
};

const packOf = (bulk: object = {}, route: object = {}, others: SmallPack = {}): SmallPack => ({
  ...others,
  client: { responses: { error: { message: "$message", field: "$field" } }, ...others.client },
  upstream: { responses: { error: { message: "$message" } }, ...others.upstream },
  book: {
    routes: [
      { client: "POST /books/read", upstream: "GET /items/{id}", bulk: { ...BULK, ...bulk }, ...route },
    ],
    ...others.book,
  },
});

const book = (id: number) => ({ id, status: 200, book: { id, title: "x" } });
const failure = (id: unknown, status: number, message: unknown = expect.any(String)) => ({
  id,
  status,
  error: { message },
});

/** Sends ids; gives the response, and the paths that the upstream was called with. */
async function read(
  pack: SmallPack,
  ids: unknown,
  respond: Responder = found,
  timeout = "300",
  settings: TestSettings = {},
) {
  const gateway = await startSmallGateway(pack, { ...settings, UPSTREAM_TIMEOUT_MS: timeout });
  gateway.service.respondWith(respond);
  const { status, body, headers } = await gateway.send("POST /books/read", { body: { ids } });
  return { status, body, headers, paths: gateway.service.calls.map(({ path }) => path), gateway };
}

describe("the results of many calls", () => {
  test("are in the order of the ids, whatever order the answers come in", async () => {
    const slow: Responder = (call, response) => void setTimeout(() => found(call, response), 100);
    const { status, body } = await read(packOf(), [3, 1, 2], byId({ 3: slow }));
    expect([status, body]).toEqual([200, [book(3), book(1), book(2)]]);
  });

  test("have one call for an id that is there twice", async () => {
    const { body, paths } = await read(packOf(), [1, 2, "1"]);
    expect(body).toEqual([book(1), book(2), { ...book(1), id: "1" }]);
    expect(paths.toSorted()).toEqual(["/items/1", "/items/2"]);
  });

  test.each<[string, Responder, object]>([
    ["is not found", json(404, { message: "No such item" }), failure(2, 404, "No such item")],
    ["is forbidden", json(403, {}), failure(2, 403)],
    ["fails", json(500, { message: "secret stack" }), failure(2, 500)],
    ["never answers", neverRespond, failure(2, 500)],
    ["is broken off", raw("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{", "reset"), failure(2, 500)],
    ["answers no JSON", raw("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>"), failure(2, 500)],
    ["answers a list", json(200, [1]), failure(2, 500)],
  ])("one of which %s have that failure alone", async (_case, respond, expected) => {
    const { status, body } = await read(packOf(), [1, 2, 3], byId({ 2: respond }));
    expect([status, body]).toEqual([200, [book(1), expected, book(3)]]);
  });

  test("may have the id and the status in texts", async () => {
    const shapes = {
      failure: { id: "$id", error: "No book {id} ({status}), {other}" },
      success: { text: "Book {id}" },
    };
    const { body } = await read(packOf(shapes), ["$error", 2], byId({ "%24error": json(404, {}) }));
    expect(body).toEqual([{ id: "$error", error: "No book $error (404), {other}" }, { text: "Book 2" }]);
  });

  test("are counted where the pack asks for it", async () => {
    const list = { books: "$items", ok: "$succeeded", bad: "$failed", version: 1 };
    const { body } = await read(packOf({ list, success: "$object" }), [1, 2], byId({ 2: json(404, {}) }));
    expect(body).toEqual({
      books: [{ id: 1, title: "x" }, failure(2, 404)],
      ok: 1,
      bad: 1,
      version: 1,
    });
  });

  test("keep numbers that no double holds", async () => {
    const gateway = await startSmallGateway(packOf());
    gateway.service.respondWith((_call, response) => response.end('{"id":12345678901234567890,"name":"x"}'));
    const { text } = await gateway.send("POST /books/read", { raw: '{"ids":[12345678901234567890]}' });
    expect(text).toContain('"id":12345678901234567890,"status":200,"book":{"id":12345678901234567890');
    expect(gateway.service.calls[0]?.path).toBe("/items/12345678901234567890");
  });

  test("are all in the record, and so is what is sent", async () => {
    const { gateway } = await read(packOf(), [1, 2, 3], byId({ 2: json(404, {}) }), "300", RECORDING);
    const [record] = await gateway.readRecords();
    expect(record?.v4.map(({ path, status }) => `${path} ${status}`).toSorted()).toEqual([
      "/items/1 200",
      "/items/2 404",
      "/items/3 200",
    ]);
  });

  test("have no secret in the records of any call", async () => {
    const pack = packOf({ ids: "api_keys" }, {}, { pack: { secrets: ["api_keys"] } });
    const gateway = await startSmallGateway(pack, RECORDING);
    gateway.service.respondWith(json(200, { id: 1, name: "x" }));
    await gateway.send("POST /books/read", { body: { api_keys: ["hunter2secret", "hunter3secret"] } });
    expect(gateway.service.calls).toHaveLength(2);
    expect(await gateway.lastRecord()).not.toMatch(/hunter[23]secret/);
  });
});

describe("no more calls than", () => {
  test("the pack allows at the same time", async () => {
    let now = 0;
    let most = 0;
    const counted: Responder = (call, response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        found(call, response);
      }, 20);
    };
    const { paths } = await read(packOf(), [1, 2, 3, 4, 5, 6], counted);
    expect([most, paths.length]).toEqual([2, 6]);
  });

  test("the pack allows for a request: one more id is an error, and nothing is sent", async () => {
    const { status, body, paths } = await read(packOf({ most: 2 }), [1, 2, 3]);
    expect([status, body, paths]).toEqual([400, { message: "Must be at most 2 values.", field: "ids" }, []]);
  });

  test.each([
    ["no ids", undefined, "This field is required."],
    ["an empty list", [], "Must be at least 1 value."],
    ["null", null, "This field is required."],
    ["an object", [{ id: 1 }], "Not a valid value."],
    ["a list in the list", [[1]], "Not a valid value."],
    ["a boolean", [true], "Not a valid value."],
  ])("none for %s", async (_case, ids, message) => {
    const { status, body, paths } = await read(packOf(), ids);
    expect([status, body, paths]).toEqual([400, { message, field: "ids" }, []]);
  });

  test("none where an expression reads a member that is missing: the error names the member", async () => {
    const { status, body, paths } = await read(packOf({ ids: '$split(ids, ",")' }), undefined);
    expect([status, body, paths]).toEqual([400, { message: "This field is required.", field: "ids" }, []]);
  });

  test("none where an expression reads a parameter that is missing: the error is that of a query", async () => {
    const errors = { validation: { status: 422, query: { status: 409 } } };
    const bulk = { ids: '$split($query.codes, ",")' };
    const gateway = await startSmallGateway(
      packOf(bulk, { client: "GET /books/several" }, { pack: { errors } }),
    );
    const { status, body } = await gateway.send("GET /books/several");
    expect([status, body]).toEqual([409, { message: "This field is required.", field: "codes" }]);
  });

  test.each([["../../console"], ["%2e%2e"], ["."], [""], ["a\u0000b"], ["a\\..\\b"]])(
    "none for the id %j, which would lead elsewhere",
    async (id) => {
      const { body, paths } = await read(packOf(), [id, 1]);
      expect(body).toEqual([failure(id, 404), book(1)]);
      expect(paths).toEqual(["/items/1"]);
    },
  );

  test("one for an id with special characters, which are encoded", async () => {
    const { paths } = await read(packOf(), ["a/b?c=%2f#d"], json(200, { id: 1 }));
    expect(paths).toEqual(["/items/a%2Fb%3Fc%3D%252f%23d"]);
  });

  test("are possible in the time of the pack: the others fail", async () => {
    const slow: Responder = (call, response) => void setTimeout(() => found(call, response), 100);
    const { body, paths } = await read(packOf({ timeout_ms: 50 }), [1, 2, 3, 4], slow);
    const late = "There was no time left for this.";
    expect(body).toEqual([book(1), book(2), failure(3, 504, late), failure(4, 504, late)]);
    expect(paths).toHaveLength(2);
  });
});

describe("an error that is about the client", () => {
  const limited = json(429, { message: "Slow down" }, { "retry-after": "7" });

  test("ends the calls: ids after it have it, too", async () => {
    const { status, body, paths } = await read(packOf({ concurrency: 1 }), [1, 2, 3], byId({ 2: limited }));
    expect(status).toBe(200);
    expect(body).toEqual([book(1), failure(2, 429, "Slow down"), failure(3, 429, "Slow down")]);
    expect(paths).toEqual(["/items/1", "/items/2"]);
  });

  test.each([
    [429, limited],
    [401, json(401, { message: "Who are you" })],
  ])("is the response if there is nothing else: %i", async (expected, respond) => {
    const { status, paths, headers } = await read(packOf({ concurrency: 1 }), [1, 2, 3], respond);
    expect([status, paths]).toEqual([expected, ["/items/1"]]);
    expect(headers.get("retry-after")).toBe(expected === 429 ? "7" : null);
  });

  test("does not end them for an id that is not found", async () => {
    const pack = packOf({ concurrency: 1 }, {}, { pack: { errors: { statuses: { 401: 404, 429: 404 } } } });
    const { body, paths } = await read(pack, [1, 2], json(404, {}));
    expect(body).toEqual([failure(1, 404), failure(2, 404)]);
    expect(paths).toHaveLength(2);
  });
});

describe("an error of `whole_errors`", () => {
  const forbidden = json(403, { message: "Not yours" });
  const pack = packOf({ whole_errors: [403, 404] });

  test("is that of the whole response if all calls fail with it", async () => {
    const { status, body, paths } = await read(pack, [1, 2, 3], forbidden);
    expect([status, body]).toEqual([403, { message: "Not yours" }]);
    expect(paths).toHaveLength(3);
  });

  test("is that of the whole response if all calls fail with it, and other ids are invalid", async () => {
    const others = { client: { path_parameters: { id: "integer" } } };
    const typed = packOf({ whole_errors: [403] }, {}, others);
    const { status, body, paths } = await read(typed, [1, "no id", 3], forbidden);
    expect([status, body]).toEqual([403, { message: "Not yours" }]);
    expect(paths).toHaveLength(2);
  });

  test.each<[string, Responder]>([
    ["one call succeeds", byId({ 1: forbidden, 3: forbidden })],
    ["one call fails with another", byId({ 1: forbidden, 2: json(404, { message: "x" }), 3: forbidden })],
  ])("is that of its ids if %s", async (_case, respond) => {
    const { status, body } = await read(pack, [1, 2, 3], respond);
    expect([status, body]).toMatchObject([200, [failure(1, 403, "Not yours"), {}, failure(3, 403)]]);
  });
});

describe("large responses", () => {
  const MEGABYTE = 1024 * 1024;
  /** 9 MB for each id. */
  const large = foundAs("x".repeat(9 * MEGABYTE));

  test("end the calls when their objects have more than 16 million characters", async () => {
    const { status, body, paths } = await read(packOf({ concurrency: 1 }), [1, 2, 3], large, "30000");
    expect(status).toBe(200);
    expect(body).toMatchObject([{ id: 1, status: 200 }, failure(2, 500), failure(3, 500)]);
    expect(paths).toEqual(["/items/1", "/items/2"]);
  });

  test("fail when all responses of one request have more than 64 MB", async () => {
    const pack = packOf({ concurrency: 1, success: undefined }, { response: "none" });
    const ids = [1, 2, 3, 4, 5, 6, 7, 8];
    const { body, gateway } = await read(pack, ids, large, "30000", RECORDING);
    expect(body).toEqual(ids.map((id) => (id <= 7 ? { id, status: 200 } : failure(id, 500))));
    expect(await gateway.lastRecord()).toContain("the responses have more than 67108864 bytes");
  });
});

test("nothing is sent without permission", async () => {
  const others: SmallPack = {
    client: { credentials: { scheme: "Bearer" } },
    upstream: { credentials: { scheme: "Bearer" } },
  };
  const { status, paths } = await read(packOf({}, {}, others), [1]);
  expect([status, paths]).toEqual([401, []]);
});

test("a client that disconnects ends the calls, and no further one is sent", async () => {
  const folder = writeSmallPack(packOf());
  const gateway = await startListeningGatewayWithFakeV4({ ...RECORDING, MAPPINGS_DIR: folder });
  gateway.v4.respondWith(neverRespond);
  const gone = new AbortController();
  const result = fetch(`${gateway.url}/books/read`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ids: [1, 2, 3, 4, 5] }),
    signal: gone.signal,
  }).catch(() => "gone");
  await waitFor(() => gateway.v4.calls.length === 2);
  gone.abort();
  expect(await result).toBe("gone");
  const record = await waitFor(() => gateway.readLastRecord());
  expect(record.alpha.status).toBe(499);
  expect(record.v4.map(({ path }: { path: string }) => path).toSorted()).toEqual(["/items/1", "/items/2"]);
  expect(gateway.v4.calls).toHaveLength(2);
});

describe("each call of many", () => {
  test("may be polled", async () => {
    const gateway = await startSmallGateway(packOf({}, { calls: [JOB], upstream: "POST /items/{id}" }));
    gateway.service.respondWith((call, response) =>
      call.method === "POST"
        ? json(202, { job: `j${call.path.at(-1)}` })(call, response)
        : json(200, { state: "done", id: Number(call.path.at(-1)), name: "x" })(call, response),
    );
    const { body } = await gateway.send("POST /books/read", { body: { ids: [1, 2] } });
    expect(body).toEqual([book(1), book(2)]);
    expect(gateway.service.calls.map(({ path }) => path).toSorted()).toEqual([
      "/items/1",
      "/items/2",
      "/jobs/j1",
      "/jobs/j2",
    ]);
  });

  test("is polled until the time of all calls is up", async () => {
    const gateway = await startSmallGateway(
      packOf({ timeout_ms: 200 }, { calls: [JOB], upstream: "POST /items/{id}" }),
    );
    gateway.service.respondWith((call, response) =>
      (call.method === "POST" ? accepted : running)(call, response),
    );
    const { body } = await gateway.send("POST /books/read", { body: { ids: [1, 2, 3] } });
    expect(body).toEqual([failure(1, 504), failure(2, 504), failure(3, 504)]);
    expect(gateway.service.calls.length).toBeLessThanOrEqual(12);
  });

  test("has the parameters and headers of the request", async () => {
    const pack = packOf(
      {},
      {
        query: { parameters: { lang: "locale" } },
        headers: { request: { "X-Trace": "X-Trace", "X-Space": { query: "space" } } },
      },
    );
    const gateway = await startSmallGateway(pack);
    gateway.service.respondWith(json(200, { id: 1 }));
    const headers = { "X-Trace": "t", "X-Space": "s" };
    await gateway.send("POST /books/read?lang=nl", { body: { ids: [1, 2] }, headers });
    expect(gateway.service.calls.map(({ path }) => path).toSorted()).toEqual([
      "/items/1?locale=nl&space=s",
      "/items/2?locale=nl&space=s",
    ]);
    expect(gateway.service.calls.map((call) => call.headers["x-trace"])).toEqual(["t", "t"]);
  });

  test("has members that the client has chosen", async () => {
    const pack = packOf({}, {}, { client: { sparse_fields: { parameter: "fields" } } });
    const gateway = await startSmallGateway(pack);
    gateway.service.respondWith(byId({ 2: json(404, {}) }));
    const { body } = await gateway.send("POST /books/read?fields=title", { body: { ids: [1, 2] } });
    expect(body).toEqual([{ id: 1, status: 200, book: { title: "x" } }, failure(2, 404)]);
  });
});

describe("check reports", () => {
  test.each<[string, object, object, string]>([
    [
      "calls that are all the same",
      {},
      { upstream: "GET /items" },
      'all calls would be the same: "upstream" does not have {id}; GET /items/{id}',
    ],
    [
      "an id that is in the client's path",
      {},
      { client: "POST /books/:id/read" },
      "the client's path has :id as well: use another name",
    ],
    ["a list of each", {}, { response: "list" }, 'a route with "bulk" has the response of each call'],
    [
      "a call for one answer",
      {},
      { calls: [{ part: "parts", upstream: "GET /parts" }] },
      '"bulk" excludes calls before the main call, and parts',
    ],
    ["too many ids", { most: 5000 }, {}, "must be at most 100"],
    ["too many calls at once", { concurrency: 50 }, {}, "must be at most 8"],
    ["an unknown name", { success: { id: "$idd" } }, {}, 'unknown name "$idd"; did you mean "$id"?'],
    [
      "a response without results",
      { list: { n: "$failed" } },
      {},
      '"$items" is missing: nothing shows the results',
    ],
    [
      "an object of a response without one",
      {},
      { response: "none" },
      '"$object" has no value: the route has "response: none"',
    ],
    [
      "too many requests to poll",
      { most: 100 },
      {
        upstream: "POST /items/{id}",
        calls: [
          { ...JOB, repeat: { ...REPEAT, interval_ms: 10, timeout_ms: 1000 }, upstream: "GET /jobs/{id}" },
        ],
      },
      "one request may send 6000 requests to poll: 1000 are allowed",
    ],
    ["an invalid expression", { ids: "ids[" }, {}, 'Expected "]"'],
    ["a variable that does not exist", { ids: "$sent.ids" }, {}, "$sent"],
  ])("%s", (_case, bulk, route, message) => {
    const faults = faultsOfSmallPack(packOf(bulk, route));
    expect(faults.join("\n")).toContain(message);
    expect(faults).toHaveLength(1);
  });
});
