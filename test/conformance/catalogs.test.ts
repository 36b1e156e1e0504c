/** Datacenters, distributions, kernels and service types. */
import { describe, expect, test } from "@jest/globals";
import { startAlteredGateway } from "./altered-v4.ts";
import { flag, text, datacenter, distribution, serviceType } from "./forms.ts";
import { answer, errorOn, fetchAllRows, type Json, minimalInstance } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

const kernel = {
  id: text,
  description: text,
  label: text,
  version: text,
  x64: flag,
  xen: flag,
  kvm: flag,
  current: flag,
  deprecated: flag,
  latest: flag,
};

const catalogs: readonly (readonly [path: string, list: string, object: Json])[] = [
  ["/datacenters", "datacenters", datacenter],
  ["/vm/distributions", "distributions", distribution],
  ["/vm/kernels", "kernels", kernel],
  ["/vm/types", "types", serviceType],
];

describe.each(catalogs)("T-8.6 GET %s", (path, list, object) => {
  test("A-031 A-037 A-063 A-075 every object has the documented fields and no other", async () => {
    const rows = await fetchAllRows(gateway, `GET ${path}`, list, { as: null });
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toEqual(object);
  });

  test("A-008 exactly the objects of the list have a path of their own", async () => {
    const rows = await fetchAllRows(gateway, `GET ${path}`, list);
    for (const row of rows) {
      expect(await gateway.request(`GET ${path}/${String(row["id"])}`)).toEqual(answer(200, row));
    }
    expect(await gateway.request(`GET ${path}/vm/nothing`)).toEqual(errorOn(404));
    expect(await gateway.request(`GET ${path}/__proto__`)).toEqual(errorOn(404));
  });
});

describe("datacenters", () => {
  const datacenters = [
    ["newark", "Newark, NJ", "us", "us-east"],
    ["dallas", "Dallas, TX", "us", "us-central"],
    ["fremont", "Fremont, CA", "us", "us-west"],
    ["atlanta", "Atlanta, GA", "us", "us-southeast"],
    ["london", "London, England, UK", "uk", "eu-west"],
    ["singapore", "Singapore, SG", "sg", "ap-south"],
    ["frankfurt", "Frankfurt, DE", "de", "eu-central"],
  ] as const;

  test("A-032 the list has exactly the seven datacenters", async () => {
    const rows = await fetchAllRows(gateway, "GET /datacenters", "datacenters");
    const expected = datacenters.map(([id, label, country]) => ({ id, label, country }));
    expect(rows).toHaveLength(expected.length);
    expect(rows).toEqual(expect.arrayContaining(expected));
  });

  test.each(datacenters)("A-032 an instance can be created in %s", async (id, label, country, region) => {
    gateway.takeV4Requests();
    const { status, body } = await gateway.request("POST /vm/instances", {
      body: { ...minimalInstance, datacenter: id },
    });
    gateway.clock.advance(31_000);
    expect([status, body.datacenter]).toEqual([200, { id, label, country }]);
    expect(gateway.takeV4Requests()[0]?.body).toMatchObject({ region });
  });

  test.each([
    "us-east",
    "eu-central",
    "ap-west",
    "ca-central",
    "tokyo",
    "Newark",
    "newark ",
    "",
    "constructor",
    "__proto__",
  ])("A-032 A-174 no instance can be created in %j", async (datacenter) => {
    gateway.takeV4Requests();
    const response = await gateway.request("POST /vm/instances", {
      body: { ...minimalInstance, datacenter },
    });
    expect(response).toEqual(
      answer(400, { errors: [{ field: "datacenter", reason: expect.stringMatching(/record not found/i) }] }),
    );
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test.each(["us-east", "ap-west", "tokyo"])("A-032 GET of the datacenter %s gets 404", async (id) => {
    expect((await gateway.request(`GET /datacenters/${id}`)).status).toBe(404);
  });

  test.each([
    [5201, { id: "ap-west", label: "Mumbai, IN", country: "in" }],
    [5202, { id: "ca-central", label: "Toronto, ON", country: "ca" }],
    [5203, { id: "ap-southeast", label: "Sydney, AU", country: "au" }],
    [5211, { id: "ap-northeast", label: "Tokyo 2, JP", country: "jp" }],
    [5204, { id: "dallas", label: "Dallas, TX", country: "us" }],
  ])("A-032 T-6.1 instance %i is returned with its datacenter", async (id, datacenter) => {
    expect((await gateway.request(`GET /vm/instances/${id}`)).body.datacenter).toEqual(datacenter);
  });
});

describe("distributions", () => {
  test("A-038 vendor is the same string for all releases of one vendor", async () => {
    const rows = await fetchAllRows(gateway, "GET /vm/distributions", "distributions", {
      filter: { id: { "+contains": "debian" } },
    });
    expect(rows).toHaveLength(4);
    expect(new Set(rows.map(({ vendor }) => vendor))).toEqual(new Set(["Debian"]));
  });

  test("A-038 T-7.3 minimum_storage_size is the size of the image, recommended means not deprecated", async () => {
    const v4 = (await gateway.requestV4("GET /images/vm/debian9")).body;
    expect((await gateway.request("GET /vm/distributions/vm/debian9")).body).toMatchObject({
      minimum_storage_size: v4.size,
      recommended: !v4.deprecated,
      vendor: v4.vendor,
      label: v4.label,
      created: v4.created,
    });
  });

  test("A-038 x64 distinguishes 32-bit distributions", async () => {
    const old = {
      is_public: true,
      size: 900,
      deprecated: true,
      vendor: "Debian",
      created: "2012-01-01T00:00:00",
    };
    const images = [
      { ...old, id: "vm/debian6-32bit", label: "Debian 6" },
      { ...old, id: "vm/centos5", label: "CentOS 5 (32-bit)" },
      { ...old, id: "vm/debian6", label: "Debian 6" },
      { ...old, id: "vm/debian7-i386", label: "Debian 7" },
    ];
    const altered = await startAlteredGateway({}, (v4) =>
      v4.respondTo("GET /images", { body: { data: images, page: 1, pages: 1, results: images.length } }),
    );
    const { body } = await altered.request("GET /vm/distributions");
    await altered.stop();
    expect(body.distributions.map(({ id, x64 }: Json) => [id, x64])).toEqual([
      ["vm/debian6-32bit", false],
      ["vm/centos5", false],
      ["vm/debian6", true],
      ["vm/debian7-i386", false],
    ]);
  });

  test("A-037 T-6.2 private images are not distributions", async () => {
    const rows = await fetchAllRows(gateway, "GET /vm/distributions", "distributions");
    expect(JSON.stringify(rows)).not.toContain("private/");
    expect((await gateway.request("GET /vm/distributions/private/55012")).status).toBe(404);
    expect((await gateway.request("GET /vm/instances/5214")).body.distribution).toBeNull();
  });
});

describe("kernels", () => {
  test.each([
    ["vm/latest_64", { x64: true, kvm: true, xen: false, current: true, deprecated: false, latest: true }],
    ["vm/latest", { x64: false, kvm: true, xen: false, current: true, deprecated: false, latest: true }],
    ["vm/direct-disk", { label: "Direct Disk", x64: true, kvm: true, latest: false }],
    ["vm/grub2", { x64: true, kvm: true, latest: false }],
    [
      "vm/4.9.36-x86_64",
      { x64: true, kvm: true, xen: true, current: false, deprecated: true, latest: false },
    ],
    ["vm/2.6.18.8", { x64: false, kvm: false, xen: true, current: false, deprecated: true, latest: false }],
  ])("A-064 A-065 %s", async (id, expected) => {
    const first = await gateway.request(`GET /vm/kernels/${id}`);
    expect(first.body).toMatchObject({ id, ...expected });
    expect((await gateway.request(`GET /vm/kernels/${id}`)).body).toEqual(first.body);
  });

  test("A-065 T-6.3 the two latest kernels differ, and v4's names for them are hidden", async () => {
    const rows = await fetchAllRows(gateway, "GET /vm/kernels", "kernels");
    expect(rows.filter(({ latest }) => latest).map(({ id }) => id)).toEqual(["vm/latest", "vm/latest_64"]);
    expect(JSON.stringify(rows)).not.toMatch(/latest-(32|64)bit/);
  });
});

describe("service types", () => {
  test.each([
    ["g6-nanode-1", 1, 500, 125],
    ["g6-standard-1", 1, 1000, 250],
    ["g6-standard-2", 3, 2000, 500],
    ["g6-dedicated-2", 4, 3000, 750],
    ["g1-gpu-rtx6000-1", 150, 100_000, 25_000],
  ])("A-075 T-6.4 the prices of %s are in cents", async (id, hourly_price, monthly_price, backups_price) => {
    expect((await gateway.request(`GET /vm/types/${id}`)).body).toMatchObject({
      hourly_price,
      monthly_price,
      backups_price,
    });
  });

  test.each([
    ["g6-standard-4", "Vm 8192"],
    ["g6-nanode-1", "Nanode 1024"],
    ["g1-gpu-rtx6000-1", "Dedicated 32768 + RTX6000 GPU x1"],
  ])("the label of %s has its memory in MB: %s", async (id, label) => {
    expect((await gateway.request(`GET /vm/types/${id}`)).body.label).toBe(label);
    const { body } = await gateway.request("GET /vm/types", { filter: { label } });
    expect(body.types.map((type: { id: string }) => type.id)).toEqual([id]);
  });

  test("A-075 sizes are v4's", async () => {
    const v4 = (await gateway.requestV4("GET /vm/types/g6-standard-4")).body;
    expect((await gateway.request("GET /vm/types/g6-standard-4")).body).toMatchObject({
      class: v4.class,
      service_type: "vm",
      ram: v4.memory,
      disk: v4.disk,
      storage: v4.disk,
      transfer: v4.transfer,
      vcpus: v4.vcpus,
      mbits_out: v4.network_out,
    });
  });
});
