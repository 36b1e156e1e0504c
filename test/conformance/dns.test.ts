/** DNS zones, their states and their records. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { successWith, errorOn, type Json } from "./helpers.ts";
import { startGatewayWithFakeV4 } from "../support/gateway-with-fake-v4.ts";
import { envelope, json } from "../support/fake-v4.ts";
import { startForTests } from "../support/start-for-tests.ts";

const ZONE = {
  id: 7010,
  type: "master",
  domain: "shop.example.net",
  group: "shop",
  status: "active",
  description: "storefront",
  soa_email: "dns@example.net",
  retry_sec: 3600,
  master_ips: ["192.0.2.53"],
  axfr_ips: ["198.51.100.7"],
  expire_sec: 604_800,
  refresh_sec: 14_400,
  ttl_sec: 300,
  tags: ["prod"],
  created: "2022-04-01T09:00:00",
  updated: "2022-04-01T09:00:00",
};

const RECORD = {
  id: 81_234,
  type: "A",
  name: "www",
  target: "198.51.100.23",
  priority: 10,
  weight: 5,
  port: 80,
  service: null,
  protocol: null,
  ttl_sec: 300,
  tag: null,
};

const CLIENT = "203.0.113.44";

const gateway = startForTests(() => startGatewayWithFakeV4({ TRUST_PROXY: "127.0.0.1" }));
beforeEach(() => gateway.v4.respondWith(json(200, RECORD)));

/** What v4 was last asked to write. */
const written = (): unknown => gateway.v4.calls.at(-1)?.json();

const create = (body: Json) =>
  gateway.request("POST /dns/zones/7010/records", { body, headers: { "x-forwarded-for": CLIENT } });

const edit = (body: Json) =>
  gateway.request("PUT /dns/zones/7010/records/81234", { body, headers: { "x-forwarded-for": CLIENT } });

describe("T-8.8 a DNS zone", () => {
  test("A-039 has all its members and no other", async () => {
    gateway.v4.respondWith(json(200, envelope([ZONE])));
    const { body } = await gateway.request("GET /dns/zones");
    const { domain: dnszone, group: display_group, tags: _t, created: _c, updated: _u, ...same } = ZONE;
    expect(body).toEqual({
      dnszones: [{ ...same, dnszone, display_group }],
      page: 1,
      total_pages: 1,
      total_results: 1,
    });
  });

  test.each(["master", "slave"])("A-040 of the type %s is created", async (type) => {
    gateway.v4.respondWith(json(200, { ...ZONE, type }));
    const response = await gateway.request("POST /dns/zones", {
      body: { dnszone: "shop.example.net", type },
    });
    expect(response).toEqual(successWith({ type }));
    expect(written()).toEqual({ domain: "shop.example.net", type });
  });

  test.each(["primary", "", 1])("A-040 of the type %j is rejected", async (type) => {
    const response = await gateway.request("POST /dns/zones", {
      body: { dnszone: "shop.example.net", type },
    });
    expect(response).toEqual(errorOn(400, "type"));
  });

  test.each([
    ["active", "active"],
    ["disabled", "disabled"],
    ["edit_mode", "edit_mode"],
    ["has_errors", "disabled"],
    ["something new", "disabled"],
  ])("A-108 with v4's status %s has the status %s", async (status, alpha) => {
    gateway.v4.respondWith(json(200, { ...ZONE, status }));
    expect(await gateway.request("GET /dns/zones/7010")).toEqual(successWith({ status: alpha }));
  });

  test.each([
    ["active", "active"],
    ["disabled", "disabled"],
    ["edit_mode", "disabled"],
  ])("A-108 with the status %s is written as %s", async (status, v4) => {
    await gateway.request("PUT /dns/zones/7010", { body: { status } });
    expect(written()).toEqual({ status: v4 });
  });

  test("A-108 cannot get another status", async () => {
    gateway.v4.respondWith(json(200, ZONE));
    const response = await gateway.request("PUT /dns/zones/7010", { body: { status: "has_errors" } });
    expect(response).toEqual(errorOn(400, "status"));
  });
});

describe("a DNS record", () => {
  test("A-041 has all its members and no other; v4's further types are omitted", async () => {
    gateway.v4.respondWith(json(200, envelope([RECORD])));
    const { body } = await gateway.request("GET /dns/zones/7010/records");
    const { tag: _tag, ...same } = RECORD;
    expect(body).toEqual({ records: [same], page: 1, total_pages: 1, total_results: 1 });
    expect(gateway.v4.calls.at(-1)?.headers["x-filter"]).toBe('{"tag":null}');
  });

  test.each(["A", "AAAA", "NS", "MX", "CNAME", "TXT", "SRV"])(
    "A-042 of the type %s is created",
    async (type) => {
      gateway.v4.respondWith(json(200, { ...RECORD, type }));
      expect(await create({ type })).toEqual(successWith({ type }));
      expect(written()).toEqual({ type });
    },
  );

  test.each(["PTR", "CAA", "a", null, undefined])("A-042 of the type %j is rejected", async (type) => {
    expect(await create({ type, name: "www" })).toEqual(errorOn(400, "type"));
  });

  test.each(["PTR", "CAA", "SPF"])("A-042 of v4's type %s is shown as one of alpha's", async (type) => {
    gateway.v4.respondWith(json(200, { ...RECORD, type }));
    const { body } = await gateway.request("GET /dns/zones/7010/records/81234");
    expect(["CNAME", "TXT"]).toContain(body.type);
  });

  test.each(["w", "n".repeat(100), "www.shop.example.net"])(
    "A-043 A-044 of the name %j is created",
    async (name) => {
      expect((await create({ type: "A", name })).status).toBe(200);
      expect(written()).toEqual({ type: "A", name });
    },
  );

  test("A-043 of 101 characters is rejected", async () => {
    expect(await create({ type: "A", name: "n".repeat(101) })).toEqual(errorOn(400, "name"));
  });

  test.each(["www", "*", "*.dev", "a.b.example.com", "_acme-challenge", "www.", "x1-2_3"])(
    "A-043 accepts the name %j",
    async (name) => {
      await create({ type: "TXT", name, target: "x" });
      expect(written()).toEqual({ type: "TXT", name, target: "x" });
    },
  );

  test.each(["a b", "https://example.com", "exämple", "a..b", ".a", "a/b", "a.*", "a\n", " "])(
    "A-043 rejects the name %j",
    async (name) => {
      expect(await create({ type: "TXT", name, target: "x" })).toEqual(errorOn(400, "name"));
      expect(await edit({ name })).toEqual(errorOn(400, "name"));
    },
  );

  test("A-043 with an empty name is the zone itself: a create omits the name, an edit sends it", async () => {
    expect((await create({ type: "MX", name: "", target: "mail.example.net" })).status).toBe(200);
    expect(written()).toEqual({ type: "MX", target: "mail.example.net" });
    expect((await edit({ name: "" })).status).toBe(200);
    expect(written()).toEqual({ name: "" });
  });

  test.each([
    ["MX", "mail.example.net"],
    ["CNAME", "shop.example.net."],
    ["TXT", "v=spf1 -all"],
    ["TXT", '$1 \\ "quoted" ü'],
  ])("A-045 %s keeps its target %j", async (type, target) => {
    await create({ type, target });
    expect(written()).toEqual({ type, target });
  });

  test.each(["A", "AAAA"])("A-046 %s gets the client's address for [remote_addr]", async (type) => {
    await create({ type, target: "[remote_addr]" });
    expect(written()).toEqual({ type, target: CLIENT });
    gateway.v4.respondWith(json(200, { ...RECORD, type }));
    await edit({ target: "[remote_addr]" });
    expect(written()).toEqual({ target: CLIENT });
  });

  test.each(["NS", "MX", "CNAME", "TXT", "SRV"])("A-046 %s keeps [remote_addr]", async (type) => {
    await create({ type, target: "[remote_addr]" });
    expect(written()).toEqual({ type, target: "[remote_addr]" });
    gateway.v4.respondWith(json(200, { ...RECORD, type }));
    await edit({ target: "[remote_addr]" });
    expect(written()).toEqual({ target: "[remote_addr]" });
  });

  test("A-047 A-049 has a priority, a weight, a port and a lifetime, in numbers", async () => {
    const numbers = { priority: 0, weight: 65_535, port: 443, ttl_sec: 0 };
    await create({ type: "SRV", ...numbers });
    expect(written()).toEqual({ type: "SRV", ...numbers });
    const words = { priority: "-1", weight: 1.5, port: true, ttl_sec: "5m" };
    expect(await create({ type: "SRV", ...words })).toEqual(
      errorOn(400, "priority", "weight", "port", "ttl_sec"),
    );
  });

  test.each(["sip", "_sip", "a", "x".repeat(15), "ldap-2", "_XMPP-client"])(
    "A-048 accepts the service and the protocol %j",
    async (name) => {
      await create({ type: "SRV", service: name, protocol: name });
      expect(written()).toEqual({ type: "SRV", service: name, protocol: name });
    },
  );

  test.each([
    [""],
    ["_"],
    ["-sip"],
    ["sip-"],
    ["_-"],
    ["a_b"],
    ["si p"],
    ["x".repeat(16)],
    ["_tcp."],
    ["süd"],
    ["sip\n"],
    [5],
    [["sip"]],
  ])("A-048 rejects the service and the protocol %j", async (name) => {
    const response = await create({ type: "SRV", service: name, protocol: name });
    expect(response).toEqual(errorOn(400, "service", "protocol"));
  });

  test("A-048 removes them with null", async () => {
    await edit({ service: null, protocol: null });
    expect(written()).toEqual({ service: null, protocol: null });
  });
});
