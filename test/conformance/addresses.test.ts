/** IPv4 and IPv6 addresses and pools, and the operations on them. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { number, text } from "./forms.ts";
import { answer, successWith, errorOn, minimalInstance, fetchAllRows, type Json } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
let first: Json & { id: number; ipv4: string[]; datacenter: { id: string } };
beforeAll(async () => {
  const { body } = await gateway.request("GET /vm/instances", { filter: { datacenter: "newark" } });
  first = body.vms[0];
});

const ipv4 = {
  address: text,
  gateway: text,
  subnet_mask: text,
  prefix: expect.stringMatching(/^\d+$/),
  type: "public",
  rdns: text,
  vm_id: number,
};
const ipv6 = {
  address: text,
  gateway: text,
  range: text,
  subnet_mask: text,
  rdns: null,
  prefix: number,
  type: expect.stringMatching(/^(public|private)$/),
};

describe("T-8.5 IPv4", () => {
  test("A-056 A-058 each address of the list has all members and no other, with a text as prefix", async () => {
    const rows = await fetchAllRows(gateway, "GET /networking/ipv4", "ipv4s");
    expect(rows.length).toBeGreaterThan(25);
    for (const row of rows) expect(row).toEqual(ipv4);
    expect(rows.map(({ address }) => address)).toContain(first.ipv4[0]);
    expect(rows.some(({ address }) => String(address).includes(":"))).toBe(false);
  });

  test("A-057 A-058 a private address is in 192.168, and has no gateway", async () => {
    const { body } = await gateway.request("POST /vm/instances/5203/ips", { body: { type: "private" } });
    expect(body).toMatchObject({ id: body.address, type: "private", gateway: null });
    expect(body.address).toMatch(/^192\.168\./);
    const { body: all } = await gateway.request("GET /vm/instances/5203/ips");
    expect(all.ipv4.private).toEqual([expect.objectContaining({ address: body.address, gateway: null })]);
  });

  test("A-059 rdns set to null is reset", async () => {
    const path = `/networking/ipv4/${first.ipv4[0]}`;
    const { body: before } = await gateway.request(`GET ${path}`);
    const zone = { dnszone: "named.example.net", type: "master", soa_email: "a@example.net" };
    const { body: made } = await gateway.request("POST /dns/zones", { body: zone });
    const record = { type: "A", name: "", target: first.ipv4[0] };
    await gateway.request(`POST /dns/zones/${made.id}/records`, { body: record });
    const { body: set } = await gateway.request(`PUT ${path}`, { body: { rdns: zone.dnszone } });
    expect(set.rdns).toBe(zone.dnszone);
    expect((await gateway.request(`PUT ${path}`, { body: { rdns: null } })).body).toEqual(before);
  });

  test("A-014 A-020 the gateway filters, orders and pages the list with exact totals", async () => {
    const rows = await fetchAllRows(gateway, "GET /networking/ipv4", "ipv4s");
    const filter = {
      "+or": [{ vm_id: first.id }, { vm_id: { "+gt": 5255 } }],
      "+order-by": "vm_id",
      "+order": "desc",
    };
    const { body } = await gateway.request("GET /networking/ipv4", { filter });
    const wanted = rows.filter(({ vm_id: id }) => id === first.id || Number(id) > 5255);
    expect(body.total_results).toBe(wanted.length);
    expect(body.ipv4s.at(-1).vm_id).toBe(first.id);
    const refused = await gateway.request("GET /networking/ipv4", { filter: { region: "us-east" } });
    expect(refused).toEqual(errorOn(400));
    const { body: beyond } = await gateway.request("GET /networking/ipv4?page=99");
    expect(beyond).toMatchObject({ ipv4s: [], page: 99, total_results: rows.length });
  });

  test("an address is created for an instance, moved and deleted", async () => {
    const target = await gateway.request("POST /vm/instances", {
      body: { ...minimalInstance, datacenter: first.datacenter.id, label: "target" },
    });
    gateway.clock.advance(31_000);
    const { body: made } = await gateway.request("POST /networking/ipv4", { body: { vm: first.id } });
    expect(made).toEqual({ ...ipv4, id: made.address, vm_id: first.id });
    const assignments = [{ address: made.address, "vm-id": String(target.body.id) }];
    const { body: moved } = await gateway.request("POST /networking/ip-assign", {
      body: { datacenter: first.datacenter, assignments },
    });
    expect(moved).toEqual({ ips: [{ ...ipv4, address: made.address, vm_id: target.body.id }] });
    expect(await gateway.request(`DELETE /networking/ipv4/${made.address}`)).toEqual(answer(200, {}));
    expect(await gateway.request(`DELETE /networking/ipv4/${made.address}`)).toEqual(errorOn(404));
  });

  test("an invalid assignment is rejected with alpha's names", async () => {
    const assignments = [{ address: first.ipv4[0], vm_id: first.id }];
    const elsewhere = first.datacenter.id === "london" ? "newark" : "london";
    const body = { datacenter: elsewhere, assignments };
    expect(await gateway.request("POST /networking/ip-assign", { body })).toEqual(
      errorOn(400, "assignments"),
    );
    expect(
      await gateway.request("POST /networking/ip-assign", { body: { ...body, datacenter: "x" } }),
    ).toEqual(errorOn(400, "datacenter"));
  });
});

describe("IPv6", () => {
  test("A-060 A-061 an address has all members and no other, in any spelling", async () => {
    const { body: all } = await gateway.request("GET /vm/instances/5201/ips");
    const { body } = await gateway.request(`GET /networking/ipv6/${all.ipv6.slaac}`);
    expect(body).toEqual({ ...ipv6, address: all.ipv6.slaac, type: "public" });
    const spelt = `/networking/ipv6/${String(all.ipv6.slaac).toUpperCase().replace("::", ":0:0:")}`;
    expect((await gateway.request(`GET ${spelt}`)).body).toEqual(body);
    const { body: local } = await gateway.request(`GET /vm/instances/5201/ips/${all.ipv6["link-local"]}`);
    expect(local).toEqual({ ...ipv6, address: all.ipv6.link_local, type: "private" });
  });

  test("A-062 a pool is a range with its length, and the id of a datacenter", async () => {
    const { body } = await gateway.request("GET /networking/ipv6");
    expect(body.ipv6_pools.length).toBeGreaterThan(0);
    for (const pool of body.ipv6_pools) {
      expect(pool).toEqual({ range: expect.stringMatching(/^[0-9a-f:]+\/\d+$/), datacenter: text });
    }
    const { datacenter } = body.ipv6_pools[0];
    const response = await gateway.request("GET /networking/ipv6", { filter: { datacenter } });
    expect(response).toEqual(successWith({ ipv6_pools: expect.arrayContaining([body.ipv6_pools[0]]) }));
  });
});
