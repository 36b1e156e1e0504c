/**
 * The request headers that v4 gets, and the response headers that the client gets: ids, traces and others. Which ids and
 * traces are valid: test/gateway/pipeline/requests.test.ts.
 */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { request } from "node:http";
import { startAlteredGateway } from "./altered-v4.ts";
import { minimalInstance } from "./helpers.ts";
import { RECORDING, startListeningGateway, type GatewayRequest } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startListeningGateway(RECORDING));
const altered = startForTests(() => startAlteredGateway());
beforeEach(() => {
  gateway.clock.advance(31_000);
  gateway.takeV4Requests();
  altered.resetRules();
});

describe("R-5 X-Request-Id", () => {
  test.each([
    ["the token of the request", "", (token: string) => token],
    ["a part of another text with the token", "", (token: string) => `id-${token.slice(0, 100)}.1`],
    ["a secret of the query", "?password=hunter2hunter2", () => "hunter2hunter2"],
  ])(
    "is replaced if it is %s: v4, the client and the record get the same other one",
    async (_what, query, idOf) => {
      const given = idOf(gateway.sandbox.tokens.full);
      const response = await gateway.request(`GET /vm/instances/5202${query}`, {
        headers: { "x-request-id": given },
      });
      const id = response.headers.get("x-request-id");
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      const sent = gateway.takeV4Requests().map(({ headers }) => headers["x-request-id"]);
      expect(new Set(sent)).toEqual(new Set([id]));
      expect((await gateway.readAudit())[0]).toMatchObject({ requestId: id });
    },
  );

  test("is different for each request", async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await gateway.request("GET /datacenters")).headers.get("x-request-id")),
    );
    expect(new Set(ids).size).toBe(3);
  });
});

describe("R-5 traceparent", () => {
  const trace = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

  test("of the caller is continued", async () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    await gateway.request("GET /vm/instances/5202", { headers: { traceparent } });
    const sent = gateway.takeV4Requests().map(({ headers }) => String(headers["traceparent"]));
    const traces = new Set(sent.map((each) => trace.exec(each)?.[1]));
    expect(traces).toEqual(new Set(["4bf92f3577b34da6a3ce929d0e0e4736"]));
  });
});

describe("R-7 X-V4-Equivalent names the v4 call", () => {
  test.each<[string, string, GatewayRequest]>([
    ["GET /vm/instances", "GET /v4/vm/instances?page=1&page_size=25", {}],
    ["GET /vm/instances/?page=2&other=1", "GET /v4/vm/instances?page=2&page_size=25", {}],
    ["GET /vm/instances/5201", "GET /v4/vm/instances/5201", {}],
    ["POST /vm/instances", "POST /v4/vm/instances", { body: minimalInstance }],
    ["PUT /vm/instances/5202", "PUT /v4/vm/instances/5202", { body: { group: "a" } }],
    ["PUT /vm/instances/5202", "GET /v4/vm/instances/5202", { body: {} }],
    ["GET /vm/instances/5202/disks/88012", "GET /v4/vm/instances/5202/disks/88012", {}],
    ["GET /datacenters", "GET /v4/regions", {}],
    ["GET /vm/kernels/vm/latest", "GET /v4/vm/kernels", {}],
  ])("%s: %s", async (call, equivalent, options) => {
    const response = await gateway.request(call, options);
    expect(response.headers.get("x-v4-equivalent")).toBe(equivalent);
  });
});

describe("R-7 a refused request names the v4 call, too", () => {
  test.each<[string, string, string, GatewayRequest]>([
    ["without a token", "GET /vm/instances?page=3", "GET /v4/vm/instances?page=3&page_size=25", { as: null }],
    [
      "with an invalid token",
      "PUT /vm/instances/5202",
      "PUT /v4/vm/instances/5202",
      { as: "x", body: { group: "a" } },
    ],
    ["with an invalid page", "GET /vm/instances?page=x", "GET /v4/vm/instances", {}],
    ["with an invalid body", "POST /vm/instances", "POST /v4/vm/instances", { body: { group: 1 } }],
    ["for a path that alpha never had", "GET /vm/unknown", "none", {}],
    ["for a call that v4 does not have", "POST /vm/instances/5202/boot-rescue", "none", {}],
  ])("%s: %s", async (_why, call, equivalent, options) => {
    const response = await gateway.request(call, options);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get("x-v4-equivalent")).toBe(equivalent);
  });
});

describe("R-7 X-V4-Filter", () => {
  test.each([
    { datacenter: "newark", "+order-by": "label" },
    { "+or": [{ label: "web-ü" }, { group: "shop" }], "+order-by": "label", "+order": "desc" },
  ])("with X-V4-Equivalent it is a v4 call that works: %j", async (filter) => {
    const headers = { "x-filter": JSON.stringify(filter) };
    const response = await gateway.request("GET /vm/instances", { headers });
    expect(response.status).toBe(200);
    const equivalent = response.headers.get("x-v4-equivalent")!;
    const v4 = await gateway.requestV4(equivalent.replace("/v4", ""), {
      headers: { "x-filter": response.headers.get("x-v4-filter")! },
    });
    expect(v4.status).toBe(200);
    expect(v4.body.results).toBe(response.body.total_results);
  });

  test("is missing without a filter", async () => {
    const response = await gateway.request("GET /vm/instances");
    expect(response.headers.get("x-v4-filter")).toBeNull();
  });
});

describe("R-8 headers that are not passed on", () => {
  test("v4 gets no hop-by-hop headers, none that Connection names, no cookies and no Host of the client", async () => {
    const headers = {
      authorization: `token ${gateway.sandbox.tokens.full}`,
      host: "alpha.example.com",
      cookie: "session=1",
      connection: "close, X-Secret-Hop, Authorization",
      "x-secret-hop": "1",
      "proxy-authorization": "Basic x",
      te: "trailers",
      "x-forwarded-for": "203.0.113.9",
      x_forwarded_for: "203.0.113.9",
      "fly-client-ip": "203.0.113.9",
      "front-end-https": "on",
      via: "1.1 elsewhere",
      "x-ssl-client-verify": "SUCCESS",
      "x-other": "1",
      "user-agent": "legacy/1.0",
    };
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${gateway.url}/v4/vm/instances`, { headers }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      });
      sent.on("error", reject).end();
    });
    expect(status).toBe(200);
    const [sent] = gateway.takeV4Requests();
    expect(Object.keys(sent?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "authorization",
      "connection",
      "host",
      "traceparent",
      "user-agent",
      "x-request-id",
    ]);
    expect(sent?.headers).toMatchObject({
      "user-agent": "legacy/1.0",
      accept: "application/json",
      "accept-encoding": "identity",
    });
    expect(sent?.headers["host"]).toBe(new URL(gateway.sandbox.url).host);
    expect(sent?.headers["connection"]).not.toMatch(/secret/i);
  });

  test("T-3.4 clients get none of v4's either", async () => {
    altered.respondTo("GET /vm/instances/5202/disks", {
      headers: {
        "set-cookie": "session=1",
        server: "v4/9",
        "x-spec-version": "4.100",
        "x-customer-uuid": "A-B",
        warning: '299 - "old"',
        etag: '"a"',
        "cache-control": "private, max-age=60",
        "access-control-allow-origin": "*",
      },
      body: { data: [], page: 1, pages: 0, results: 0 },
    });
    const { status, headers, body } = await altered.request("GET /vm/instances/5202/disks");
    expect([status, body]).toEqual([200, { disks: [], page: 1, total_pages: 1, total_results: 0 }]);
    for (const name of [
      "set-cookie",
      "server",
      "x-spec-version",
      "x-customer-uuid",
      "warning",
      "etag",
      "access-control-allow-origin",
    ]) {
      expect([name, headers.get(name)]).toEqual([name, null]);
    }
    expect(headers.get("cache-control")).toBe("no-store");
  });
});
