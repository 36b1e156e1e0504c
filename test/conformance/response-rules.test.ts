/** The rules that hold for every alpha response, tested with responses of every kind. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { minimalInstance } from "./helpers.ts";
import { startGateway, type GatewayRequest, type TestResponse } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

/** Calls that between them get a response of every kind. */
const calls: [call: string, status: number, options?: GatewayRequest][] = [
  ["GET /vm/instances", 200],
  ["GET /vm/instances?page=3", 200],
  ["GET /vm/instances/5201", 200],
  ["POST /vm/instances", 200, { body: minimalInstance }],
  ["PUT /vm/instances/5201", 200, { body: { group: "a" } }],
  ["DELETE /vm/instances/5207", 200],
  ["GET /vm/instances/5201/disks", 200],
  ["GET /datacenters", 200],
  ["GET /vm/kernels/vm/latest", 200, { as: null }],
  ["GET /vm/instances?page=0", 400],
  ["GET /vm/instances", 400, { filter: "x" }],
  ["POST /vm/instances", 400, { body: {} }],
  ["PUT /vm/instances/5201", 400, { raw: "{" }],
  ["PUT /vm/instances/5201", 400, { raw: "{}", headers: { "content-type": "text/plain" } }],
  ["PUT /vm/instances/5201", 400, { raw: "{}", headers: { "content-encoding": "snappy" } }],
  ["GET /vm/%zz", 400],
  ["GET /vm/instances", 401, { as: null }],
  ["GET /vm/instances", 401, { as: "unknown" }],
  ["GET /vm/instances", 403, { as: "none" }],
  ["GET /vm/instances/1", 404],
  ["GET /vm/instances/x", 404],
  ["GET /nothing", 404],
  ["PATCH /vm/instances", 404],
  ["GET /vm/instances", 401, { as: null, headers: { authorization: "Basic dTpw" } }],
];

describe.each(calls)("%s (%i)", (call, status, options = {}) => {
  let response: TestResponse;
  beforeAll(async () => {
    response = await gateway.request(call, options);
  });

  test("R-1 the status is one that alpha has", () => {
    expect(response.status).toBe(status);
    expect([200, 400, 401, 403, 404, 420, 500]).toContain(response.status);
  });

  test("R-2 the body is JSON, and errors have their shape", () => {
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(Object.keys(response.body).includes("errors")).toBe(status !== 200);
    for (const error of response.body.errors ?? []) {
      expect(error.reason).toMatch(/\S/);
      expect(["reason", "field"]).toEqual(expect.arrayContaining(Object.keys(error)));
    }
  });

  test("R-3 T-10.1 it contains no name of v4", () => {
    const ownValue = [
      "data",
      "pages",
      "results",
      "tags",
      "specs",
      "watchdog_enabled",
      "last_successful",
      "region",
      "image",
      "warnings",
    ];
    for (const word of ownValue) expect(response.text).not.toContain(`"${word}":`);
  });

  test("R-4 a list has its envelope, 25 to a page", () => {
    const lists = Object.values(response.body).filter((value) => Array.isArray(value)) as unknown[][];
    expect(lists.every((list) => list.length <= 25)).toBe(true);
    expect(Object.hasOwn(response.body, "page")).toBe(Object.hasOwn(response.body, "total_pages"));
    expect(response.body.total_pages ?? 1).toBeGreaterThanOrEqual(1);
  });

  test("R-5 it has an X-Request-Id", () => {
    expect(response.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  });

  test("R-6 R-7 it has the rate limit status, in epoch seconds", () => {
    const now = Date.now() / 1000;
    expect(response.headers.get("x-ratelimit-limit")).toBe("100000");
    expect(response.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
    expect(Number(response.headers.get("x-ratelimit-reset"))).toBeGreaterThan(now - 5);
    expect(Number(response.headers.get("x-ratelimit-reset"))).toBeLessThan(now + 200);
  });

  test("R-8 its headers contain nothing of v4 or the implementation", () => {
    for (const name of [
      "server",
      "set-cookie",
      "x-powered-by",
      "etag",
      "location",
      "x-oauth-scopes",
      "x-accepted-oauth-scopes",
      "x-spec-version",
      "warning",
      "www-authenticate",
    ]) {
      expect([name, response.headers.get(name)]).toEqual([name, null]);
    }
    expect(response.text).not.toMatch(/\bat .*:\d+:\d+|node_modules|127\.0\.0\.1/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("vary")).toBe("Authorization, X-Filter");
  });
});
