/** Instances and their calls. */
import { describe, expect, test } from "@jest/globals";
import { startAlteredGateway } from "./altered-v4.ts";
import { instance, serviceType } from "./forms.ts";
import { answer, createInstance, debianInstance, errorOn, fetchAllRows, type Json } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
const altered = startForTests(() => startAlteredGateway());

describe("the Instance object", () => {
  test("A-066 A-072 A-075 has the documented fields and no other, alone and in lists", async () => {
    const rows = await fetchAllRows(gateway, "GET /vm/instances", "vms");
    expect(rows).toHaveLength(60);
    for (const row of rows) {
      const expected = row["distribution"] === null ? { ...instance, distribution: null } : instance;
      expect(row).toEqual(expected);
    }
    expect((await gateway.request("GET /vm/instances/5201")).body).toEqual(instance);
    expect(Object.keys((await gateway.request("GET /vm/instances/5201")).body)).toEqual(
      Object.keys(rows[0] ?? {}),
    );
  });

  test("A-066 has datacenter and distribution as objects of the catalogs", async () => {
    const { body } = await gateway.request("GET /vm/instances/5204");
    expect(body.datacenter).toEqual((await gateway.request("GET /datacenters/dallas")).body);
    expect(body.distribution).toEqual((await gateway.request("GET /vm/distributions/vm/arch")).body);
  });

  test("A-066 has distribution null without an image", async () => {
    expect((await gateway.request("GET /vm/instances/5213")).body.distribution).toBeNull();
  });

  test("A-075 has type as an array of one service type", async () => {
    const { body } = await gateway.request("GET /vm/instances/5204");
    expect(body.type).toEqual([(await gateway.request("GET /vm/types/g6-standard-4")).body]);
  });

  test("A-075 T-7.2 has an unknown type with the members of the instance", async () => {
    altered.changeResponse("GET /vm/instances/5201", (body: Json) => ({ ...body, type: "g1-retired" }));
    const { body } = await altered.request("GET /vm/instances/5201");
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
    altered.changeResponse("GET /vm/instances/5201", (body: Json) => ({ ...body, type: null }));
    expect((await altered.request("GET /vm/instances/5201")).body.type).toEqual([]);
    altered.resetRules();
  });

  test("A-074 has ipv6 as the SLAAC address, ipv4 as v4 lists the addresses", async () => {
    const { body } = await gateway.request("GET /vm/instances/5201");
    expect(body.ipv6).toBe("2001:db8::f03c:92ff:fe00:1451/64");
    expect(body.ipv4).toEqual(["198.18.20.81", "192.168.148.81"]);
    // Another region, another network.
    expect((await gateway.request("GET /vm/instances/5202")).body.ipv4).toEqual(["198.18.36.82"]);
    expect((await gateway.request("GET /vm/instances/5217")).body.ipv6).toBe("");
  });

  test.each([
    [0, 0],
    [1_073_741_823, 0],
    [1_073_741_824, 1],
    [13_958_643_711, 12],
  ])("A-076 has %i bytes of this month as a total_transfer of %i GB", async (used, gigabytes) => {
    altered.respondTo("GET /vm/instances/5201/transfer", { body: { used, quota: 2000, billable: 0 } });
    expect((await altered.request("GET /vm/instances/5201")).body.total_transfer).toBe(gigabytes);
    altered.resetRules();
  });

  test("A-076 T-1.2 has a total_transfer of 0 if v4 does not return it", async () => {
    altered.respondTo("GET /vm/instances/5201/transfer", { status: 503, body: "<html>" });
    const { status, body } = await altered.request("GET /vm/instances/5201");
    expect([status, body.total_transfer, body.id]).toEqual([200, 0, 5201]);
    altered.resetRules();
  });

  test.each(["kvm", "xen"])("A-077 has the hypervisor %s", async (hypervisor) => {
    altered.changeResponse("GET /vm/instances/5201", (body: Json) => ({ ...body, hypervisor }));
    expect((await altered.request("GET /vm/instances/5201")).body.hypervisor).toBe(hypervisor);
    altered.resetRules();
  });
});

describe("T-8.1 the endpoints of instances", () => {
  test("A-110 GET lists instances", async () => {
    const { status, body } = await gateway.request("GET /vm/instances", { as: "readOnly" });
    expect(status).toBe(200);
    expect(body.vms[0]).toMatchObject({
      id: 5201,
      datacenter: { id: "ap-west" },
      type: [{ id: "g6-nanode-1" }],
    });
  });

  test("A-007 A-111 POST creates an instance in v4 and returns it, and the list has it", async () => {
    const before = (await gateway.requestV4("GET /vm/instances")).body.results;
    gateway.clock.advance(31_000);
    gateway.takeV4Requests();
    const response = await gateway.request("POST /vm/instances", {
      body: { ...debianInstance, label: "made", group: "new" },
    });
    expect(response).toEqual(
      answer(200, { ...instance, label: "made", group: "new", status: "provisioning" }),
    );
    expect(gateway.takeV4Requests().map(({ method, path, body }) => [method, path, body])).toEqual([
      [
        "POST",
        "/v4/vm/instances",
        {
          region: "us-east",
          type: "g6-standard-1",
          image: "vm/debian11",
          root_pass: debianInstance.root_pass,
          label: "made",
          group: "new",
          booted: false,
        },
      ],
    ]);
    expect((await gateway.requestV4("GET /vm/instances")).body.results).toBe(before + 1);
    const listed = await gateway.request("GET /vm/instances", { filter: { label: "made" } });
    expect(listed.body.vms).toEqual([response.body]);
  });

  test("A-112 GET returns one, an unknown one gets 404", async () => {
    expect(await gateway.request("GET /vm/instances/5202")).toEqual(
      answer(200, expect.objectContaining({ id: 5202, label: "api-02" })),
    );
    expect(await gateway.request("GET /vm/instances/99999999")).toEqual(errorOn(404));
  });

  test("A-112 GET of another account's instance gets 404", async () => {
    expect(await gateway.request("GET /vm/instances/5201", { as: "other" })).toEqual(errorOn(404));
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
  ])("A-112 GET /vm/instances/%s gets 404 without a v4 request", async (id) => {
    gateway.takeV4Requests();
    expect(await gateway.request(`GET /vm/instances/${id}`)).toEqual(errorOn(404));
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("A-007 A-071 A-113 PUT changes label and group in v4, and the next GET shows it", async () => {
    const edited = await gateway.request("PUT /vm/instances/5230", {
      body: { label: "new-name", group: "new" },
    });
    expect(edited).toEqual(answer(200, { ...instance, id: 5230, label: "new-name", group: "new" }));
    expect((await gateway.request("GET /vm/instances/5230")).body).toEqual(edited.body);
    expect((await gateway.requestV4("GET /vm/instances/5230")).body).toMatchObject({
      label: "new-name",
      group: "new",
    });
  });

  test("A-071 PUT can empty the group", async () => {
    expect((await gateway.request("PUT /vm/instances/5230", { body: { group: "" } })).body.group).toBe("");
    expect((await gateway.requestV4("GET /vm/instances/5230")).body.group).toBe("");
  });

  test("A-113 PUT of an unknown one gets 404", async () => {
    const response = await gateway.request("PUT /vm/instances/99999999", { body: { label: "new-name" } });
    expect(response).toEqual(errorOn(404));
  });

  test("A-007 A-114 DELETE deletes an instance permanently", async () => {
    const { id } = await createInstance(gateway);
    expect(await gateway.request(`DELETE /vm/instances/${id}`)).toEqual(answer(200, {}));
    gateway.clock.advance(10_000);
    expect(await gateway.request(`GET /vm/instances/${id}`)).toEqual(errorOn(404));
    expect((await gateway.requestV4(`GET /vm/instances/${id}`)).status).toBe(404);
    expect((await gateway.request("GET /vm/instances", { filter: { id } })).body.vms).toEqual([]);
    expect(await gateway.request(`DELETE /vm/instances/${id}`)).toEqual(errorOn(404));
    expect(await gateway.request(`PUT /vm/instances/${id}`, { body: { label: "back" } })).toEqual(
      errorOn(404),
    );
  });
});
