import { describe, expect, test } from "@jest/globals";
import {
  errorFields,
  instanceCalls,
  sandboxForEachTest,
  type SandboxResponse,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const { one, post, all } = instanceCalls(v4);
const [running, off] = [5201, 5202];

describe("rescue", () => {
  test("accepts disks of the instance", async () => {
    const [disk] = await all(`${running}/disks`);
    const devices = { sda: { disk_id: disk?.id }, sdb: null };
    expect((await post(`${off}/rescue`, { devices })).status).toBe(400);
    expect((await post(`${running}/rescue`, { devices })).body).toEqual({});
    expect(await one(String(running))).toMatchObject({ status: "rebooting" });
  });
});

describe("disks", () => {
  test("are cloned if there is space", async () => {
    const response = await post(`${off}/disks`, { size: 500, label: "spare", filesystem: "raw" });
    expect(response.status).toBe(200);
    const copied = await post(`${off}/disks/${response.body.id}/clone`);
    expect(copied.body).toMatchObject({ size: 500, filesystem: "raw", status: "not ready" });
    const [first] = await all(`${off}/disks`);
    expect((await post(`${off}/disks/${first?.id}/clone`)).status).toBe(400);
  });

  test("get a password while the instance is off", async () => {
    const password = async (id: number): Promise<SandboxResponse> =>
      post(`${id}/disks/${String((await all(`${id}/disks`))[0]?.id)}/password`, {
        password: "S0me-long-Pass",
      });
    expect((await password(off)).status).toBe(200);
    expect((await password(running)).status).toBe(400);
  });
});

describe("V-150 configuration profiles", () => {
  const path = `${off}/configs`;
  const make = async (change: Json = {}): Promise<SandboxResponse> => {
    const [disk] = await all(`${off}/disks`);
    return post(path, { label: "second", devices: { sda: { disk_id: disk?.id } }, ...change });
  };

  test("are created with all members, changed and deleted", async () => {
    const { body } = await make({ root_device_ro: true, comments: "spare" });
    expect(body).toMatchObject({
      label: "second",
      kernel: "vm/latest-64bit",
      root_device_ro: true,
      comments: "spare",
      helpers: { network: true, distro: true, devtmpfs_automount: false },
      devices: { sda: { volume_id: null }, sdh: null },
    });
    const one = `/vm/instances/${path}/${body.id}`;
    const change = { helpers: { distro: false }, run_level: "single", devices: { sdb: { disk_id: 1 } } };
    expect(await v4.faults(`PUT ${one}`, change)).toEqual(["devices.sdb.disk_id"]);
    const changed = await v4.ask(`PUT ${one}`, { ...change, devices: undefined });
    expect(changed.body).toMatchObject({ helpers: { distro: false, network: true }, run_level: "single" });
    expect(await v4.read(`DELETE ${one}`)).toEqual({});
    expect(await v4.status(`GET ${one}`)).toBe(404);
  });

  test.each([
    [{ label: "" }, ["label"]],
    [{ label: "x".repeat(49) }, ["label"]],
    [{ devices: undefined }, ["devices"]],
    [{ memory_limit: 10_000_000 }, ["memory_limit"]],
    [{ kernel: "vm/none" }, ["kernel"]],
    [{ run_level: "two" }, ["run_level"]],
    [{ interfaces: [{ purpose: "vlan" }] }, ["interfaces[0].label"]],
    [{ interfaces: [{ purpose: "public" }, { purpose: "public" }] }, ["interfaces"]],
  ])("%j is 400 naming %j", async (change, named) => {
    expect(errorFields(await make(change))).toEqual(named);
  });

  test.each([{}, { ipam_address: "" }, { ipam_address: null }, { ipam_address: "10.0.0.1/24" }])(
    "V-170 a VLAN with %j",
    async (address) => {
      const interfaces = [{ purpose: "vlan", label: "inner", ...address }];
      const { status, body } = await make({ interfaces });
      expect(status).toBe(200);
      expect(body.interfaces).toEqual([
        { purpose: "vlan", label: "inner", ipam_address: (address as Json).ipam_address ?? "" },
      ]);
    },
  );

  test("use the first device for an invalid root device", async () => {
    expect((await make({ root_device: "sda" })).body.root_device).toBe("/dev/sda");
  });

  test("are booted by default as the last time", async () => {
    const { body } = await make();
    await post(`${off}/boot`, { config_id: body.id });
    v4.clock.advance(60_000);
    expect((await post(`${off}/reboot`)).status).toBe(200);
  });
});

describe("snapshots", () => {
  const take = (id: number, label = "before"): Promise<SandboxResponse> => post(`${id}/backups`, { label });
  const snapshot = async (id: number): Promise<Json> => (await one(`${id}/backups`)).snapshot;

  test("are taken, one at a time, and replace the one before", async () => {
    expect((await take(off)).status).toBe(400);
    const { body } = await take(running);
    expect(body).toMatchObject({ type: "snapshot", status: "pending", label: "before", finished: null });
    expect((await take(running)).status).toBe(400);
    v4.clock.advance(60_000);
    const { current, in_progress: progress } = await snapshot(running);
    expect(progress).toBeNull();
    expect(current).toMatchObject({ id: body.id, status: "successful", finished: expect.any(String) });
    await take(running, "later");
    v4.clock.advance(60_000);
    expect(await v4.status(`GET /vm/instances/${running}/backups/${body.id}`)).toBe(404);
    expect(errorFields(await post(`${running}/backups`))).toEqual(["label"]);
  });

  test("are restored over an instance or in addition to its disks", async () => {
    const { body } = await take(running);
    v4.clock.advance(60_000);
    const path = `${running}/backups/${body.id}/restore`;
    expect(errorFields(await post(path, { vm_id: running }))).toEqual(["overwrite"]);
    expect(errorFields(await post(path, { vm_id: off, overwrite: true }))).toEqual(["vm_id"]);
    expect((await post(path, { vm_id: running, overwrite: true })).body).toEqual({});
    expect(await one(String(running))).toMatchObject({ status: "restoring" });
    v4.clock.advance(60_000);
    expect(await one(String(running))).toMatchObject({ status: "offline" });
    expect((await all(`${running}/disks`)).map(({ size }) => size)).toEqual(
      (body.disks as Json[]).map(({ size }) => size),
    );
  });
});

describe("scripts", () => {
  test("a script is created with its questions; a published one can be neither unpublished nor deleted", async () => {
    const body = {
      label: "mine",
      images: ["vm/debian11"],
      script: '#!/bin/sh\n# <UDF name="A" label="Ask" oneof="x,y">\n',
    };
    const response = await v4.ask("POST /vm/stackscripts", body);
    expect(response.body).toMatchObject({
      mine: true,
      is_public: false,
      user_defined_fields: [{ name: "A", label: "Ask", oneof: "x,y" }],
    });
    const path = `/vm/stackscripts/${response.body.id}`;
    expect(await v4.as("other").status(`GET ${path}`)).toBe(404);
    await v4.ask(`PUT ${path}`, { is_public: true });
    expect(await v4.as("other").status(`GET ${path}`)).toBe(200);
    expect(await v4.as("other").status(`PUT ${path}`, { label: "theirs" })).toBe(403);
    expect(await v4.faults(`PUT ${path}`, { is_public: false })).toEqual(["is_public"]);
    expect((await v4.read(`PUT ${path}`, { script: "#!/bin/sh\n" })).user_defined_fields).toEqual([]);
    expect(await v4.status(`DELETE ${path}`)).toBe(400);
    const actions = (await v4.list("/account/events")).map(({ action }) => action);
    expect(actions.slice(0, 3)).toEqual([
      "stackscript_revise",
      "stackscript_publicize",
      "stackscript_create",
    ]);
    expect(await v4.faults("POST /vm/stackscripts", {})).toEqual(["label", "images", "script"]);
  });
});
