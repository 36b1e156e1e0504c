/** Calls whose result is polled: what becomes of operations that fail, never end, or cannot be asked for. */
import { describe, expect, test } from "@jest/globals";
import { type TestSettings, RECORDING } from "../../support/gateway.ts";
import { json, neverRespond, plain, raw, type Responder } from "../../support/fake-v4.ts";
import {
  startListeningGatewayWithFakeV4,
  waitFor,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { accepted, acceptedForLater, done, JOB, REPEAT, running } from "../../support/job-responses.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";

/** A pack with one call whose result is polled. */
const packOf = (
  call: object = {},
  route: object = {},
  pack: object = {},
  later: readonly object[] = [],
): SmallPack => ({
  client: { responses: { error: { message: "$message" } } },
  upstream: { responses: { error: { message: "$message" } } },
  pack,
  book: {
    routes: [
      {
        client: "POST /books",
        upstream: "POST /items",
        status: 201,
        calls: [{ ...JOB, ...call }, ...later],
        ...route,
      },
    ],
  },
});

const repeating = (repeat: object): object => ({ repeat: { ...REPEAT, ...repeat } });
const SHORT = repeating({ interval_ms: 50, timeout_ms: 150 });
const PENDING = { message: "The request was accepted and is still in progress. Do not send it again." };

/** Sends the call; gives its response, and the calls of the upstream. */
async function createWith(
  settings: TestSettings,
  pack: SmallPack,
  ...responses: readonly [Responder, ...Responder[]]
) {
  const gateway = await startSmallGateway(pack, settings);
  gateway.service.respondWith(...responses);
  const { status, body } = await gateway.send("POST /books", { body: {} });
  const calls = gateway.service.calls.map(({ method, path }) => `${method} ${path}`);
  return { status, body, calls, record: () => gateway.lastRecord() };
}

const create = (pack: SmallPack, ...responses: readonly [Responder, ...Responder[]]) =>
  createWith({}, pack, ...responses);

describe("the result of an accepted call", () => {
  test("is asked for until it is there, and all requests are in the record", async () => {
    const { status, body, calls, record } = await createWith(
      RECORDING,
      packOf(),
      accepted,
      running,
      running,
      done,
    );
    expect([status, body]).toEqual([201, { id: 5, title: "Waves" }]);
    expect(calls).toEqual(["POST /items", "GET /jobs/7", "GET /jobs/7", "GET /jobs/7"]);
    expect(JSON.parse(await record()).records[0].v4).toHaveLength(4);
  });

  test.each<[string, Responder]>([
    ["a 500", json(500, {})],
    ["a 429", json(429, {})],
    ["no JSON", plain(200, "<html>")],
    ["JSON of another form", json(200, [1, 2])],
    ["an empty body", plain(200, "")],
    ["a state that the pack does not have", json(200, { state: "resting" })],
    ["a state that is an object", json(200, { state: { done: true } })],
    ["a connection that breaks", raw("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{", "reset")],
  ])("is asked for again after %s", async (_case, response) => {
    // A GET whose connection breaks is repeated by the client of the upstream.
    const { status, body, calls } = await create(packOf(), accepted, response, response, response, done);
    expect([status, body]).toEqual([201, { id: 5, title: "Waves" }]);
    expect(calls.filter((call) => call === "POST /items")).toHaveLength(1);
  });

  test("may be known by the status alone", async () => {
    const call = { ...repeating({ until: "$status = 200" }), answer: "item" };
    const result = await create(packOf(call), accepted, accepted, json(200, { item: { id: 5 } }));
    expect([result.status, result.body, result.calls.length]).toEqual([201, { id: 5, title: null }, 3]);
  });

  test("of an operation that redirects to it is read there", async () => {
    const pack = packOf(
      {
        ...repeating({ until: "$status = 303" }),
        answer: '{ "id": $substringAfter($response_headers.location, "/items/") }',
      },
      {},
      {},
      [{ upstream: "GET /items/{response.id}", answer: true, fallback: "{}" }],
    );
    const moved = plain(303, "", { location: "https://elsewhere.test/items/a?b" });
    const { body, calls } = await create(pack, accepted, moved, json(200, { id: 8, name: "x" }));
    expect(body).toEqual({ id: 8, title: "x" });
    expect(calls).toEqual(["POST /items", "GET /jobs/7", "GET /items/a%3Fb"]);
  });
});

test("an operation that is done and has no object as its result has the `fallback` of the pack", async () => {
  const pack = packOf({ answer: "item", fallback: '{ "id": job }' });
  const { status, body } = await create(pack, accepted, json(200, { state: "done", item: "printed" }));
  expect([status, body]).toEqual([201, { id: 7 }]);
});

describe("an operation that does not end within the deadline", () => {
  test("is an error that says so; the call was sent once", async () => {
    const { status, body, calls } = await create(packOf(SHORT), accepted, running);
    expect([status, body]).toEqual([504, PENDING]);
    expect(calls[0]).toBe("POST /items");
    expect(calls.slice(1).every((call) => call === "GET /jobs/7")).toBe(true);
  });

  test("is no wait for an answer that never comes", async () => {
    const gateway = await startSmallGateway(packOf(SHORT), { ...RECORDING, UPSTREAM_TIMEOUT_MS: "600000" });
    gateway.service.respondWith(accepted, neverRespond);
    const { status, body } = await gateway.send("POST /books", { body: {} });
    expect([status, body]).toEqual([504, PENDING]);
    expect(await gateway.lastRecord()).toContain("deadline, no result in 150 ms");
  });

  test("is no wait for a time of the upstream that is later", async () => {
    const later = json(202, { job: 7 }, { "retry-after": "86400" });
    const { status, calls } = await create(
      packOf(repeating({ interval_ms: 3000, timeout_ms: 300_000 })),
      later,
    );
    expect([status, calls]).toEqual([504, ["POST /items"]]);
  });

  test.each([401, 403, 404, 410])("is not asked for again after a %i", async (refusal) => {
    const { status, body, calls } = await create(packOf(), accepted, json(refusal, { message: "no" }));
    expect([status, body]).toEqual([504, PENDING]);
    expect(calls).toEqual(["POST /items", "GET /jobs/7"]);
  });

  test.each([
    ["no id", {}],
    ["a dot segment", { job: "../items" }],
    ["an encoded dot segment", { job: "%2e%2e/items" }],
    ["an object", { job: { id: 7 } }],
  ])("and one that is not named leads to no call: %s", async (_case, body) => {
    const result = await create(packOf(), json(202, body));
    expect([result.status, result.body, result.calls]).toEqual([504, PENDING, ["POST /items"]]);
  });

  test("and one with a question mark in its name is asked for by that name", async () => {
    const { calls } = await create(packOf(), json(202, { job: "7/../8?x" }), done);
    expect(calls).toEqual(["POST /items"]);
    const other = await create(packOf(), json(202, { job: "7/8?x=%2f" }), done);
    expect(other.calls.at(-1)).toBe("GET /jobs/7%2F8%3Fx%3D%252f");
  });

  test("has the error of the pack", async () => {
    const pack = packOf(
      { unfinished: { message: "busy", status: 409 } },
      {},
      { messages: { unknown_record: "x", busy: "We are still at it." } },
    );
    const { status, body } = await create(pack, acceptedForLater);
    expect([status, body]).toEqual([409, { message: "We are still at it." }]);
  });

  test("has the body of the pack, with the status of the route", async () => {
    const pack = packOf({ unfinished: { body: '{ "id": job, "state": "busy" }' } });
    const { status, body, record } = await createWith(RECORDING, pack, acceptedForLater);
    expect([status, body]).toEqual([201, { id: 7, state: "busy" }]);
    expect(await record()).toContain("the operation is still in progress");
  });

  test("has the body of the pack, with a status of its own", async () => {
    const unfinished = { body: '{ "id": job }', status: 202 };
    const { status, body } = await create(packOf({ unfinished }), acceptedForLater);
    expect([status, body]).toEqual([202, { id: 7 }]);
  });

  test("has a result of its own in a request for many ids", async () => {
    const pack = packOf(
      { unfinished: { body: '{ "id": job }', status: 202 } },
      {
        client: "POST /books/prints",
        upstream: "POST /items/{id}/prints",
        bulk: { parameter: "id", ids: "$split($query.ids, ',')", most: 5, success: { status: "$status" } },
      },
    );
    const gateway = await startSmallGateway(pack);
    gateway.service.respondWith((call, ...rest) =>
      (call.path.includes("/2/") ? done : acceptedForLater)(call, ...rest),
    );
    const { status, body } = await gateway.send("POST /books/prints?ids=1,2");
    expect([status, body]).toEqual([201, [{ status: 202 }, { status: 201 }]]);
  });
});

describe("an operation that has failed", () => {
  test("is the upstream's error, with the status of the pack", async () => {
    const failed = { when: 'state = "failed"', error: "problem", status: 409 };
    const response = json(200, { state: "failed", problem: { message: "Out of paper" } });
    const { status, body } = await create(packOf(repeating({ failed })), accepted, response);
    expect([status, body]).toEqual([409, { message: "Out of paper" }]);
  });

  test.each([
    [{ state: "failed", message: "No" }, { message: "No" }],
    [{ state: "failed" }, { message: "The request was refused." }],
  ])("is a 422 without one: %j", async (response, expected) => {
    const { status, body } = await create(packOf(), accepted, json(200, response));
    expect([status, body]).toEqual([422, expected]);
  });

  test("shows no token that the client does not have", async () => {
    const pack = packOf();
    const gateway = await startSmallGateway(
      { ...pack, upstream: { ...pack.upstream, credentials: { scheme: "Bearer", token: "setting" } } },
      { UPSTREAM_TOKEN: "gateway-secret-token" },
    );
    const failed = json(200, { state: "failed", message: "gateway-secret-token is blocked" });
    gateway.service.respondWith(accepted, failed);
    const { text } = await gateway.send("POST /books", { body: {} });
    expect(text).toContain("is blocked");
    expect(text).not.toContain("gateway-secret-token");
  });
});

test("secrets of the answers are masked in the records of all requests", async () => {
  const pack = packOf({ upstream: "GET /jobs/{response.job_key}" }, {}, { secrets: ["job_key"] });
  const { calls, record } = await createWith(RECORDING, pack, json(202, { job_key: "hunter2secret" }), done);
  expect(calls.at(-1)).toBe("GET /jobs/hunter2secret");
  expect(await record()).not.toContain("hunter2secret");
});

describe("a request whose operation is polled", () => {
  async function listen(settings: TestSettings = {}): Promise<ListeningGatewayWithFakeV4> {
    const folder = writeSmallPack(packOf(repeating({ interval_ms: 3000, timeout_ms: 300_000 })));
    const gateway = await startListeningGatewayWithFakeV4({ MAPPINGS_DIR: folder, ...settings });
    gateway.v4.respondWith(accepted, running);
    return gateway;
  }

  const send = (gateway: ListeningGatewayWithFakeV4, signal: AbortSignal): Promise<Response | "gone"> =>
    fetch(`${gateway.url}/books`, { method: "POST", body: "{}", signal }).catch(() => "gone" as const);

  test("ends with its client: nothing is asked for any more", async () => {
    const gateway = await listen(RECORDING);
    const gone = new AbortController();
    const result = send(gateway, gone.signal);
    await waitFor(() => gateway.v4.calls.length === 1);
    gone.abort();
    expect(await result).toBe("gone");
    const record = await waitFor(() => gateway.readLastRecord());
    expect(record.v4.map(({ path }: { path: string }) => path)).toEqual(["/items"]);
    expect(record.alpha.status).toBe(499);
    expect(gateway.v4.calls.length).toBe(1);
  });

  test("does not keep the gateway from stopping", async () => {
    const gateway = await listen({ SHUTDOWN_GRACE_MS: "100" });
    const result = send(gateway, new AbortController().signal);
    await waitFor(() => gateway.v4.calls.length === 1);
    await gateway.stop();
    expect(await result).toBe("gone");
  });
});

describe("check reports", () => {
  test.each<[string, object, string]>([
    [
      "a name without a value",
      { upstream: "GET /jobs/{respons.job}" },
      'unknown name {respons.job}; did you mean "response"?',
    ],
    [
      "a request that is no GET",
      { upstream: "POST /jobs/{response.job}" },
      '"repeat" needs a call that is a GET',
    ],
    [
      "a value that nothing uses",
      { values: { operation: "job" } },
      '"operation" has no effect: the path of "upstream" does not have {operation}; GET /jobs/{response.job}/{operation}',
    ],
    ["a value that nothing gives", { upstream: "GET /jobs/{operation}" }, "unknown name {operation}"],
    [
      "a deadline before the first request",
      repeating({ interval_ms: 6000 }),
      "the call would not be repeated: interval_ms is longer than timeout_ms",
    ],
    [
      "too many requests",
      repeating({ interval_ms: 5 }),
      "a call is sent 100 times at most: interval_ms is too short for timeout_ms",
    ],
    ["a deadline that no client waits for", repeating({ timeout_ms: 3_000_000 }), "must be at most 300000"],
    [
      "a response that is both an error and a success",
      { unfinished: { message: "busy", body: "{}" } },
      'needs either "message" or "body"',
    ],
    [
      "an error with the status of a success",
      { unfinished: { message: "busy", status: 202 } },
      "an error has a status from 400 to 599",
    ],
    [
      "a success with the status of an error",
      { unfinished: { body: "{}", status: 504 } },
      "a success with a body has a status from 200 to 299, and not 204",
    ],
    ["an unknown message", { unfinished: { message: "busy", status: 503 } }, 'unknown message "busy"'],
    ["an invalid expression", repeating({ until: "status[" }), 'Expected "]"'],
    [
      "a response without repetition",
      { repeat: undefined, fallback: "{}", unfinished: { body: "{}" } },
      '"unfinished" needs "repeat"',
    ],
  ])("%s", (_case, call, message) => {
    const faults = faultsOfSmallPack(packOf(call));
    expect(faults.join("\n")).toContain(message);
    expect(faults).toHaveLength(1);
  });
});
