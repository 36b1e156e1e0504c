/** The configurations of an instance. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { dateTime, flag, number, text } from "./forms.ts";
import { createInstance, debianInstance, successWith, errorOn, type Json } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
let configs: string;
let disk: Json & { id: number };
let memory: number;
beforeAll(async () => {
  const instance = await createInstance(gateway, { ...debianInstance, label: "configured" });
  configs = `/vm/instances/${instance.id}/configs`;
  memory = (instance as unknown as { type: [{ ram: number }] }).type[0].ram;
  disk = (await gateway.request(`GET /vm/instances/${instance.id}/disks`)).body.disks[0];
});

const SLOTS = "sda sdb sdc sdd sde sdf sdg sdh".split(" ");
const EMPTY = Object.fromEntries(SLOTS.map((slot) => [slot, null]));
const smallest = () => ({ label: "made", kernel: "vm/latest_64", disks: { sda: disk.id } });
const make = (change: Json = {}) =>
  gateway.request(`POST ${configs}`, { body: { ...smallest(), ...change } });

describe("T-8.3 a configuration", () => {
  test("A-091 A-094 A-095 has all its members and no other, its disk and kernel whole", async () => {
    const { body } = await make({ root_device: "/dev/sda" });
    expect(body).toEqual({
      id: number,
      label: "made",
      comments: "",
      created: dateTime,
      updated: dateTime,
      devtmpfs_automount: flag,
      disks: { ...EMPTY, sda: disk },
      helpers: {
        disable_updatedb: flag,
        enable_distro_helper: flag,
        enable_modules_dep_helper: flag,
        enable_network_helper: flag,
      },
      initrd: null,
      kernel: expect.objectContaining({ id: "vm/latest_64", label: text, x64: true }),
      ram_limit: 0,
      root_device: "/dev/sda",
      root_device_ro: false,
      run_level: text,
      virt_mode: text,
    });
    expect((await gateway.request(`GET ${configs}/${body.id}`)).body).toEqual(body);
    const { body: list } = await gateway.request(`GET ${configs}/?page=1`);
    expect(list.configs).toContainEqual(body);
  });

  test.each([
    ["A-092 a label of no character", { label: "" }, "label"],
    ["A-092 a label of 49 characters", { label: "x".repeat(49) }, "label"],
    ["A-093 comments of 256 characters", { comments: "x".repeat(256) }, "comments"],
    ["A-100 another run level", { run_level: "multi" }, "run_level"],
    ["A-101 another way of virtualisation", { virt_mode: "kvm" }, "virt_mode"],
    ["A-098 a root device without a disk", { root_device: "/dev/sdb" }, "root_device"],
    ["A-097 a limit below 0", { ram_limit: -1 }, "ram_limit"],
  ])("rejects %s", async (_what, change, field) => {
    expect(await make(change)).toEqual(errorOn(400, field));
  });

  test("A-097 has a memory limit of at most that of the instance", async () => {
    expect(await make({ ram_limit: memory })).toEqual(successWith({ ram_limit: memory }));
    expect(await make({ ram_limit: memory + 1 })).toEqual(errorOn(400, "ram_limit"));
  });

  test.each([
    ["A-092 labels of 1 and 48 characters", { label: "x" }, { label: "y".repeat(48) }],
    ["A-093 comments of 1 and 255 characters", { comments: "x" }, { comments: "y".repeat(255) }],
    [
      "A-099 what is mounted read-only, and /dev filled",
      { root_device_ro: true },
      { devtmpfs_automount: true },
    ],
    ["A-100 run levels", { run_level: "single" }, { run_level: "binbash" }],
    ["A-101 ways of virtualisation", { virt_mode: "fullvirt" }, { virt_mode: "paravirt" }],
  ])("keeps %s", async (_what, one, other) => {
    for (const members of [one, other]) expect(await make(members)).toEqual(successWith(members));
  });

  test.each(["", null])("A-093 clears comments by %j", async (comments) => {
    const { body } = await make({ comments: "before" });
    const response = await gateway.request(`PUT ${configs}/${body.id}`, { body: { comments } });
    expect(response.body).toEqual({ ...body, comments: "", updated: dateTime });
  });

  test("A-093 treats empty comments of a create as none", async () => {
    gateway.takeV4Requests();
    expect((await make({ comments: "" })).body.comments).toBe("");
    const created = gateway.takeV4Requests().find(({ method }) => method === "POST");
    expect(Object.keys(created?.body as Json)).not.toContain("comments");
  });

  test("A-098 rejects removing the disk of the root device", async () => {
    const { body } = await make({ root_device: "/dev/sda" });
    const response = await gateway.request(`PUT ${configs}/${body.id}`, { body: { disks: { sda: null } } });
    expect(response).toEqual(errorOn(400, "root_device"));
    const moved = { disks: { sda: null, sdb: body.disks.sda }, root_device: "/dev/sdb" };
    expect((await gateway.request(`PUT ${configs}/${body.id}`, { body: moved })).status).toBe(200);
  });

  test("A-096 accepts null or no initrd, and shows null", async () => {
    for (const initrd of [null, "", { id: disk.id }]) {
      expect(await make({ initrd })).toEqual(successWith({ initrd: null }));
    }
  });

  test("A-094 maps device names of other hypervisors to the same slots", async () => {
    const disks = {
      ...Object.fromEntries(SLOTS.map((slot) => [slot.replace("s", "xv"), null])),
      xvda: { id: disk.id },
    };
    expect(await make({ disks })).toEqual(successWith({ disks: { ...EMPTY, sda: disk } }));
  });

  test("sending a whole object back changes nothing, although all of it is written", async () => {
    const { body } = await make({ root_device: "/dev/sda", comments: "kept" });
    const response = await gateway.request(`PUT ${configs}/${body.id}`, { body });
    expect(response.body).toEqual({ ...body, updated: dateTime });
  });
});
