import { describe, expect, test } from "@jest/globals";
import {
  errorFields,
  instanceCalls,
  sandboxForEachTest,
  webServer,
  type SandboxResponse,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const { one, post, all } = instanceCalls(v4);
const [running, off] = [5201, 5202];

test("V-088 an instance that is stopped by the provider can be deleted", async () => {
  const stopped = (await v4.list("/vm/instances")).find(({ status }) => status === "stopped");
  expect(await v4.status(`DELETE /vm/instances/${stopped?.id}`)).toBe(200);
  v4.clock.advance(60_000);
  expect(await v4.status(`GET /vm/instances/${stopped?.id}`)).toBe(404);
});

test("V-005 V-150 V-151 GET changes nothing, POST creates or acts, PUT and DELETE affect one", async () => {
  const before = await one(String(running));
  await v4.ask("GET /vm/instances");
  expect(await one(String(running))).toEqual(before);
  expect((await post("", webServer)).status).toBe(200);
  expect((await v4.read(`PUT /vm/instances/${running}`, { label: "renamed" })).label).toBe("renamed");
});

describe("V-162 a label", () => {
  const clone = (label: string): Promise<SandboxResponse> =>
    post(`${off}/clone`, { label, region: "us-west", type: "g6-standard-8" });
  test.each([
    ["update", (label: string) => v4.ask(`PUT /vm/instances/${off}`, { label })],
    ["clone", clone],
  ])("has 64 characters at most on %s", async (_name, give) => {
    expect((await give("x".repeat(64))).body.label).toHaveLength(64);
    expect(errorFields(await give("x".repeat(65)))).toEqual(["label"]);
  });
});

describe("rebuild", () => {
  const body = { image: "vm/debian11", root_pass: "S0me-long-Passw0rd" };

  test("creates new disks and a new profile", async () => {
    const before = await all(`${running}/disks`);
    const response = await post(`${running}/rebuild`, body);
    expect(response.body).toMatchObject({ id: running, status: "rebuilding", image: "vm/debian11" });
    const after = await all(`${running}/disks`);
    expect(after.map(({ id }) => id)).not.toEqual(expect.arrayContaining(before.map(({ id }) => id)));
    expect(await all(`${running}/configs`)).toHaveLength(1);
    v4.clock.advance(60_000);
    expect(await one(String(running))).toMatchObject({ status: "running" });
  });

  test("keeps the instance off if requested", async () => {
    await post(`${running}/rebuild`, { ...body, booted: false });
    v4.clock.advance(60_000);
    expect(await one(String(running))).toMatchObject({ status: "offline" });
  });

  test.each([
    [{ image: undefined }, ["image"]],
    [{ root_pass: undefined }, ["root_pass"]],
    [{ image: "vm/none" }, ["image"]],
    [{ root_pass: "aaaaaaaa" }, ["root_pass"]],
  ])("%j is 400 naming %j", async (change, named) => {
    expect(errorFields(await post(`${running}/rebuild`, { ...body, ...change }))).toEqual(named);
  });
});

describe("resize and mutate", () => {
  test("changes the type, and restores the status afterwards", async () => {
    const response = await post(`${off}/resize`, { type: "g6-standard-8" });
    expect([response.status, response.body]).toEqual([200, {}]);
    expect(await one(String(off))).toMatchObject({ status: "migrating" });
    v4.clock.advance(60_000);
    expect(await one(String(off))).toMatchObject({
      status: "offline",
      type: "g6-standard-8",
      specs: { disk: 655_360 },
    });
  });

  test.each([
    [running, { type: "none" }],
    [running, { type: "g5-standard-8" }],
    [running, {}],
    [5215, { type: "g6-nanode-1", allow_auto_disk_resize: false }],
  ])("%i to %j is 400 naming type", async (id, body) => {
    expect(errorFields(await post(`${id}/resize`, body))).toEqual(["type"]);
  });

  test("is rejected with an outstanding balance and with a pending migration", async () => {
    expect((await post("5261/resize", { type: "g6-standard-8" }, "other")).status).toBe(400);
    expect((await post("5221/resize", { type: "g6-standard-8" })).status).toBe(400);
  });

  test("mutate applies the free upgrade if there is one", async () => {
    expect((await post(`${off}/mutate`)).status).toBe(400);
    expect((await post("5263/mutate", {}, "other")).body).toEqual({});
    v4.clock.advance(60_000);
    expect(await one("5263", "other")).toMatchObject({ type: "g6-standard-8", status: "running" });
  });
});

describe("clone", () => {
  const target = { region: "us-west", type: "g6-standard-8" };

  test("creates an instance with the same disks and profiles", async () => {
    const { body } = await post(`${off}/clone`, { ...target, label: "copy" });
    expect(body).toMatchObject({ label: "copy", region: "us-west", status: "provisioning" });
    const sizes = async (id: unknown): Promise<unknown[]> =>
      (await all(`${String(id)}/disks`)).map(({ size }) => size);
    expect(await sizes(body.id)).toEqual(await sizes(off));
    expect(await all(`${body.id}/configs`)).toHaveLength(1);
    v4.clock.advance(60_000);
    expect(await one(String(body.id))).toMatchObject({ status: "offline" });
  });

  test("clones only the named disks and profiles", async () => {
    const { body } = await post(`${off}/clone`, { ...target, configs: [] });
    expect(await all(`${body.id}/disks`)).toEqual([]);
    expect(errorFields(await post(`${off}/clone`, { ...target, disks: [1], configs: [2] }))).toEqual([
      "configs",
      "disks",
    ]);
  });

  test("requires region and type for a new instance, or an idle one of the caller", async () => {
    expect(errorFields(await post(`${off}/clone`))).toEqual(["region", "type"]);
    expect(errorFields(await post(`${off}/clone`, { vm_id: 5261 }))).toEqual(["vm_id"]);
    expect(errorFields(await post(`${off}/clone`, { vm_id: 5207 }))).toEqual(["vm_id"]);
    expect(errorFields(await post(`${off}/clone`, { vm_id: 5213, label: "new-one" }))).toEqual(["label"]);
  });

  test("of one source runs at most five times at once", async () => {
    for (let count = 0; count < 5; count += 1) expect((await post(`${off}/clone`, target)).status).toBe(200);
    expect((await post(`${off}/clone`, target)).status).toBe(400);
    v4.clock.advance(60_000);
    expect((await post(`${off}/clone`, target)).status).toBe(200);
  });
});
