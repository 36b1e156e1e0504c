import { describe, expect, test } from "@jest/globals";
import {
  errorFields,
  items,
  sandboxForEachTest,
  type SandboxResponse,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const first = "198.18.20.81";
const reverse = "198-18-20-81.ip.usercontent.example.com";
const read = async (address: string): Promise<Json> => await v4.read(`GET /networking/ips/${address}`);
const setRdns = (rdns: string | null, address = first): Promise<SandboxResponse> =>
  v4.ask(`PUT /networking/ips/${address}`, { rdns });
const ips = async (id: number): Promise<Record<"ipv4" | "ipv6", Record<string, Json[]>>> =>
  (await v4.read(`GET /vm/instances/${id}/ips`)) as never;
const bits = (mask: string): number =>
  (mask.includes(":")
    ? mask.split(":").map((part) => Number.parseInt(part || "0", 16))
    : mask.split(".").map(Number)
  ).reduce((sum, part) => sum + part.toString(2).replaceAll("0", "").length, 0);

/** Two instances of one region. */
const [here, there] = [5201, 5212];

test("V-063 V-064 V-110 an address is read", async () => {
  expect(await read(first)).toEqual({
    address: first,
    gateway: "198.18.20.1",
    subnet_mask: "255.255.255.0",
    prefix: 24,
    type: "ipv4",
    public: true,
    rdns: reverse,
    vm_id: 5201,
    region: "ap-west",
  });
  expect(await v4.status("GET /networking/ips/192.0.2.1")).toBe(404);
  expect(await v4.as("other").status(`GET /networking/ips/${first}`)).toBe(404);
});

test("V-065 V-066 the list has public addresses, is filtered by region, and every netmask matches its prefix", async () => {
  const list = await v4.request("GET /networking/ips", { filter: { region: "us-east" } });
  expect(items(list).length).toBeGreaterThan(0);
  for (const each of items(list)) {
    expect(each).toMatchObject({ region: "us-east", public: true });
    expect(["ipv4", "ipv6", "ipv6/pool", "ipv6/range"]).toContain(each.type);
    expect(bits(String(each.subnet_mask))).toBe(each.prefix);
  }
  expect((await v4.request("GET /networking/ips", { filter: { public: true } })).status).toBe(400);
});

describe("V-111 reverse DNS", () => {
  test("V-112 requires a record that resolves to the address", async () => {
    const refused = await setRdns("www.other.example.net");
    expect([refused.status, errorFields(refused)]).toEqual([400, ["rdns"]]);
    expect((await read(first)).rdns).toBe(reverse);
    expect((await setRdns("www.shop.example.net")).body.rdns).toBe("www.shop.example.net");
    const { body } = await v4.ask("GET /vm/instances/5202");
    const [other] = body.ipv4 as string[];
    expect((await setRdns("www.shop.example.net", other)).status).toBe(400);
  });

  test("V-067 V-113 is a default until it is set, and again after null", async () => {
    await setRdns("www.shop.example.net");
    expect((await setRdns(null)).body.rdns).toBe(reverse);
  });

  test("is missing for a private address", async () => {
    const [own] = (await ips(here)).ipv4.private as Json[];
    expect(own).toMatchObject({ rdns: null, public: false, gateway: null, prefix: 17 });
    expect((await setRdns("www.shop.example.net", String(own?.address))).status).toBe(400);
  });

  test("is set at the instance as well", async () => {
    const body = { rdns: "www.shop.example.net" };
    const response = await v4.ask(`PUT /vm/instances/5201/ips/${first}`, body);
    expect(response.body.rdns).toBe("www.shop.example.net");
    expect((await read(first)).rdns).toBe("www.shop.example.net");
  });
});

describe("the addresses of an instance", () => {
  test("V-149 are listed by kind and read one by one", async () => {
    const { ipv4, ipv6 } = await ips(here);
    expect(ipv4.public?.map(({ address }) => address)).toEqual([first]);
    expect(ipv4.private).toHaveLength(1);
    expect(ipv6.slaac).toMatchObject({ type: "ipv6", public: true, gateway: "fe80::1", prefix: 64 });
    expect(ipv6.link_local).toMatchObject({ type: "ipv6", public: false });
    expect(await v4.read(`GET /vm/instances/${here}/ips/${first}`)).toEqual(await read(first));
    expect(await v4.status(`GET /vm/instances/${there}/ips/${first}`)).toBe(404);
  });

  test("are added: one private address at most, and public ones up to a limit", async () => {
    const add = (isPublic: boolean): Promise<SandboxResponse> =>
      v4.ask("POST /vm/instances/5202/ips", { type: "ipv4", public: isPublic });
    const added = await add(true);
    expect(added.body).toMatchObject({ vm_id: 5202, public: true, type: "ipv4" });
    expect((await add(false)).status).toBe(200);
    expect((await add(false)).status).toBe(400);
    await add(true);
    await add(true);
    expect((await add(true)).status).toBe(400);
    const { ipv4 } = (await v4.read("GET /vm/instances/5202")) as { ipv4: string[] };
    expect(ipv4.map((each) => each.startsWith("192.168."))).toEqual([false, false, false, false, true]);
    expect(ipv4).toContain(added.body.address);
    const [event] = await v4.list("/account/events", { action: "vm_addip" });
    expect(event).toMatchObject({ entity: { id: 5202 } });
  });

  test("are removed, except a private one and the last one", async () => {
    const path = "/vm/instances/5201/ips";
    const { body } = await v4.ask(`POST ${path}`, { type: "ipv4", public: true });
    const [own] = (await ips(here)).ipv4.private as Json[];
    expect(await v4.status(`DELETE ${path}/${own?.address}`)).toBe(400);
    expect(await v4.read(`DELETE ${path}/${body.address}`)).toEqual({});
    expect(await v4.status(`GET /networking/ips/${body.address}`)).toBe(404);
    expect(await v4.status(`DELETE ${path}/${first}`)).toBe(400);
  });

  test("V-068 belong to the instance until they are assigned elsewhere", async () => {
    const response = await v4.ask("POST /networking/ips", { type: "ipv4", public: true, vm_id: here });
    const address = String(response.body.address);
    expect(response.body.vm_id).toBe(here);
    const body = { region: "ap-west", assignments: [{ address, vm_id: there }] };
    expect(await v4.read("POST /networking/ipv4/assign", body)).toEqual({});
    expect((await read(address)).vm_id).toBe(there);
    const lists = async (id: number): Promise<unknown> => (await v4.read(`GET /vm/instances/${id}`)).ipv4;
    expect(await lists(there)).toContain(address);
    expect(await lists(here)).not.toContain(address);
  });
});

describe("V-147 assigning", () => {
  const assign = (path: string, assignments: Json[], region = "ap-west"): Promise<SandboxResponse> =>
    v4.ask(`POST /networking/${path}/assign`, { region, assignments });

  test("V-069 rejects SLAAC and link-local addresses", async () => {
    const { ipv6 } = await ips(here);
    for (const kind of ["slaac", "link_local"]) {
      const { address } = ipv6[kind] as unknown as { address: string };
      expect((await assign("ips", [{ address, vm_id: there }])).status).toBe(400);
      expect((await read(address)).vm_id).toBe(here);
    }
  });

  test("leaves every instance a public address, or changes nothing", async () => {
    expect((await assign("ips", [{ address: first, vm_id: there }])).status).toBe(400);
    expect((await read(first)).vm_id).toBe(here);
    const second = String((await ips(there)).ipv4.public?.[0]?.address);
    const swap = [
      { address: first, vm_id: there },
      { address: second, vm_id: here },
    ];
    expect((await assign("ips", swap)).status).toBe(200);
    expect((await read(first)).vm_id).toBe(there);
    expect((await read(second)).vm_id).toBe(here);
  });

  test("is limited to one region and to the caller's instances", async () => {
    expect((await assign("ips", [{ address: first, vm_id: 5202 }])).status).toBe(400);
    expect((await assign("ips", [{ address: first, vm_id: 5261 }])).status).toBe(400);
    expect(errorFields(await assign("ips", [{ address: first, vm_id: there }], "nowhere"))).toEqual([
      "region",
    ]);
    expect(errorFields(await assign("ips", [{ vm_id: there }]))).toEqual(["assignments[0].address"]);
  });

  test("assigns ranges only with /networking/ips/assign", async () => {
    const response = await v4.ask("POST /networking/ipv6/ranges", { prefix_length: 64, vm_id: here });
    const move = [{ address: response.body.range as string, vm_id: there }];
    expect((await assign("ipv4", move)).status).toBe(400);
    expect((await assign("ips", move)).status).toBe(200);
    const range = String(response.body.range).replace("/64", "");
    expect((await v4.read(`GET /networking/ipv6/ranges/${range}`)).vms).toEqual([there]);
  });
});

test.each(["ips", "ipv4"])(
  "V-147 /networking/%s/share shares addresses with other instances",
  async (path) => {
    const share = (list: string[]): Promise<SandboxResponse> =>
      v4.ask(`POST /networking/${path}/share`, { vm_id: there, ips: list });
    expect((await share([first])).body).toEqual({});
    expect((await ips(there)).ipv4.shared?.map(({ address }) => address)).toEqual([first]);
    expect((await share(["198.18.20.82"])).status).toBe(400);
    await share([]);
    expect((await ips(there)).ipv4.shared).toEqual([]);
  },
);

describe("V-148 IPv6 ranges", () => {
  const make = (body: Json): Promise<SandboxResponse> => v4.ask("POST /networking/ipv6/ranges", body);

  test.each([54, 64])("of /%i are created, read and deleted", async (length) => {
    const { body } = await make({ prefix_length: length, vm_id: here });
    expect(body).toEqual({
      range: expect.stringMatching(new RegExp(`/${length}$`)),
      route_target: expect.any(String),
    });
    const path = `/networking/ipv6/ranges/${String(body.range).replace(/\/\d+$/, "")}`;
    expect(await v4.read(`GET ${path}`)).toMatchObject({
      prefix: length,
      is_bgp: false,
      vms: [here],
    });
    expect(await v4.read(`DELETE ${path}`)).toEqual({});
    expect(await v4.status(`GET ${path}`)).toBe(404);
  });

  test.each([
    [{ prefix_length: 56, vm_id: here }, ["prefix_length"]],
    [{ prefix_length: 64 }, ["vm_id"]],
    [{ prefix_length: 64, vm_id: here, route_target: "2001:db8::1" }, ["vm_id"]],
    [{ vm_id: here }, ["prefix_length"]],
    [{ prefix_length: 64, route_target: "2001:db8::1" }, ["route_target"]],
  ])("%j is 400", async (body, named) => {
    expect(errorFields(await make(body))).toEqual(named);
  });

  test("are not deleted while they are shared", async () => {
    const { body } = await make({ prefix_length: 64, vm_id: here });
    const range = String(body.range).replace(/\/\d+$/, "");
    await v4.ask("POST /networking/ips/share", { vm_id: there, ips: [range] });
    expect(await v4.status(`DELETE /networking/ipv6/ranges/${range}`)).toBe(400);
  });

  test("do not include pools", async () => {
    expect(await v4.list("/networking/ipv6/pools")).toMatchObject([{ prefix: 116 }]);
    const prefixes = (await v4.list("/networking/ipv6/ranges")).map(({ prefix }) => prefix);
    expect(prefixes).toEqual([64]);
  });
});
