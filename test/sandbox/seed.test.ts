import { beforeAll, expect, test } from "@jest/globals";
import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { createTestSandbox, type Json, type TestSandbox } from "./sandbox-service.ts";

let v4: TestSandbox;
let instances: Json[];
beforeAll(async () => {
  v4 = createTestSandbox();
  instances = await v4.list("/vm/instances");
});

const some = (fits: (instance: Json) => unknown): boolean => instances.some((each) => Boolean(fits(each)));
const distinct = (name: string): Set<unknown> => new Set(instances.map((each) => each[name]));

test("the seed has 60 instances in every status", () => {
  expect(instances).toHaveLength(60);
  expect([...distinct("status")].map(String).sort().join(" ")).toBe(
    "booting cloning deleting migrating offline provisioning rebooting rebuilding restoring running " +
      "shutting_down stopped",
  );
});

test("the seed has the rare cases", () => {
  expect(some(({ image }) => image === null)).toBe(true);
  expect(some(({ image }) => image === "private/55012")).toBe(true);
  expect(some(({ ipv6 }) => ipv6 === null)).toBe(true);
  expect(some(({ ipv4 }) => (ipv4 as string[]).length === 2)).toBe(true);
  expect(some(({ tags }) => (tags as string[]).length === 0)).toBe(true);
  for (const alert of ["cpu", "network_in", "transfer_quota", "io"]) {
    expect(some(({ alerts }) => alerts[alert] === 0)).toBe(true);
  }
  expect(some(({ backups }) => backups.enabled)).toBe(true);
  expect(some(({ backups }) => !backups.enabled)).toBe(true);
});

test("no two instances share an address", () => {
  const addresses = instances.flatMap(({ ipv4, ipv6 }) => [...(ipv4 as string[]), ipv6]).filter(Boolean);
  expect(new Set(addresses).size).toBe(addresses.length);
});

test("each region has its own IPv4 and IPv6 networks", () => {
  const regions = new Map<string, Set<unknown>>();
  for (const { ipv4, ipv6, region } of instances) {
    const [address = ""] = ipv4 as string[];
    const networks = [address.replace(/\.\d+$/, ""), String(ipv6).split("::f03c")[0] ?? ""];
    for (const network of networks.filter((each) => each !== "null"))
      regions.set(network, (regions.get(network) ?? new Set()).add(region));
  }
  expect(regions.size).toBeGreaterThanOrEqual(22);
  for (const [network, of] of regions) expect([network, of.size]).toEqual([network, 1]);
});

test("disks fit the plan of their instance, and its profile names them", async () => {
  for (const { id, image, specs } of instances) {
    const disks = await v4.list(`/vm/instances/${String(id)}/disks`);
    const used = disks.reduce((sum, { size }) => sum + Number(size), 0);
    expect(disks.length === 0).toBe(image === null);
    expect(used).toBeLessThanOrEqual(Number(specs.disk));
    expect(disks.every(({ size }) => Number(size) > 0)).toBe(true);
  }
});

test("every id in an instance is in its catalog", async () => {
  const ids = async (path: string): Promise<unknown[]> => (await v4.list(path)).map(({ id }) => id);
  const [regions, types, images = []] = await Promise.all(["/regions", "/vm/types", "/images"].map(ids));
  for (const { region, type, image } of instances) {
    expect(regions).toContain(region);
    expect(types).toContain(type);
    expect([...images, null]).toContain(image);
  }
});

test("V-041 V-042 an event has the documented fields", async () => {
  const events = await v4.list("/account/events");
  expect(events.length).toBeGreaterThanOrEqual(50);
  for (const event of events) {
    expect(event).toMatchObject({
      id: expect.any(Number),
      action: expect.any(String),
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
      entity: {
        id: expect.any(Number),
        label: expect.any(String),
        type: expect.any(String),
        url: expect.stringMatching(/^\/v4\//),
      },
      read: expect.any(Boolean),
      message: expect.any(String),
    });
  }
  expect(events.some(({ seen }) => seen) && events.some(({ seen }) => !seen)).toBe(true);
});

test("V-030 V-034 V-090 the account has the documented fields", async () => {
  const texts = "email first_name last_name company address_1 address_2 city state zip country phone";
  expect(await v4.read("GET /account")).toMatchObject({
    ...Object.fromEntries(texts.split(" ").map((name) => [name, expect.any(String)])),
    tax_id: null,
    balance: expect.any(Number),
    uninvoiced_balance: expect.any(Number),
    credit_card: { last_four: expect.any(Number), expiry: expect.stringMatching(/^\d\d\/\d{4}$/) },
  });
});

test("two starts give the same data", async () => {
  const again = createTestSandbox();
  for (const path of ["/vm/instances", "/images", "/account/events", "/vm/instances/5201/backups"]) {
    expect((await again.request(`GET ${path}`)).body).toEqual(await v4.read(`GET ${path}`));
  }
  expect(again.sandbox.tokens).toEqual(v4.sandbox.tokens);
});

test("two sandboxes in one process share no state", async () => {
  const again = createTestSandbox();
  await again.request("PUT /vm/instances/5201", { body: { label: "only-here" } });
  await again.request("DELETE /vm/instances/5202");
  expect((await v4.read("GET /vm/instances/5201")).label).not.toBe("only-here");
  expect((await v4.read("GET /vm/instances/5202")).status).not.toBe("deleting");
});

const list = "a list of objects is needed";
test.each([
  ["users' tokens", { users: [{ username: "kari", email: "kari@example.org", tokens: 5 }] }, list],
  ["users' grants", { users: [{ username: "kari", email: "kari@example.org", grants: {} }] }, "grants"],
  ["children", { domains: [{ domain: "harbour.example.org", type: "slave", records: 5 }] }, list],
  ["hidden state", { domains: [{ domain: "harbour.example.org", type: "slave", hidden: 5 }] }, "hidden"],
  ["an id", { "service-transfers": [{ status: "pending" }] }, "id"],
])("seed data with %s of another type is rejected by name", (_what, members, message) => {
  const account = { account: {}, users: [{ username: "kari", email: "kari@example.org" }], ...members };
  const start = (): unknown => createSandbox({ data: { accounts: [account] } });
  expect(start).toThrow(
    expect.objectContaining({ code: "AG_SEED_INVALID", message: expect.stringContaining(message) }),
  );
});
