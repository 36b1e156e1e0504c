import { beforeEach, describe, expect, test } from "@jest/globals";
import { manualClock } from "../support/manual-clock.ts";
import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { items, createTestSandbox, webServer, type TestSandbox } from "./sandbox-service.ts";

let v4: TestSandbox;
beforeEach(() => {
  v4 = createTestSandbox();
});

const status = async (id: unknown): Promise<unknown> =>
  (await v4.read(`GET /vm/instances/${String(id)}`)).status;

describe("saving and restoring", () => {
  test("restores rows and pending changes", async () => {
    const { body } = await v4.ask("POST /vm/instances", webServer);
    const saved = JSON.stringify(v4.sandbox.save());
    v4.clock.advance(60_000);
    expect(await status(body.id)).toBe("running");
    await v4.ask(`DELETE /vm/instances/${body.id}`);
    v4.clock.advance(60_000);
    expect(await status(body.id)).toBeUndefined();

    const again = createTestSandbox();
    again.sandbox.restore(JSON.parse(saved));
    const read = async (): Promise<unknown> =>
      (await again.request(`GET /vm/instances/${body.id}`)).body.status;
    expect(await read()).toBe("provisioning");
    again.clock.advance(60_000);
    expect(await read()).toBe("running");
    const [event] = items(await again.request("GET /account/events", { filter: { action: "vm_create" } }));
    expect(event).toMatchObject({ status: "finished", duration: 5 });
  });

  test("keeps tokens, secrets and grants", async () => {
    const { token } = (await v4.ask("POST /profile/tokens", { label: "ci", scopes: "*" })).body;
    await v4.ask("PUT /account/users/dev-kai/grants", { vm: [{ id: 5203, permissions: "read_only" }] });
    const saved = v4.sandbox.save();
    v4.sandbox.reset();
    const as = { authorization: `Bearer ${String(token)}` };
    expect(await v4.as(as).status("GET /profile")).toBe(401);
    v4.sandbox.restore(saved);
    expect(await v4.as(as).status("GET /profile")).toBe(200);
    expect(await v4.as("restricted").status("GET /vm/instances/5203")).toBe(200);
  });

  test("later changes do not affect a saved state", async () => {
    const saved = v4.sandbox.save();
    const text = JSON.stringify(saved);
    await v4.ask("PUT /vm/instances/5201", { label: "other" });
    await v4.ask("POST /vm/instances/5202/boot");
    expect(JSON.stringify(saved)).toBe(text);
  });

  test.each([
    [undefined],
    [null],
    [{}],
    [[]],
    [{ version: 2, tables: {}, ahead: [] }],
    [{ version: 1, tables: { a: 1 }, ahead: [] }],
    [{ version: 1, tables: {}, ahead: [{ at: 0, table: "instance" }] }],
  ])("%j is rejected as a state, and changes nothing", async (state) => {
    expect(() => v4.sandbox.restore(state)).toThrow("not a saved state");
    expect(await status(5202)).toBe("offline");
  });

  test("A-003 reset deletes all data and seeds it again", async () => {
    const before = await v4.read("GET /vm/instances");
    await v4.ask("POST /vm/instances", webServer);
    await v4.ask("DELETE /vm/instances/5201");
    await v4.ask("DELETE /account/users/dev-kai");
    v4.sandbox.reset();
    v4.clock.advance(60_000);
    expect(await v4.read("GET /vm/instances")).toEqual(before);
    expect(await v4.as("restricted").status("GET /profile")).toBe(200);
    const response = await v4.ask("POST /vm/instances", webServer);
    expect(response.body.id).toBe(5264);
  });
});

describe("A-002 the weekly wipe", () => {
  const instant = Date.parse;

  test.each([
    ["in summer", "2022-05-12T12:00:00Z", "2022-05-15T04:00:00Z"],
    ["in winter", "2022-01-12T12:00:00Z", "2022-01-16T05:00:00Z"],
    ["on the day when summer begins", "2022-03-12T12:00:00Z", "2022-03-13T05:00:00Z"],
    ["on the day when winter begins", "2022-11-05T12:00:00Z", "2022-11-06T04:00:00Z"],
  ])("%s runs on Sunday at midnight, Eastern Time", async (_name, start, midnight) => {
    const clock = manualClock(instant(start));
    const wiped = createTestSandbox({ clock, weeklyWipe: true });
    const label = async () => (await wiped.request("GET /vm/instances/5201")).body.label;
    const rename = () => wiped.request("PUT /vm/instances/5201", { body: { label: "mine" } });
    await rename();
    clock.advance(instant(midnight) - instant(start) - 1000);
    expect(await label()).toBe("mine");
    clock.advance(1000);
    expect(await label()).not.toBe("mine");
    await rename();
    clock.advance(6 * 86_400_000);
    expect(await label()).toBe("mine");
  });
});

test("A-002 there is no weekly wipe unless it is enabled", async () => {
  await v4.ask("PUT /vm/instances/5201", { label: "mine" });
  v4.clock.advance(30 * 86_400_000);
  expect((await v4.read("GET /vm/instances/5201")).label).toBe("mine");
});

describe("a seed file", () => {
  const account = {
    account: { company: "Harbour", email: "kari@example.org", country: "NO" },
    users: [
      {
        username: "kari",
        email: "kari@example.org",
        tokens: [
          { label: "ci", scopes: "vms:read_only domains:read_only account:read_only", token: "kari-ci" },
        ],
      },
    ],
    instances: [
      { label: "web-1", region: "us-east", type: "g6-standard-1", image: "vm/debian11" },
      { label: "empty", region: "us-east" },
    ],
    domains: [
      {
        domain: "harbour.example.org",
        type: "master",
        soa_email: "dns@harbour.example.org",
        records: [{ type: "A", name: "www", target: "192.0.2.1" }],
      },
    ],
  };
  const as = { authorization: "Bearer kari-ci" };

  test("adds an account with all its data", async () => {
    const seeded = createTestSandbox({ data: { accounts: [account] } });
    const instances = items(await seeded.request("GET /vm/instances", { as }));
    expect(instances).toMatchObject([
      { label: "web-1", status: "running", specs: { memory: 2048 } },
      { label: "empty", status: "offline" },
    ]);
    expect(items(await seeded.request(`GET /vm/instances/${instances[0]?.id}/disks`, { as }))).toHaveLength(
      2,
    );
    const [domain] = items(await seeded.request("GET /domains", { as }));
    expect(items(await seeded.request(`GET /domains/${domain?.id}/records`, { as }))).toHaveLength(1);
    expect((await seeded.request("GET /account", { as })).body).toMatchObject({
      company: "Harbour",
      balance: 0,
    });
    expect((await seeded.request("PUT /vm/instances/5201", { as, body: {} })).status).toBe(403);
    expect((await seeded.request("GET /vm/instances/5201", { as })).status).toBe(404);
  });

  test.each([
    [{ accounts: "x" }, "accounts"],
    [{ accounts: [{}] }, "accounts\\[0\\].users"],
    [{ accounts: [{ ...account, domains: "x" }] }, "accounts\\[0\\].domains"],
    [{ accounts: [{ ...account, rockets: [{}] }] }, "no rockets"],
    [{ accounts: [{ ...account, domains: [{ domain: 5 }] }] }, "domains: domain must be a string"],
    [{ accounts: [{ ...account, instances: [{ type: "none" }] }] }, "no known type"],
    [{ accounts: [account, account] }, "two users called kari"],
  ])("%j is rejected with a reason", (data, reason) => {
    expect(() => createSandbox({ data })).toThrow(new RegExp(reason));
  });
});
