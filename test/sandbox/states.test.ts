import { describe, expect, test } from "@jest/globals";
import { items, sandboxForEachTest, webServer } from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

async function status(id: unknown): Promise<unknown> {
  return (await v4.read(`GET /vm/instances/${String(id)}`)).status;
}

/** The statuses that are seen when the clock moves on by half seconds, each once. */
async function seen(id: unknown, seconds: number): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let step = 0; step <= seconds * 2; step += 1) {
    const now = await status(id);
    if (found.at(-1) !== now) found.push(now);
    v4.clock.advance(500);
  }
  return found;
}

test.each([
  ["an image", {}, ["provisioning", "booting", "running"]],
  ["an image, not booted", { booted: false }, ["provisioning", "offline"]],
  ["nothing", { image: null, root_pass: undefined }, ["provisioning", "offline"]],
])("an instance created from %s changes states in order", async (_name, change, statuses) => {
  const response = await v4.ask("POST /vm/instances", { ...webServer, ...change });
  expect(response.status).toBe(200);
  expect(await seen(response.body.id, 10)).toEqual(statuses);
});

test.each([
  ["boot", 5202, ["booting", "running"]],
  ["reboot", 5201, ["rebooting", "running"]],
  ["shutdown", 5201, ["shutting_down", "offline"]],
])("%s of instance %i changes states in order", async (action, id, statuses) => {
  const response = await v4.ask(`POST /vm/instances/${id}/${action}`);
  expect([response.status, response.body]).toEqual([200, {}]);
  expect(await seen(id, 10)).toEqual(statuses);
});

test.each(["boot", "reboot", "shutdown"])(
  "%s of a busy instance is 400 busy, with no field",
  async (action) => {
    await v4.ask("POST /vm/instances/5201/shutdown");
    const response = await v4.ask(`POST /vm/instances/5201/${action}`);
    expect(response.status).toBe(400);
    expect(response.body).toEqual({ errors: [{ reason: expect.stringMatching(/busy\.$/) }] });
  },
);

describe("boot", () => {
  test("of an instance without a profile is 400", async () => {
    const [empty] = await v4.list("/vm/instances", { image: null });
    expect(await v4.status(`POST /vm/instances/${empty?.id}/boot`)).toBe(400);
  });

  test("accepts only a profile of the instance", async () => {
    const [config] = await v4.list("/vm/instances/5202/configs");
    const [other] = await v4.list("/vm/instances/5201/configs");
    const boot = (id: unknown) => v4.ask("POST /vm/instances/5202/boot", { config_id: id });
    expect((await boot(other?.id)).body).toMatchObject({ errors: [{ field: "config_id" }] });
    expect((await boot(config?.id)).status).toBe(200);
  });
});

describe("V-006 DELETE of an instance", () => {
  test("shows it as deleting, then 404 with everything below it", async () => {
    expect(await v4.ask("DELETE /vm/instances/5201")).toMatchObject({ status: 200, body: {} });
    expect(await status(5201)).toBe("deleting");
    v4.clock.advance(10_000);
    for (const path of ["", "/disks", "/disks/88010", "/backups", "/backups/640012"]) {
      expect(await v4.status(`GET /vm/instances/5201${path}`)).toBe(404);
    }
  });

  test("cancels the running job, and a second DELETE changes nothing", async () => {
    const { body } = await v4.ask("POST /vm/instances", webServer);
    const path = `/vm/instances/${body.id}`;
    v4.clock.advance(2000);
    await v4.ask(`DELETE ${path}`);
    v4.clock.advance(1500);
    expect(await status(body.id)).toBe("deleting");
    expect(await v4.status(`DELETE ${path}`)).toBe(200);
    v4.clock.advance(600);
    expect(await v4.status(`GET ${path}`)).toBe(404);
  });
});

test("a new disk is not ready, ready, deleting and deleted in order", async () => {
  const path = "/vm/instances/5202/disks";
  const { body } = await v4.ask(`POST ${path}`, { label: "data", size: 100 });
  const disk = `${path}/${body.id}`;
  expect(body.status).toBe("not ready");
  v4.clock.advance(5000);
  expect((await v4.read(`GET ${disk}`)).status).toBe("ready");
  await v4.ask(`DELETE ${disk}`);
  expect((await v4.read(`GET ${disk}`)).status).toBe("deleting");
  v4.clock.advance(5000);
  expect(await v4.status(`GET ${disk}`)).toBe(404);
});

test("V-181 every action has an event that ends with the action", async () => {
  const newest = async () => (await v4.list("/account/events"))[0];
  await v4.ask("POST /vm/instances/5201/reboot");
  expect(await newest()).toMatchObject({
    action: "vm_reboot",
    status: "started",
    percent_complete: 0,
    entity: { id: 5201, type: "vm", url: "/v4/vm/instances/5201" },
    username: "ops-anna",
  });
  v4.clock.advance(5000);
  expect(await newest()).toMatchObject({ status: "finished", percent_complete: 100, duration: 3 });
});

test.each([
  ["POST /vm/instances", "vm_create", webServer],
  ["PUT /vm/instances/5201", "vm_update", { label: "renamed" }],
  ["DELETE /vm/instances/5201", "vm_delete", undefined],
  ["POST /vm/instances/5201/shutdown", "vm_shutdown", undefined],
  ["POST /vm/instances/5202/boot", "vm_boot", undefined],
  ["POST /vm/instances/5202/backups/enable", "backups_enable", undefined],
  ["POST /vm/instances/5201/backups/cancel", "backups_cancel", undefined],
  ["POST /vm/instances/5202/disks", "disk_create", { label: "data", size: 1 }],
  ["PUT /vm/instances/5201/disks/88010", "disk_update", { label: "root" }],
  ["POST /vm/instances/5202/disks/88012/resize", "disk_resize", { size: 2000 }],
  ["DELETE /vm/instances/5201/disks/88010", "disk_delete", undefined],
])("V-181 %s creates the event %s", async (request, action, body) => {
  const before = (await v4.read("GET /account/events")).results;
  expect(await v4.status(request, body)).toBe(200);
  const after = await v4.ask("GET /account/events");
  expect(after.body.results).toBe(Number(before) + 1);
  expect(items(after)[0]).toMatchObject({ action });
});

test("no state changes while the clock is stopped", async () => {
  const { body } = await v4.ask("POST /vm/instances", webServer);
  for (let read = 0; read < 3; read += 1) expect(await status(body.id)).toBe("provisioning");
});

test.each([
  ["boot", 5201, /already booted\.$/],
  ["shutdown", 5202, /is not running\.$/],
])("%s of instance %i without effect is 400 with no field", async (action, id, reason) => {
  const before = (await v4.read("GET /account/events")).results;
  const response = await v4.ask(`POST /vm/instances/${id}/${action}`);
  expect([response.status, response.body]).toEqual([
    400,
    { errors: [{ reason: expect.stringMatching(reason) }] },
  ]);
  expect((await v4.read("GET /account/events")).results).toBe(before);
});
