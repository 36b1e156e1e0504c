import { describe, expect, test } from "@jest/globals";
import { errorFields, sandboxForEachTest, type SandboxResponse, type Json } from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const zone = { domain: "new.example.net", type: "master", soa_email: "dns@example.net" };
const make = (change: Json = {}): Promise<SandboxResponse> => v4.ask("POST /domains", { ...zone, ...change });
const add = (body: Json): Promise<SandboxResponse> => v4.ask("POST /domains/7010/records", body);

describe("domains", () => {
  test("are created, read, updated and deleted with their records", async () => {
    const { body } = await make({ tags: ["prod"], group: "shop" });
    expect(body).toMatchObject({ ...zone, status: "active", ttl_sec: 0, tags: ["prod"], group: "shop" });
    const path = `/domains/${body.id}`;
    const record = await v4.ask(`POST ${path}/records`, { type: "A", target: "192.0.2.1" });
    expect((await v4.read(`PUT ${path}`, { status: "disabled" })).status).toBe("disabled");
    expect(await v4.read(`DELETE ${path}`)).toEqual({});
    expect(await v4.status(`GET ${path}`)).toBe(404);
    expect(await v4.status(`GET ${path}/records/${record.body.id}`)).toBe(404);
    const actions = (await v4.list("/account/events")).map(({ action }) => action);
    expect(actions.slice(0, 4)).toEqual([
      "dns_zone_delete",
      "dns_zone_update",
      "dns_record_create",
      "dns_zone_create",
    ]);
  });

  test.each([
    [{ domain: "no dots" }, "domain"],
    [{ domain: "per.example.org" }, "domain"],
    [{ soa_email: undefined }, "soa_email"],
    [{ type: "slave" }, "master_ips"],
    [{ type: "primary" }, "type"],
    [{ status: "edit_mode" }, "status"],
    [{ group: "x".repeat(51) }, "group"],
    [{ ttl_sec: -1 }, "ttl_sec"],
  ])("%j is 400 naming %s", async (change, field) => {
    expect(errorFields(await make(change))).toEqual([field]);
  });

  test.each([
    [0, 0],
    [1, 300],
    [300, 300],
    [301, 3600],
    [90_000, 172_800],
    [9_999_999, 2_419_200],
  ])("ttl_sec %i is rounded up to %i", async (given, kept) => {
    expect((await make({ ttl_sec: given })).body.ttl_sec).toBe(kept);
  });

  test.each([
    ["master_ips", "1.2.3"],
    ["master_ips", "bad"],
    ["axfr_ips", "192.0.2.1/24"],
  ])("reject %s with %s, which is not an address", async (member, address) => {
    const body = { [member]: ["2001:db8::53", address] };
    expect(await v4.faults("PUT /domains/7011", body)).toEqual([member]);
  });
});

describe("V-158 records", () => {
  test.each([
    [{ type: "A", name: "a", target: "192.0.2.9" }],
    [{ type: "A", name: "me", target: "[remote_addr]" }],
    [{ type: "AAAA", name: "a", target: "2001:db8::9" }],
    [{ type: "NS", name: "sub", target: "ns1.example.org" }],
    [{ type: "MX", target: "mail.example.org.", priority: 20 }],
    [{ type: "TXT", name: "t", target: "hello" }],
    [{ type: "PTR", name: "9", target: "a.example.org" }],
    [{ type: "CAA", target: "letsencrypt.org", tag: "issue" }],
    [{ type: "CNAME", name: "alias", target: "www.example.org" }],
  ])("%j is made", async (body) => {
    const response = await add(body);
    expect(response.body).toMatchObject(body);
    expect(await v4.read(`GET /domains/7010/records/${response.body.id}`)).toEqual(response.body);
  });

  test("V-165 accept a CNAME with a final period, but no address with one", async () => {
    const response = await add({ type: "CNAME", name: "dot", target: "www.example.org." });
    expect([response.status, response.body.target]).toEqual([200, "www.example.org."]);
    expect(errorFields(await add({ type: "A", name: "dot2", target: "192.0.2.1." }))).toEqual(["target"]);
  });

  test("SRV gets its underscores", async () => {
    const srv = { type: "SRV", target: "sip.example.org", priority: 1, weight: 2, port: 5060 };
    const response = await add({ ...srv, service: "sips", protocol: "tcp" });
    expect(response.body).toMatchObject({ service: "_sips", protocol: "_tcp", name: "_sips._tcp" });
    expect(errorFields(await add(srv))).toEqual(["service", "protocol"]);
  });

  test.each([
    [{ type: "A", target: "example.org" }, ["target"]],
    [{ type: "AAAA", target: "192.0.2.1" }, ["target"]],
    [{ type: "CNAME", target: "www.example.org" }, ["name"]],
    [{ type: "CAA", target: "letsencrypt.org" }, ["tag"]],
    [{ type: "HINFO", target: "x" }, ["type"]],
    [{ target: "192.0.2.1" }, ["type"]],
    [{ type: "MX", target: "mail.example.org", priority: 256 }, ["priority"]],
    [{ type: "CNAME", name: "blog", target: "www.example.org" }, ["name"]],
    [{ type: "TXT", name: "a b", target: "x" }, ["name"]],
    [{ type: "TXT", name: "https://example.org/", target: "x" }, ["name"]],
    [{ type: "TXT", name: "bücher", target: "x" }, ["name"]],
  ])("%j is 400 naming %j", async (body, named) => {
    const refused = await add(body);
    expect([refused.status, errorFields(refused)]).toEqual([400, named]);
  });

  test.each([
    ["NS", "CNAME"],
    ["CNAME", "NS"],
    ["TXT", "CNAME"],
    ["CNAME", "TXT"],
    ["MX", "CNAME"],
    ["CNAME", "MX"],
  ])("reject %s and then %s of one name: a CNAME must be the only record of its name", async (one, other) => {
    await add({ type: one, name: "same", target: "a.example.org" });
    const refused = await add({ type: other, name: "Same", target: "b.example.org" });
    expect(refused.body).toEqual({
      errors: [{ reason: expect.stringMatching(/Record conflict/), field: "name" }],
    });
  });

  test.each([
    [0, 0],
    [400, 300],
    [3000, 3600],
    [99_999_999, 2_419_200],
  ])("round ttl_sec %i to %i, the nearest", async (given, kept) => {
    const response = await add({ type: "A", name: "n", target: "192.0.2.1", ttl_sec: given });
    expect(response.body.ttl_sec).toBe(kept);
  });

  test("are changed except their type, and deleted", async () => {
    const { id } = (await add({ type: "A", name: "n", target: "192.0.2.1" })).body;
    const path = `/domains/7010/records/${String(id)}`;
    const changed = await v4.ask(`PUT ${path}`, { type: "MX", target: "192.0.2.2" });
    expect(changed.body).toMatchObject({ type: "A", name: "n", target: "192.0.2.2" });
    expect(await v4.faults(`PUT ${path}`, { target: "nowhere" })).toEqual(["target"]);
    expect(await v4.read(`DELETE ${path}`)).toEqual({});
    expect(await v4.status(`GET ${path}`)).toBe(404);
  });
});
