/** Document 2, Resources: the instance; Endpoints: those of instances. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAlteredGateway, type AlteredGateway } from "./altered-v4.ts";
import { instance, serviceType } from "./forms.ts";
import { created, debian, refused, seen, whole, type Json } from "./told.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";

let gateway: Gateway;
let altered: AlteredGateway;
beforeAll(async () => {
  gateway = await startGateway();
  altered = await startAlteredGateway();
});
afterAll(async () => {
  await gateway.stop();
  await altered.stop();
});

describe("the Instance object", () => {
  test("A-066 A-072 A-075 has the documented fields and no other, alone and in lists", async () => {
    const rows = await whole(gateway, "GET /vm/instances", "vms");
    expect(rows).toHaveLength(60);
    for (const row of rows) {
      const expected = row["distribution"] === null ? { ...instance, distribution: null } : instance;
      expect(row).toEqual(expected);
    }
    expect((await gateway.ask("GET /vm/instances/5201")).body).toEqual(instance);
    expect(Object.keys((await gateway.ask("GET /vm/instances/5201")).body)).toEqual(
      Object.keys(rows[0] ?? {}),
    );
  });

  test("A-066 datacenter and distribution are the objects of the catalogs", async () => {
    const { body } = await gateway.ask("GET /vm/instances/5204");
    expect(body.datacenter).toEqual((await gateway.ask("GET /datacenters/dallas")).body);
    expect(body.distribution).toEqual((await gateway.ask("GET /vm/distributions/vm/arch")).body);
  });

  test("A-066 distribution is null for one that was not made from any", async () => {
    expect((await gateway.ask("GET /vm/instances/5213")).body.distribution).toBeNull();
  });

  test("A-075 type is an array of the one service type", async () => {
    const { body } = await gateway.ask("GET /vm/instances/5204");
    expect(body.type).toEqual([(await gateway.ask("GET /vm/types/g6-standard-4")).body]);
  });

  test("A-075 a type that the catalog does not know is told by the instance itself", async () => {
    altered.gives("GET /vm/instances/5201", (body: Json) => ({ ...body, type: "g1-retired" }));
    const { body } = await altered.ask("GET /vm/instances/5201");
    expect(body.type).toEqual([
      {
        ...serviceType,
        id: "g1-retired",
        label: "g1-retired",
        ram: 1024,
        disk: 25_600,
        storage: 25_600,
        vcpus: 1,
      },
    ]);
    altered.gives("GET /vm/instances/5201", (body: Json) => ({ ...body, type: null }));
    expect((await altered.ask("GET /vm/instances/5201")).body.type).toEqual([]);
    altered.plain();
  });

  test("A-074 ipv6 is the SLAAC address, ipv4 the addresses as v4 lists them", async () => {
    const { body } = await gateway.ask("GET /vm/instances/5201");
    expect(body.ipv6).toBe("2001:db8::f03c:92ff:fe00:1451/64");
    expect(body.ipv4).toEqual(["198.18.20.81", "192.168.148.81"]);
    // Another region, another network.
    expect((await gateway.ask("GET /vm/instances/5202")).body.ipv4).toEqual(["198.18.36.82"]);
    expect((await gateway.ask("GET /vm/instances/5217")).body.ipv6).toBe("");
  });

  test.each([
    [0, 0],
    [1_073_741_823, 0],
    [1_073_741_824, 1],
    [13_958_643_711, 12],
  ])("A-076 %i bytes used this month are a total_transfer of %i GB", async (used, gigabytes) => {
    altered.answers("GET /vm/instances/5201/transfer", { body: { used, quota: 2000, billable: 0 } });
    expect((await altered.ask("GET /vm/instances/5201")).body.total_transfer).toBe(gigabytes);
    altered.plain();
  });

  test("A-076 the month's traffic that v4 won't tell is 0, and the instance is there", async () => {
    altered.answers("GET /vm/instances/5201/transfer", { status: 503, body: "<html>" });
    const { status, body } = await altered.ask("GET /vm/instances/5201");
    expect([status, body.total_transfer, body.id]).toEqual([200, 0, 5201]);
    altered.plain();
  });

  test.each(["kvm", "xen"])("A-077 hypervisor %s", async (hypervisor) => {
    altered.gives("GET /vm/instances/5201", (body: Json) => ({ ...body, hypervisor }));
    expect((await altered.ask("GET /vm/instances/5201")).body.hypervisor).toBe(hypervisor);
    altered.plain();
  });
});

describe("the endpoints of instances", () => {
  test("A-110 the list", async () => {
    const { status, body } = await gateway.ask("GET /vm/instances", { as: "readOnly" });
    expect(status).toBe(200);
    expect(body.vms[0]).toMatchObject({
      id: 5201,
      datacenter: { id: "ap-west" },
      type: [{ id: "g6-nanode-1" }],
    });
  });

  test("A-111 POST creates an instance upstream, gives it, and the list has it", async () => {
    const before = (await gateway.askV4("GET /vm/instances")).body.results;
    gateway.clock.advance(31_000);
    gateway.sentToV4();
    const made = await gateway.ask("POST /vm/instances", {
      body: { ...debian, label: "made", group: "new" },
    });
    expect(seen(made)).toEqual({
      status: 200,
      body: { ...instance, label: "made", group: "new", status: "provisioning" },
    });
    expect(gateway.sentToV4().map(({ method, path, body }) => [method, path, body])).toEqual([
      [
        "POST",
        "/v4/vm/instances",
        {
          region: "us-east",
          type: "g6-standard-1",
          image: "vm/debian11",
          root_pass: debian.root_pass,
          label: "made",
          group: "new",
          booted: false,
        },
      ],
    ]);
    expect((await gateway.askV4("GET /vm/instances")).body.results).toBe(before + 1);
    const listed = await gateway.ask("GET /vm/instances", { filter: { label: "made" } });
    expect(listed.body.vms).toEqual([made.body]);
  });

  test("A-112 GET of one gives it, an unknown one is 404", async () => {
    expect(seen(await gateway.ask("GET /vm/instances/5202"))).toEqual({
      status: 200,
      body: expect.objectContaining({ id: 5202, label: "api-02" }),
    });
    expect(seen(await gateway.ask("GET /vm/instances/99999999"))).toEqual(refused(404, undefined));
  });

  test("A-112 the instance of another account is 404", async () => {
    expect(seen(await gateway.ask("GET /vm/instances/5201", { as: "other" }))).toEqual(
      refused(404, undefined),
    );
  });

  test.each([
    "abc",
    "0x1451",
    "5201.0",
    "-5201",
    "+5201",
    "05201",
    "5201%20",
    "5201%2Fdisks",
    "%2e%2e",
    "5201;x",
  ])("A-112 GET /vm/instances/%s is 404, and v4 is not asked", async (id) => {
    gateway.sentToV4();
    expect(seen(await gateway.ask(`GET /vm/instances/${id}`))).toEqual(refused(404, undefined));
    expect(gateway.sentToV4()).toEqual([]);
  });

  test("A-071 A-113 PUT changes label and group upstream, and the next GET shows it", async () => {
    const edited = await gateway.ask("PUT /vm/instances/5230", { body: { label: "new-name", group: "new" } });
    expect(seen(edited)).toEqual({
      status: 200,
      body: { ...instance, id: 5230, label: "new-name", group: "new" },
    });
    expect((await gateway.ask("GET /vm/instances/5230")).body).toEqual(edited.body);
    expect((await gateway.askV4("GET /vm/instances/5230")).body).toMatchObject({
      label: "new-name",
      group: "new",
    });
  });

  test("A-071 the group can be emptied", async () => {
    expect((await gateway.ask("PUT /vm/instances/5230", { body: { group: "" } })).body.group).toBe("");
    expect((await gateway.askV4("GET /vm/instances/5230")).body.group).toBe("");
  });

  test("A-113 PUT of an unknown one is 404", async () => {
    const told = await gateway.ask("PUT /vm/instances/99999999", { body: { label: "new-name" } });
    expect(seen(told)).toEqual(refused(404, undefined));
  });

  test("A-114 DELETE takes an instance away for good", async () => {
    const { id } = await created(gateway);
    expect(seen(await gateway.ask(`DELETE /vm/instances/${id}`))).toEqual({ status: 200, body: {} });
    gateway.clock.advance(10_000);
    expect(seen(await gateway.ask(`GET /vm/instances/${id}`))).toEqual(refused(404, undefined));
    expect((await gateway.askV4(`GET /vm/instances/${id}`)).status).toBe(404);
    expect((await gateway.ask("GET /vm/instances", { filter: { id } })).body.vms).toEqual([]);
    expect(seen(await gateway.ask(`DELETE /vm/instances/${id}`))).toEqual(refused(404, undefined));
    expect(seen(await gateway.ask(`PUT /vm/instances/${id}`, { body: { label: "back" } }))).toEqual(
      refused(404, undefined),
    );
  });
});
