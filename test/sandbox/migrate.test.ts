import { describe, expect, test } from "@jest/globals";
import {
  errorFields,
  items,
  sandboxForEachTest,
  webServer,
  type SandboxResponse,
  type SandboxRequest,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const read = async (id: number, as: SandboxRequest["as"] = "full"): Promise<Json> =>
  await v4.as(as).read(`GET /vm/instances/${id}`);
const migrate = (id: number, body: Json, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
  v4.as(as).ask(`POST /vm/instances/${id}/migrate`, body);
const actions = async (): Promise<unknown[]> =>
  (await v4.list("/account/events")).map(({ action }) => action);

/** The statuses that are seen while the clock moves on by half seconds, each once. */
async function seen(id: number, seconds: number): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let step = 0; step <= seconds * 2; step += 1) {
    const { status } = await read(id);
    if (found.at(-1) !== status) found.push(status);
    v4.clock.advance(500);
  }
  return found;
}

/** Seeded instances: with a planned migration, a pool, failover, and a type with a successor. */
const [planned, pooled, failing, upgradable] = [5221, 5222, 5223, 5263];

describe("V-122 migrate", () => {
  test("V-123 without region starts the planned move of the host", async () => {
    expect((await migrate(5201, {})).status).toBe(400);
    const response = await migrate(planned, {});
    expect([response.status, response.body]).toEqual([200, {}]);
    expect((await actions())[0]).toBe("vm_migrate");
    expect(await seen(planned, 15)).toEqual(["shutting_down", "migrating", "booting", "running"]);
  });

  test("V-124 V-127 with a region moves the instance there", async () => {
    expect((await migrate(5201, { region: "us-west" })).body).toEqual({});
    expect((await actions()).slice(0, 2)).toEqual(["vm_migrate_datacenter", "vm_migrate_datacenter_create"]);
    v4.clock.advance(60_000);
    expect(await read(5201)).toMatchObject({ region: "us-west", status: "running" });
  });

  test("gives the instance addresses of its new region", async () => {
    const before = await read(5201);
    const [, neighbour = {}] = items(
      await v4.request("GET /vm/instances", { filter: { region: "us-west" } }),
    );
    await migrate(5201, { region: "us-west" });
    expect(await read(5201)).toMatchObject({ ipv4: before.ipv4, ipv6: before.ipv6 });
    v4.clock.advance(60_000);
    const after = await read(5201);
    const [address, privateAddress] = after.ipv4 as string[];
    expect(after.ipv4).toHaveLength(2);
    for (const each of before.ipv4 as string[]) {
      expect(after.ipv4).not.toContain(each);
      expect(await v4.status(`GET /networking/ips/${each}`)).toBe(404);
    }
    expect(privateAddress).toMatch(/^192\.168\./);
    expect(after.ipv6).not.toBe(before.ipv6);
    const gateway = async (ip: unknown): Promise<unknown> =>
      (await v4.read(`GET /networking/ips/${String(ip)}`)).gateway;
    expect(await gateway(address)).toBe(await gateway((neighbour.ipv4 as string[])[0]));
    expect(await v4.read(`GET /networking/ips/${address}`)).toMatchObject({
      region: "us-west",
      vm_id: 5201,
    });
    const ips = (await v4.read("GET /vm/instances/5201/ips")) as { ipv4: { public: Json[] } };
    expect(ips.ipv4.public).toMatchObject([{ address }]);
  });

  test("V-125 an instance that is off stays off", async () => {
    expect(await read(5202)).toMatchObject({ status: "offline" });
    await migrate(5202, { region: "us-west" });
    expect(await seen(5202, 15)).toEqual(["migrating", "offline"]);
  });

  test("V-126 a move between regions cancels a planned one", async () => {
    await migrate(planned, { region: "us-west" });
    v4.clock.advance(60_000);
    const types = (await v4.list("/account/notifications")).map(({ type }) => type);
    expect(types).not.toContain("migration_scheduled");
    expect((await migrate(planned, {})).status).toBe(400);
  });

  test.each([
    ["between regions", 5201, { region: "us-west" }],
    ["of the host", planned, {}],
  ])("V-128 rejects a new one while one %s runs", async (_name, id, body) => {
    await migrate(id, body);
    const refused = await migrate(id, { region: "us-central" });
    expect(refused.status).toBe(400);
    v4.clock.advance(60_000);
    expect((await migrate(id, { region: "us-central" })).status).toBe(200);
  });

  test("V-129 rejects an unavailable upgrade", async () => {
    const before = await read(5201);
    expect(errorFields(await migrate(5201, { region: "us-west", upgrade: true }))).toEqual(["upgrade"]);
    expect(await read(5201)).toEqual(before);
    const other = await read(upgradable, "other");
    expect(errorFields(await migrate(upgradable, { region: "eu-west", upgrade: true }, "other"))).toEqual([
      "upgrade",
    ]);
    expect(await read(upgradable, "other")).toEqual(other);
  });

  test("V-129 applies an available upgrade", async () => {
    expect((await migrate(upgradable, { region: "us-west", upgrade: true }, "other")).status).toBe(200);
    v4.clock.advance(60_000);
    expect(await read(upgradable, "other")).toMatchObject({ region: "us-west", type: "g6-standard-8" });
  });

  test.each([
    ["a /116 pool", pooled],
    ["failover", failing],
    ["failover of another", 5234],
  ])("V-130 rejects a newer region for an instance with %s", async (_name, id) => {
    const target = (await read(id)).region === "ca-central" ? "ap-southeast" : "ca-central";
    const refused = await migrate(id, { region: target });
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({
      errors: [
        { reason: expect.stringMatching(/choose another data center or contact support/), field: "region" },
      ],
    });
    expect((await migrate(id, { region: "us-west" })).status).toBe(200);
  });

  test.each(["nowhere", "ap-west"])("to %s is 400 naming region", async (region) => {
    expect(errorFields(await migrate(5201, { region }))).toEqual(["region"]);
  });
});

describe("statistics", () => {
  const month = (year: number | string, number: number | string): Promise<SandboxResponse> =>
    v4.ask(`GET /vm/instances/5201/stats/${year}/${number}`);
  const times = (response: SandboxResponse): number[] =>
    (response.body.cpu as [number, number][]).map(([time]) => time);
  const span = (response: SandboxResponse): number => {
    const all = times(response);
    return Math.round(((all.at(-1) ?? 0) - (all[0] ?? 0)) / 3_600_000);
  };

  test("V-078 V-118 cover the past 24 hours", async () => {
    const response = await v4.as("readOnly").ask("GET /vm/instances/5201/stats");
    const curve = expect.arrayContaining([[expect.any(Number), expect.any(Number)]]);
    const traffic = { in: curve, out: curve, private_in: curve, private_out: curve };
    expect(response.body).toEqual({
      title: expect.any(String),
      cpu: curve,
      io: { io: curve, swap: curve },
      netv4: traffic,
      netv6: traffic,
    });
    expect(span(response)).toBe(24);
    expect(Math.max(...times(response))).toBeLessThanOrEqual(v4.clock.now());
  });

  test("start with the instance", async () => {
    const response = await v4.ask("POST /vm/instances", webServer);
    const path = `/vm/instances/${response.body.id}`;
    const begin = v4.clock.now();
    expect(times(await v4.ask(`GET ${path}/stats`))).toEqual([]);
    expect((await v4.read(`GET ${path}/transfer`)).used).toBe(0);
    v4.clock.advance(2 * 3_600_000);
    const found = times(await v4.ask(`GET ${path}/stats`));
    expect(found.length).toBeGreaterThan(20);
    expect(Math.min(...found)).toBeGreaterThanOrEqual(begin);
    expect(times(await v4.ask(`GET ${path}/stats/2022/4`))).toEqual([]);
  });

  test("V-119 cover a month", async () => {
    const response = await month(2022, 4);
    expect(Math.min(...times(response))).toBe(Date.UTC(2022, 3, 1));
    expect(Math.max(...times(response))).toBeLessThan(Date.UTC(2022, 4, 1));
  });

  test("V-121 cover 30 days for the current month", async () => {
    expect([717, 718, 719, 720]).toContain(span(await month(2022, 5)));
  });

  test.each([
    [2022, 0],
    [2022, 13],
    [2022, 6],
    [2023, 1],
    ["x", 1],
    [2022, "May"],
  ])("V-120 %s/%s is 400", async (year, number) => {
    expect((await month(year, number)).status).toBe(400);
  });
});
