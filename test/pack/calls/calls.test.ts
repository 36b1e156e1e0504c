/** Calls in addition to the main call: what they send, what becomes of their failures, and what their expressions know. */
import { describe, expect, test } from "@jest/globals";
import { type TestSettings, RECORDING } from "../../support/gateway.ts";
import { json, type Responder } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const ERRORS = { responses: { error: { message: "$message", code: "$code" } } };

const packOf = (route: object, others: SmallPack = {}): SmallPack => ({
  client: ERRORS,
  upstream: ERRORS,
  ...others,
  book: {
    fields: { id: "id", title: "name", labels: { read: "$calls.tags.names", omit_null: true } },
    bodies: {
      create: {
        schema: {
          type: "object",
          properties: { title: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
        },
      },
    },
    inputs: { tags: { upstream: "tags", send: false } },
    routes: [{ client: "POST /:account/books", upstream: "POST /items", body: "create", ...route }],
  },
});

async function start(
  pack: SmallPack,
  respond: Responder,
  settings: TestSettings = {},
): Promise<SmallGateway> {
  const gateway = await startSmallGateway(pack, settings);
  gateway.service.respondWith(respond);
  return gateway;
}

/** Responds by the method and the path of a call. */
const by =
  (responders: Readonly<Record<string, Responder>>): Responder =>
  (call, response) =>
    (responders[`${call.method} ${call.path}`] ?? json(404, { message: "No such path.", code: "none" }))(
      call,
      response,
    );

describe("a second write", () => {
  const TAG = {
    name: "tags",
    upstream: "POST /items/{response.id}/tags",
    when: "$exists($body.tags)",
    body: '{ "names": $body.tags, "of": $request.name, "by": $path.account }',
  };
  const written = json(201, { id: 7, name: "Waves" });

  test("has a body of what the client sent, of the translated body and of the first response", async () => {
    const { send, service } = await start(
      packOf({ calls: [TAG] }),
      by({ "POST /items": written, "POST /items/7/tags": json(200, { names: ["sea"] }) }),
    );
    const { status, body } = await send("POST /ann/books", { body: { title: "Waves", tags: ["sea"] } });
    expect([status, body]).toEqual([200, { id: 7, title: "Waves", labels: ["sea"] }]);
    expect(service.calls.map((call) => call.json())).toEqual([
      { name: "Waves" },
      { names: ["sea"], of: "Waves", by: "ann" },
    ]);
  });

  test("is not sent if its condition is not true", async () => {
    const { send, service } = await start(packOf({ calls: [TAG] }), by({ "POST /items": written }));
    expect((await send("POST /ann/books", { body: { title: "Waves" } })).body).toEqual({
      id: 7,
      title: "Waves",
    });
    expect(service.calls).toHaveLength(1);
  });

  test.each<[what: string, call: object, expected: [number, object]]>([
    ["as the upstream says it", {}, [404, { message: "No such path.", code: "none" }]],
    [
      "with a status and a code of its own",
      { failure: { status: 409, code: "not_tagged" } },
      [409, { message: "No such path.", code: "not_tagged" }],
    ],
  ])("has its failure told to the client: %s", async (_what, call, expected) => {
    const { send, lastRecord } = await start(
      packOf({ calls: [{ ...TAG, ...call }] }),
      by({ "POST /items": written }),
      RECORDING,
    );
    const { status, body } = await send("POST /ann/books", { body: { title: "x", tags: ["a"] } });
    expect([status, body]).toEqual(expected);
    expect(await lastRecord()).toContain("what was written before has taken effect");
  });

  test("may be optional: the response lacks its value, and the record has a loss", async () => {
    const { send, lastRecord } = await start(
      packOf({ calls: [{ ...TAG, optional: true }] }),
      by({ "POST /items": written }),
      RECORDING,
    );
    const { status, body } = await send("POST /ann/books", { body: { title: "x", tags: ["a"] } });
    expect([status, body]).toEqual([200, { id: 7, title: "Waves" }]);
    expect(await lastRecord()).toContain("tags: ");
  });

  test("counts as written even if its response is empty: the record of a later failure says so", async () => {
    const { send, lastRecord } = await start(
      packOf({
        client: "GET /:account/books/:id",
        upstream: "GET /items/{id}",
        body: undefined,
        calls: [
          { name: "visits", upstream: "POST /visits", optional: true },
          { name: "tags", upstream: "GET /tags", optional: false },
        ],
      }),
      by({
        "GET /items/7": written,
        "POST /visits": (_call, response) => {
          response.writeHead(204).end();
        },
      }),
      RECORDING,
    );
    expect((await send("GET /ann/books/7")).status).toBe(404);
    expect(await lastRecord()).toContain("what was written before has taken effect");
  });

  test("may be sent before the main call, whose path has its value", async () => {
    const { send, service } = await start(
      packOf({
        upstream: "PUT /items/{draft.id}",
        calls: [{ name: "draft", at: "before", upstream: "POST /drafts", body: '{ "for": $path.account }' }],
      }),
      by({ "POST /drafts": json(201, { id: 3 }), "PUT /items/3": written }),
    );
    expect((await send("POST /ann/books", { body: { title: "x" } })).status).toBe(200);
    expect(service.calls.map((call) => call.json())).toEqual([{ for: "ann" }, { name: "x" }]);
  });
});

describe("checks of a call after the main call", () => {
  test("are errors of the client", async () => {
    const check = { message: '$response.sealed ? "It is sealed."', status: 423, code: "sealed" };
    const { send } = await start(
      packOf({
        client: "GET /:account/books/:id",
        upstream: "GET /items/{id}",
        body: undefined,
        calls: [{ upstream: "GET /seals/{id}", checks: [check] }],
      }),
      by({ "GET /items/7": json(200, { id: 7 }), "GET /seals/7": json(200, { sealed: true }) }),
    );
    const { status, body } = await send("GET /ann/books/7");
    expect([status, body]).toMatchObject([423, { code: "sealed" }]);
  });
});

test("an object of several parts has the values of other calls as well", async () => {
  const { send } = await start(
    packOf({
      client: "GET /:account/books/:id",
      upstream: "GET /items/{id}",
      body: undefined,
      calls: [
        { part: "more", upstream: "GET /more/{id}" },
        { name: "tags", upstream: "GET /tags/{id}" },
      ],
    }),
    by({
      "GET /items/7": json(200, { id: 7, name: "Waves" }),
      "GET /more/7": json(200, { pages: 3 }),
      "GET /tags/7": json(200, { names: ["sea"] }),
    }),
  );
  expect((await send("GET /ann/books/7")).body).toEqual({ id: 7, title: "Waves", labels: ["sea"] });
});

test("the record names the expression that failed for a call that is left out", async () => {
  const tags = { name: "tags", upstream: "GET /tags/{nr}", values: { nr: "$number(name)" } };
  const { send, lastRecord, service } = await start(
    packOf({ calls: [tags] }),
    json(200, { id: 7, name: "x" }),
    RECORDING,
  );
  expect((await send("POST /ann/books", { body: { title: "x" } })).body).toEqual({ id: 7, title: "x" });
  expect(service.calls.map(({ path }) => path)).toEqual(["/items"]);
  const [record] = JSON.parse(await lastRecord()).records;
  expect(record).toMatchObject({
    losses: [expect.stringContaining("tags")],
    warnings: [expect.stringContaining("values.nr: the value can't be read as a number")],
  });
});

describe("a header of every call", () => {
  const HEADERS = {
    request: {
      "X-Account": { write: "$path.account", every_call: true },
      "Accept-Language": { write: "$query.lang", default: "en", every_call: true },
      "X-Once": { write: '"main"' },
    },
  };
  const CALLS = [
    { name: "shelf", at: "before", upstream: "GET /shelf" },
    { upstream: "GET /items/{response.id}", answer: true, fallback: "{}" },
    { name: "tags", upstream: "GET /tags" },
  ];

  test("has its value of the path or the query before, in and after the main call", async () => {
    const { send, service } = await start(packOf({ headers: HEADERS, calls: CALLS }), json(200, { id: 7 }));
    await send("POST /ann/books?lang=de", { body: { title: "x" } });
    const sent = service.calls.map(({ method, path, headers }) => [
      `${method} ${path}`,
      headers["x-account"],
      headers["accept-language"],
      headers["x-once"],
    ]);
    expect(sent).toEqual([
      ["GET /shelf", "ann", "de", undefined],
      ["POST /items", "ann", "de", "main"],
      ["GET /items/7", "ann", "de", undefined],
      ["GET /tags", "ann", "de", undefined],
    ]);
  });

  test("is a 400 before anything is called if its value can't be sent", async () => {
    const { send, service } = await start(packOf({ headers: HEADERS, calls: CALLS }), json(200, { id: 7 }));
    expect((await send("POST /ann/books?lang=%0A", { body: { title: "x" } })).status).toBe(400);
    expect(service.calls).toEqual([]);
  });

  test("separates responses that are cached", async () => {
    const { send, service } = await start(
      packOf(
        {
          client: "GET /:account/books/:id",
          upstream: "GET /items/{id}",
          body: undefined,
          headers: HEADERS,
          calls: [{ name: "tags", upstream: "GET /tags", cache_seconds: 60 }],
        },
        { client: { ...ERRORS, credentials: { scheme: "Bearer" } } },
      ),
      (call, response) =>
        json(200, { id: 7, names: [String(call.headers["accept-language"])] })(call, response),
    );
    const read = async (lang: string) =>
      (await send(`GET /ann/books/7?lang=${lang}`, { headers: { authorization: "Bearer t" } })).body.labels;
    expect([await read("de"), await read("fr"), await read("de")]).toEqual([["de"], ["fr"], ["de"]]);
    expect(service.calls.filter(({ path }) => path === "/tags")).toHaveLength(2);
  });
});

test("`$now` is the time of the request in all expressions", async () => {
  const { send, service } = await start(
    packOf({
      headers: {
        request: { "X-At": { write: "$now", every_call: true } },
        response: { "X-At": { read: '$now & " " & $query.lang' } },
      },
      calls: [{ upstream: "POST /log", body: '{ "at": $now, "title": $request.name }' }],
    }),
    json(200, { id: 7 }),
  );
  const before = new Date().toISOString();
  const { headers } = await send("POST /ann/books?lang=de", { body: { title: "x" } });
  const [first, second] = service.calls;
  const at = String(first?.headers["x-at"]);
  expect(headers.get("x-at")).toBe(`${at} de`);
  expect(second?.json()).toEqual({ at, title: "x" });
  expect(at >= before && at <= new Date().toISOString()).toBe(true);
});

describe("check reports a variable that has no value yet", () => {
  test.each<[string, SmallPack, string]>([
    [
      "in a call before the main call",
      packOf({ calls: [{ at: "before", upstream: "GET /a", when: "$response.x" }] }),
      "$response has no value here: the upstream has not responded yet",
    ],
    [
      "in the body of an early call",
      packOf({ calls: [{ at: "before", upstream: "POST /a", body: "$request" }] }),
      "$request has no value here: the client's body is not translated yet",
    ],
    [
      "in the condition of a route",
      packOf({ when: "$calls.tags" }),
      "$calls has no value here: no call has been sent yet",
    ],
    [
      "in the write of a field",
      { book: { ...packOf({}).book, inputs: { tags: { upstream: "tags", write: "$status" } } } },
      "$status has no value here: the upstream has not responded yet",
    ],
  ])("%s", (_where, pack, fault) =>
    expect(faultsOfSmallPack(pack)).toContainEqual(expect.stringContaining(fault)),
  );
});

test("a check without a text finds nothing", async () => {
  const checks = [{ message: '$response.sealed ? "It is sealed." : ""' }];
  const { send } = await start(
    packOf({ calls: [{ at: "before", upstream: "GET /seals", checks }] }),
    by({ "GET /seals": json(200, { sealed: false }), "POST /items": json(200, { id: 7 }) }),
  );
  expect((await send("POST /ann/books", { body: { title: "x" } })).status).toBe(200);
});

describe("check reports a name with two values:", () => {
  const ofQuery = { query: { parameters: { shelf: { path: "shelf", required: true } } } };
  test.each<[string, object, string]>([
    [
      "a call and a parameter of the query",
      { ...ofQuery, upstream: "POST /{shelf}", calls: [{ name: "shelf", upstream: "GET /a" }] },
      'a path parameter has the name of the call "shelf": rename the call',
    ],
    [
      "a call and an id of many",
      {
        upstream: "POST /items/{one}",
        bulk: { parameter: "one", ids: "ids", most: 5 },
        calls: [{ name: "one", upstream: "GET /a" }],
      },
      'a path parameter has the name of the call "one": rename the call',
    ],
    [
      "a parameter of the path and one of the query",
      { client: "POST /:shelf/books", ...ofQuery, upstream: "POST /{shelf}" },
      "{shelf} of the upstream's path has two values: one of them needs another name",
    ],
  ])("%s", (_names, route, fault) => expect(faultsOfSmallPack(packOf(route))).toContainEqual(fault));
});

describe("check reports a call", () => {
  test.each<[string, object[], string]>([
    [
      "with two of one name",
      [
        { name: "a", upstream: "GET /a" },
        { name: "a", upstream: "GET /b" },
      ],
      'the route has two calls "a"',
    ],
    [
      "before the main call that comes later in the list",
      [{ upstream: "GET /a" }, { at: "before", upstream: "GET /b" }],
      "calls before the main call come first in the list",
    ],
    [
      "whose answer may be missing",
      [{ upstream: "GET /a", answer: true }],
      'an answer after the call needs "fallback"',
    ],
    [
      "that reads with a body",
      [{ upstream: "GET /a", body: "{}" }],
      '"body" has no effect: a GET has no body',
    ],
    [
      "before the main call with an answer",
      [{ at: "before", upstream: "GET /a", answer: true, fallback: "{}" }],
      '"answer" has no effect: the call is sent before the main call',
    ],
    [
      "that writes for a field that is not found",
      [{ at: "before", upstream: "POST /a", not_found_field: "title" }],
      '"not_found_field" needs a call that is a GET',
    ],
    [
      "for many values with one answer",
      [{ upstream: "GET /a/{each}", each: "$request.ids", answer: true, fallback: "{}" }],
      '"each" excludes "answer", "repeat" and "part"',
    ],
    [
      "with a part of a list",
      [{ part: "more", upstream: "GET /a" }],
      "a call with a part of an object needs a route that responds with an object",
    ],
  ])("%s", (what, calls, fault) => {
    const route = what === "with a part of a list" ? { response: "none", calls } : { calls };
    expect(faultsOfSmallPack(packOf(route))).toContainEqual(expect.stringContaining(fault));
  });
});
