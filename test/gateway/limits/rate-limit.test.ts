/** Alpha's rate limits: 420 with its phrase, without a v4 request. v4's own limit is translated to alpha's. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json } from "../../support/fake-v4.ts";

let gateway: GatewayWithFakeV4;

async function start(settings: Record<string, string>): Promise<void> {
  gateway = await startGatewayWithFakeV4(settings);
  gateway.v4.respondWith((call, response) =>
    json(200, call.method === "GET" ? envelope([]) : { id: 7 }, { "x-ratelimit-remaining": "55" })(
      call,
      response,
    ),
  );
}

const GOOD = { body: { datacenter: "newark", type: "g6-standard-1", label: "web-one" } };
const get = (as: string | null, headers: Record<string, string> = {}) =>
  gateway.request("GET /vm/instances", { as, headers });
const limitsOf = ({ headers }: { headers: Headers }) =>
  ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

describe("the gateway's rate limits", () => {
  test("A-172 the first request above the limit gets 420 Enhance Your Calm without a v4 request", async () => {
    await start({ ...RECORDING, RATE_LIMIT: "2/100" });
    expect(limitsOf(await get("a")).slice(0, 2)).toEqual([2, 1]);
    const [limit, remaining, reset = 0] = limitsOf(await get("a"));
    expect([limit, remaining]).toEqual([2, 0]);
    const now = Date.now() / 1000;
    expect(reset).toBeGreaterThan(now - 1);
    expect(reset).toBeLessThan(now + 102);

    const response = await get("a");
    expect(response).toMatchObject({
      status: 420,
      statusText: "Enhance Your Calm",
      body: { errors: [{ reason: "Too many requests. Try again later." }] },
    });
    expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(limitsOf(response).slice(0, 2)).toEqual([2, 0]);
    expect(gateway.v4.calls).toHaveLength(2);
    expect((await gateway.readLastRecord()).v4).toEqual([]);
  });

  test("preflights count against the limit of their address, and in the metrics", async () => {
    await start({ RATE_LIMIT: "2/100", CORS_ORIGINS: "https://app.example.org" });
    const headers = { origin: "https://app.example.org", "access-control-request-method": "PUT" };
    const preflight = () => gateway.request("OPTIONS /vm/instances", { as: null, headers });
    expect([(await preflight()).status, (await preflight()).status]).toEqual([204, 204]);
    const limited = await preflight();
    expect([limited.status, limited.text]).toEqual([420, ""]);
    expect(limited.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    const { text } = await gateway.requestAdmin("GET /metrics");
    for (const line of [
      'requests_total{lane="alpha",route="preflight",status="204"} 2',
      'requests_total{lane="alpha",route="preflight",status="420"} 1',
      'refusals_total{reason="limit",status="420"} 1',
    ])
      expect(text).toContain(`alpha_gateway_${line}`);
  });

  test("each token has its own limit", async () => {
    await start({ RATE_LIMIT: "1/100" });
    expect([await get("a"), await get("a"), await get("b")].map(({ status }) => status)).toEqual([
      200, 420, 200,
    ]);
  });

  test.each<[string, string, Record<string, string>]>([
    ["a path that alpha does not have", "GET /nothing", {}],
    ["a path with a broken escape", "GET /%zz", {}],
    ["credentials of another scheme", "GET /vm/instances", { authorization: "Basic x" }],
    ["no credentials", "GET /vm/instances", {}],
    ["a public route", "GET /datacenters", {}],
  ])("%s counts against the address", async (_name, call, headers) => {
    await start({ RATE_LIMIT: "1/100" });
    const ask = () => gateway.request(call, { as: null, headers });
    const first = await ask();
    expect(first.status).not.toBe(420);
    expect(limitsOf(first).slice(0, 2)).toEqual([1, 0]);
    expect((await ask()).status).toBe(420);
  });

  test("creates have an additional limit, and a rejected create does not consume it", async () => {
    await start({ RATE_LIMIT_CREATE: "1/100" });
    const create = () => gateway.request("POST /vm/instances", { as: "a", ...GOOD });
    expect(limitsOf(await create()).slice(0, 2)).toEqual([1, 0]);
    const response = await create();
    expect(response.status).toBe(420);
    expect(limitsOf(response).slice(0, 2)).toEqual([1, 0]);
    expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(gateway.v4.calls).toHaveLength(1);
    expect((await get("a")).status).toBe(200);
  });

  test("X-CORS-Status: a 420 is reported in X-Status with status 200", async () => {
    await start({ RATE_LIMIT: "1/100" });
    await get("a");
    const response = await get("a", { "x-cors-status": "true" });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-status")).toBe("420");
    expect(response.headers.get("retry-after")).not.toBeNull();
  });
});

describe("L-20 client addresses", () => {
  const from = (address: string) => get(null, { "x-forwarded-for": address });

  test("ignore X-Forwarded-For by default", async () => {
    await start({ RATE_LIMIT: "1/100" });
    expect((await from("10.0.0.1")).status).toBe(401);
    expect((await from("10.0.0.2")).status).toBe(420);
  });

  test("use the last X-Forwarded-For entry of a trusted proxy", async () => {
    await start({ ...RECORDING, RATE_LIMIT: "1/100", TRUST_PROXY: "127.0.0.1" });
    expect((await from("10.0.0.1")).status).toBe(401);
    expect((await from("10.0.0.2")).status).toBe(401);
    expect((await from("10.9.9.9, 10.0.0.2")).status).toBe(420);
    expect((await gateway.readLastRecord()).client.address).toBe("10.0.0.2");
  });
});

describe("spellings of one address in X-Forwarded-For", () => {
  const from = (address: string) => get(null, { "x-forwarded-for": address });

  test.each<[string, string[]]>([
    ["203.0.113.9", ["203.0.113.9:4711", "[203.0.113.9]", "[203.0.113.9]:1", "::ffff:203.0.113.9"]],
    ["203.0.113.9", ["::ffff:cb00:7109", "[::FFFF:203.0.113.9]:80", "0:0:0:0:0:ffff:cb00:7109"]],
    ["2001:db8::1", ["[2001:db8::1]:4711", "2001:DB8:0::1", "[2001:db8::1%eth0]:80", "2001:db8::1%25"]],
  ])("%s is one client in every spelling", async (address, spellings) => {
    await start({ ...RECORDING, RATE_LIMIT: "1/100", TRUST_PROXY: "127.0.0.1" });
    expect((await from(address)).status).toBe(401);
    for (const spelling of spellings) {
      expect((await from(spelling)).status).toBe(420);
      expect((await gateway.readLastRecord()).client.address).toBe(address);
    }
  });

  test("a trusted proxy that is named with its port is skipped", async () => {
    await start({ ...RECORDING, TRUST_PROXY: "127.0.0.1, 10.0.0.0/8" });
    await from("203.0.113.9:1, 10.0.0.7:4711, [::ffff:10.0.0.8]:80");
    expect((await gateway.readLastRecord()).client.address).toBe("203.0.113.9");
  });

  test.each(["unknown", "_hidden", "203.0.113.9:999999", "[203.0.113.9", "1.2.3.4.5", "<script>"])(
    "%s is not an address, and the proxy that wrote it counts",
    async (entry) => {
      await start({ ...RECORDING, TRUST_PROXY: "127.0.0.1, 10.0.0.0/8" });
      await from(`198.51.100.1, ${entry}, 10.0.0.7`);
      expect((await gateway.readLastRecord()).client.address).toBe("10.0.0.7");
    },
  );
});

describe("v4's rate limits", () => {
  test("A-172 v4's 429 becomes 420 with its headers", async () => {
    await start({});
    const headers = {
      "retry-after": "17",
      "x-ratelimit-limit": "800",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "1800000000",
    };
    gateway.v4.respondWith(json(429, { errors: [{ reason: "Too many requests." }] }, headers));
    const response = await get("a");
    expect(response).toMatchObject({ status: 420, body: { errors: [{ reason: "Too many requests." }] } });
    for (const [name, value] of Object.entries(headers)) expect(response.headers.get(name)).toBe(value);
    expect(gateway.v4.calls).toHaveLength(1);
  });

  test("a 429 without headers gets the gateway's headers, and always Retry-After", async () => {
    await start({});
    gateway.v4.respondWith(json(429, {}));
    const response = await get("a");
    expect(response.status).toBe(420);
    expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(limitsOf(response).every(Number.isSafeInteger)).toBe(true);
  });

  test.each(["soon", "-1", "1e9", "", "Wed, 21 Oct 2026 07:28:00 GMT", "9".repeat(40)])(
    "invalid header values (%s) are dropped",
    async (value) => {
      await start({});
      gateway.v4.respondWith(json(429, {}, { "retry-after": value, "x-ratelimit-limit": value }));
      const response = await get("a");
      expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d{0,8}$/);
      expect(limitsOf(response)[0]).toBe(100_000);
    },
  );

  test("headers of other responses are dropped, and the gateway's are sent", async () => {
    await start({});
    expect(limitsOf(await get("a")).slice(0, 2)).toEqual([100_000, 99_999]);
  });
});
