/** Audit records as OpenTelemetry logs, as a collector gets them. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { envelope, json } from "../../support/fake-v4.ts";
import { freePort } from "../../support/free-port.ts";
import {
  startGatewayWithFakeV4,
  waitFor,
  type GatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { startOtlpCollector, type OtlpCollector } from "../../support/otlp-collector.ts";

let collector: OtlpCollector;
let gateway: GatewayWithFakeV4;

beforeEach(async () => {
  collector = await startOtlpCollector();
});

async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  gateway = await startGatewayWithFakeV4({
    ...RECORDING,
    AUDIT_OTLP: collector.url,
    RATE_LIMIT: "1000000/1",
    RATE_LIMIT_CREATE: "1000000/1",
    ...settings,
  });
  gateway.v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "*" }));
}

const received = (count: number): Promise<boolean> => waitFor(() => collector.logs().length >= count);

async function metric(name: string): Promise<number> {
  const { text } = await gateway.requestAdmin("GET /metrics");
  return Number(new RegExp(`^alpha_gateway_audit_otlp_${name} (\\S+)$`, "m").exec(text)?.[1]);
}

describe("a request", () => {
  test("is one log for the client's request and one for each v4 call, by the conventions for HTTP", async () => {
    await start();
    const { headers } = await gateway.request("GET /dns/zones?page=1", {
      as: "token-1234",
      filter: { dnszone: "example.net" },
      headers: { "user-agent": "client/1" },
    });
    await received(2);
    const record = await gateway.readLastRecord();
    const [request, call] = collector.logs();
    expect(request).toMatchObject({
      eventName: "alpha_gateway.request",
      time: record.time,
      severity: "INFO",
      body: "GET /dns/zones 200",
      resource: { "service.name": "alpha-gateway" },
      attributes: {
        "log.record.uid": record.id,
        "http.request.method": "GET",
        "http.route": "/dns/zones",
        "http.response.status_code": 200,
        "http.request.header.x-filter": ['{"dnszone":"example.net"}'],
        "http.response.body.content": JSON.stringify(record.alpha.response),
        "http.response.body.size": record.bytes.out,
        "url.path": "/v4/dns/zones",
        "url.query": "page=1",
        "client.address": record.client.address,
        "user_agent.original": "client/1",
        "alpha_gateway.lane": "alpha",
        "alpha_gateway.request_id": headers.get("x-request-id"),
        "alpha_gateway.client": record.client.fingerprint,
      },
    });
    expect(call).toMatchObject({
      eventName: "alpha_gateway.upstream_request",
      body: "GET /v4/domains 200",
      attributes: {
        "log.record.uid": `${record.id}.1`,
        "http.request.method": "GET",
        "url.path": "/v4/domains",
        "http.response.body.content": JSON.stringify(record.v4[0].response),
        "alpha_gateway.record": record.id,
      },
    });
  });

  test("has no body under AUDIT=metadata", async () => {
    await start({ AUDIT: "metadata" });
    await gateway.request("POST /vm/instances", { as: "token-1234", body: { label: "planted-label" } });
    await received(1);
    expect(collector.logs()[0]?.attributes).toMatchObject({ "http.route": "/vm/instances" });
    expect(collector.bytes().toString()).not.toMatch(/body\.content|planted-label/);
  });

  test("of the native proxy is one log", async () => {
    await start();
    gateway.v4.respondWith(json(404, {}));
    await gateway.request("GET /vm/instances", {
      as: null,
      headers: { authorization: "Bearer token-1234" },
    });
    await received(1);
    await gateway.stop();
    expect(collector.logs()).toMatchObject([
      {
        severity: "WARN",
        attributes: { "alpha_gateway.lane": "native", "http.response.status_code": 404 },
      },
    ]);
  });
});

test("logs that were not sent yet are sent at the shutdown", async () => {
  await start();
  for (let count = 0; count < 20; count += 1) await gateway.request("GET /dns/zones", { as: "token-1234" });
  await gateway.stop();
  const events = collector.logs().filter(({ eventName }) => eventName === "alpha_gateway.request");
  expect(events).toHaveLength(20);
});

describe("a collector that is away", () => {
  test("holds up no request, and what it did not take is counted", async () => {
    await start({ AUDIT_OTLP: `http://127.0.0.1:${await freePort()}` });
    expect((await gateway.request("GET /dns/zones", { as: "token-1234" })).status).toBe(200);
    expect(await metric("queued")).toBe(1);
    expect((await gateway.readLastRecord()).alpha.route).toBe("GET /dns/zones");
  });

  test("that rejects logs costs them, and later logs arrive", async () => {
    await start();
    collector.respondWith(400);
    await gateway.request("GET /dns/zones", { as: "token-1234" });
    await waitFor(async () => (await metric("dropped_total")) === 1);
    collector.respondWith(200);
    await gateway.request("GET /dns/zones", { as: "token-1234" });
    await waitFor(async () => (await metric("sent_total")) === 1);
    expect(await metric("queued")).toBe(0);
    expect(await metric("dropped_total")).toBe(1);
  });

  test("that does not respond fills a bounded queue, and the oldest logs are dropped", async () => {
    await start({ AUDIT_BODY_LIMIT: "1mb" });
    collector.stall();
    const zones = [{ id: 1, domain: "example.net", type: "master", description: "x".repeat(500_000) }];
    gateway.v4.respondWith(json(200, envelope(zones), { "x-oauth-scopes": "*" }));
    let count = 0;
    while ((await metric("dropped_total")) === 0 && count < 100) {
      count += 1;
      await gateway.request("GET /dns/zones", { as: "token-1234" });
    }
    expect(count).toBeLessThan(60);
    expect(await metric("queued")).toBeLessThan(count);
    expect(await metric("sent_total")).toBe(0);
  });
});
