import { describe, expect, test } from "@jest/globals";
import { errorFields, items, sandboxForAllTests } from "./sandbox-service.ts";

const v4 = sandboxForAllTests({ rateLimit: { limit: 100_000, seconds: 120 } });

const collections = (
  "/regions /images /vm/kernels /vm/types /vm/stackscripts /vm/instances /vm/instances/5201/disks " +
  "/vm/instances/5201/configs /vm/instances/5201/volumes /volumes /domains /domains/7010/records " +
  "/nodebalancers /nodebalancers/12077/configs /networking/ips /networking/ipv6/ranges " +
  "/networking/ipv6/pools /v4beta/networking/firewalls /account/events /account/notifications " +
  "/account/invoices /account/invoices/3001/items /account/users /account/oauth-clients " +
  "/account/payments /account/payment-methods /account/logins /account/service-transfers " +
  "/profile/tokens /profile/logins /support/tickets " +
  "/support/tickets/220045/replies /managed/credentials /managed/services /orch/clusters " +
  "/databases/engines /databases/types /databases/mysql/instances /databases/instances " +
  "/object-storage/buckets /object-storage/keys"
).split(" ");

test.each(collections)(
  "V-007 V-008 %s is paged, and rejects an invalid page and an invalid filter",
  async (path) => {
    const list = await v4.ask(`GET ${path}?page_size=25`);
    expect(list.status).toBe(200);
    expect(Object.keys(list.body).sort()).toEqual(["data", "page", "pages", "results"]);
    expect(items(list).length).toBeLessThanOrEqual(25);
    for (const query of ["page=0", "page_size=24", "page_size=101"]) {
      expect(await v4.status(`GET ${path}?${query}`)).toBe(400);
    }
    expect(errorFields(await v4.request(`GET ${path}`, { filter: { no_such_field: 1 } }))).toEqual([
      "X-Filter",
    ]);
  },
);

test.each([
  "PUT /vm/instances/1",
  "PUT /domains/1",
  "PUT /account/users/nobody",
  "PUT /account/oauth-clients/none",
  "DELETE /nodebalancers/1",
  "DELETE /profile/tokens/1",
  "DELETE /domains/7010/records/1",
  "DELETE /vm/instances/9",
])("V-006 V-192 %s gets 404", async (request) => {
  expect((await v4.request(request, { ...(request[0] === "P" && { body: {} }) })).status).toBe(404);
});

describe("V-002 V-003 bodies", () => {
  const posts = [
    "POST /domains",
    "POST /volumes/31007/clone",
    "POST /nodebalancers",
    "PUT /account",
    "POST /account/users",
  ];

  test.each(posts)("%s accepts only a JSON object", async (request) => {
    for (const text of ["{", "{}{}", "[]", '"x"', "null", "5", `{"a":"${"x".repeat(1_048_576)}"}`]) {
      const response = await v4.request(request, { raw: text });
      expect([text.slice(0, 9), response.status]).toEqual([text.slice(0, 9), 400]);
      expect(response.headers.get("content-type")).toBe("application/json");
    }
  });

  test("__proto__ in a body has no effect", async () => {
    const text = '{"__proto__": {"balance": 5}, "constructor": {"x": 1}, "city": "Bergen"}';
    expect((await v4.request("PUT /account", { raw: text })).body).toMatchObject({
      city: "Bergen",
      balance: 0,
    });
    expect(({} as Record<string, unknown>).balance).toBeUndefined();
    expect(
      (await v4.request("PUT /account/users/dev-kai/grants", { raw: '{"__proto__": [1]}' })).status,
    ).toBe(200);
  });
});

test("V-189 V-191 one response names every error of a body", async () => {
  const body = { type: "none", soa_email: 5, ttl_sec: "x", tags: ["a"], master_ips: [1] };
  const refused = await v4.ask("POST /domains", body);
  expect(refused.status).toBe(400);
  expect(errorFields(refused).map(String).toSorted()).toEqual([
    "domain",
    "master_ips[0]",
    "soa_email",
    "tags[0]",
    "ttl_sec",
    "type",
  ]);
});

test("V-177 a scope of one area does not permit other areas", async () => {
  const areas: Readonly<Record<string, string>> = {
    account: "/account",
    domains: "/domains",
    events: "/account/events",
    images: "/images",
    ips: "/networking/ips",
    vms: "/vm/instances",
    loadbalancers: "/nodebalancers",
    scripts: "/vm/stackscripts",
    volumes: "/volumes",
    orch: "/orch/clusters",
    firewall: "/v4beta/networking/firewalls",
    databases: "/databases/mysql/instances",
    object_storage: "/object-storage/keys",
  };
  for (const area of Object.keys(areas)) {
    const body = { label: area, scopes: `${area}:read_only` };
    const response = await v4.ask("POST /profile/tokens", body);
    const as = { authorization: `Bearer ${response.body.token}` };
    for (const [other, path] of Object.entries(areas)) {
      const { status } = await v4.as(as).ask(`GET ${path}`);
      expect([area, other, status]).toEqual([area, other, area === other ? 200 : 403]);
    }
  }
});

test("V-176 two scopes are required if both areas are affected", async () => {
  const body = { label: "ips", scopes: "ips:read_write" };
  const response = await v4.ask("POST /profile/tokens", body);
  const as = { authorization: `Bearer ${response.body.token}` };
  const refused = await v4.as(as).ask("POST /networking/ips/share", { vm_id: 5201, ips: [] });
  expect(refused.status).toBe(403);
  expect(refused.headers.get("x-accepted-oauth-scopes")).toBe("ips:read_write vms:read_write");
});
