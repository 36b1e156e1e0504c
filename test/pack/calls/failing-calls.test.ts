/** Calls whose own expressions fail: an optional one is left out, as if the upstream had refused it. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

let gateway: SmallGateway;

/** An expression that fails on every value. */
const FAILS = '$number("seven")';
const WARNING = "can't be read as a number";
const REPEAT = { interval_ms: 10, timeout_ms: 100 };

/** Sends a write with one more call; everything at the upstream succeeds. */
async function sendWith(call: object) {
  gateway = await startSmallGateway(
    {
      client: { responses: { error: { message: "$message" } } },
      upstream: { responses: { error: { message: "$message" } } },
      book: {
        fields: { id: "id", title: "name", more: { read: "$calls.more.ok", omit_null: true } },
        bodies: { create: { schema: { type: "object", properties: { title: { type: "string" } } } } },
        routes: [{ client: "POST /books", upstream: "POST /items", body: "create", calls: [call] }],
      },
    },
    RECORDING,
  );
  gateway.service.respondWith((received, response) =>
    json(200, received.path === "/items" ? { id: 7, name: "x" } : { ok: true, state: "bad" })(
      received,
      response,
    ),
  );
  const { status, body } = await gateway.send("POST /books", { body: { title: "x" } });
  return { status, body, record: await gateway.lastRecord(), calls: gateway.service.calls };
}

const BEFORE = { name: "more", at: "before", upstream: "GET /more" };
const AFTER = { name: "more", upstream: "GET /more" };

describe("an optional call is left out, and the record names the expression, if it fails in", () => {
  test.each<[string, object]>([
    ["`when` before the main call", { ...BEFORE, when: FAILS }],
    ["`values` before the main call", { ...BEFORE, upstream: "GET /{v}", values: { v: FAILS } }],
    ["`each` before the main call", { ...BEFORE, upstream: "GET /{each}", each: FAILS }],
    ["`body` before the main call", { ...BEFORE, upstream: "POST /more", body: FAILS }],
    ["`until` before the main call", { ...BEFORE, repeat: { until: FAILS, ...REPEAT } }],
    ["`when` after the main call", { ...AFTER, when: FAILS }],
    ["`values` after the main call", { ...AFTER, upstream: "GET /{v}", values: { v: FAILS } }],
    ["`each` after the main call", { ...AFTER, upstream: "GET /{each}", each: FAILS }],
    ["`body` after the main call", { ...AFTER, upstream: "POST /more", body: FAILS }],
    ["`checks` after the main call", { ...AFTER, checks: [{ message: FAILS }] }],
    ["`until` after the main call", { ...AFTER, repeat: { until: FAILS, ...REPEAT } }],
  ])("%s", async (_where, call) => {
    const { status, body, record, calls } = await sendWith({ ...call, optional: true });
    expect([status, body]).toEqual([200, { id: 7, title: "x" }]);
    expect(record).toContain(WARNING);
    expect(calls.filter(({ path }) => path === "/items")).toHaveLength(1);
  });

  test("`checks` before the main call", async () => {
    const { status, record } = await sendWith({ ...BEFORE, optional: true, checks: [{ message: FAILS }] });
    expect(status).toBe(200);
    expect(record).toContain(WARNING);
  });
});

test("a call before the main call that is not optional ends the request: nothing is written", async () => {
  const { status, calls } = await sendWith({ ...BEFORE, when: FAILS });
  expect([status, calls]).toEqual([400, []]);
});

test("an optional call before the main call may have no response", async () => {
  gateway = await startSmallGateway({
    book: {
      routes: [
        {
          client: "GET /books/:id",
          upstream: "GET /items/{id}",
          calls: [{ ...BEFORE, optional: true }],
        },
      ],
    },
  });
  gateway.service.respondWith((received, response) =>
    received.path === "/more" ? response.destroy() : json(200, { id: 7, name: "x" })(received, response),
  );
  expect((await gateway.send("GET /books/7")).status).toBe(200);
});

describe("the main call has succeeded:", () => {
  test("`fallback` is the response if `answer` fails", async () => {
    const { status, body, record } = await sendWith({ ...AFTER, answer: FAILS, fallback: '{ "id": id }' });
    expect([status, body]).toEqual([200, { id: 7 }]);
    expect(record).toContain(WARNING);
  });

  test.each<[string, object, unknown]>([
    ["its failure is an error", { upstream: "POST /bad" }, [409, { message: "locked" }]],
    [
      "its answer is the response",
      { upstream: "GET /again", answer: '{ "id": 8 }', fallback: "{}" },
      [200, { id: 8, title: null }],
    ],
    [
      "it may depend on the one that failed",
      { upstream: "POST /bad", when: "$exists($calls.more)" },
      [200, { id: 7 }],
    ],
  ])("a call after one whose `fallback` is used is sent: %s", async (_what, call, expected) => {
    gateway = await startSmallGateway({
      client: { responses: { error: { message: "$message" } } },
      upstream: { responses: { error: { message: "$message" } } },
      book: {
        bodies: { create: {} },
        routes: [
          {
            client: "POST /books",
            upstream: "POST /items",
            body: "create",
            calls: [{ ...AFTER, answer: true, fallback: '{ "id": id }' }, call],
          },
        ],
      },
    });
    const failing = new Set(["/bad", "/more"]);
    gateway.service.respondWith((received, response) =>
      (failing.has(received.path) ? json(409, { message: "locked" }) : json(200, { id: 7 }))(
        received,
        response,
      ),
    );
    const { status, body } = await gateway.send("POST /books", { body: {} });
    expect([status, body]).toEqual(expected);
  });

  test("the response has no members if `fallback` fails as well", async () => {
    const { status, body, record } = await sendWith({ ...AFTER, answer: FAILS, fallback: FAILS });
    expect([status, body]).toEqual([200, {}]);
    expect(record).toContain(WARNING);
  });

  test("the response has no members if the body of `unfinished` fails", async () => {
    const { status, body } = await sendWith({
      ...AFTER,
      answer: true,
      repeat: { until: "false", ...REPEAT },
      unfinished: { body: FAILS, status: 202 },
    });
    expect([status, body]).toEqual([202, {}]);
  });
});

test("an operation has failed, also if its error can't be read", async () => {
  const { status, record } = await sendWith({
    ...AFTER,
    answer: true,
    repeat: { until: "false", failed: { when: 'state = "bad"', error: FAILS, status: 409 }, ...REPEAT },
  });
  expect(status).toBe(409);
  expect(record).toContain(WARNING);
});
