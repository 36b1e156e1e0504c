import { describe, expect, test } from "@jest/globals";
import { errorFields, sandboxForEachTest, type Json } from "./sandbox-service.ts";

/** A seeded instance with 4096 MB of its plan free. */
const roomy = "/vm/instances/5202";
const free = 4096;

const v4 = sandboxForEachTest();

const create = (body: Json) => v4.ask(`POST ${roomy}/disks`, body);

test.each([
  ["no size", { label: "data" }, ["size"]],
  ["no size and no label", {}, ["size", "label"]],
  ["more than is free", { label: "data", size: free + 1 }, ["size"]],
  ["size -1", { label: "data", size: -1 }, ["size"]],
  ["no label without an image", { size: 10 }, ["label"]],
  ["an empty label", { label: "", size: 10 }, ["label"]],
  ["a label of 51 characters", { label: "x".repeat(51), size: 10 }, ["label"]],
  ["another filesystem", { label: "data", size: 10, filesystem: "ntfs" }, ["filesystem"]],
  ["an unknown image", { size: 3000, image: "vm/none", root_pass: "Abc12!x" }, ["image"]],
  ["an image without a password", { size: 3000, image: "vm/debian11" }, ["root_pass"]],
  ["less than the image needs", { size: 1299, image: "vm/debian11", root_pass: "Abc12!x" }, ["size"]],
])("a disk with %s is rejected with the field", async (_name, body, named) => {
  const response = await create(body);
  expect(response.status).toBe(400);
  expect(errorFields(response)).toEqual(named);
});

test.each([
  ["all that is free", { label: "data", size: free }, { size: free, filesystem: "ext4" }],
  ["a label of 50 characters", { label: "x".repeat(50), size: 1 }, { label: "x".repeat(50) }],
  ...["raw", "swap", "ext3", "ext4", "initrd"].map(
    (filesystem) => [filesystem, { label: "data", size: 10, filesystem }, { filesystem }] as const,
  ),
  ["read_only", { label: "data", size: 10, read_only: true }, { read_only: true }],
  ["an image", { size: 1300, image: "vm/debian11", root_pass: "Abc12!x" }, { label: "Debian 11 disk" }],
] as const)("a disk with %s is created", async (_name, body, made) => {
  const response = await create(body);
  expect(response.status).toBe(200);
  expect(response.body).toMatchObject({ status: "not ready", ...made });
  const again = await v4.ask(`GET ${roomy}/disks/${response.body.id}`);
  expect(again.body).toEqual(response.body);
});

test("a disk uses space, and a delete frees it", async () => {
  const { body } = await create({ label: "data", size: free });
  expect(errorFields(await create({ label: "more", size: 1 }))).toEqual(["size"]);
  await v4.ask(`DELETE ${roomy}/disks/${body.id}`);
  v4.clock.advance(10_000);
  expect((await create({ label: "more", size: free })).status).toBe(200);
});

test("PUT writes only the label", async () => {
  const [disk] = await v4.list(`${roomy}/disks`);
  const path = `${roomy}/disks/${disk?.id}`;
  const { body } = await v4.ask(`PUT ${path}`, { label: "root", size: 1, filesystem: "raw" });
  expect(body).toEqual({ ...disk, label: "root", updated: expect.any(String) });
});

describe("resize", () => {
  async function resize(instance: string, size: unknown) {
    const [disk] = await v4.list(`${instance}/disks`);
    const path = `${instance}/disks/${disk?.id}`;
    const response = await v4.ask(`POST ${path}/resize`, { size });
    v4.clock.advance(10_000);
    return { response, before: disk, after: await v4.read(`GET ${path}`) };
  }

  test("uses the free space", async () => {
    const [disk] = await v4.list(`${roomy}/disks`);
    const { response, after } = await resize(roomy, Number(disk?.size) + free);
    expect([response.status, response.body]).toEqual([200, {}]);
    expect(after).toMatchObject({ size: Number(disk?.size) + free, status: "ready" });
  });

  test.each([undefined, 0, "10", 10_000_000])("to %j is 400 naming size", async (size) => {
    const { response, before, after } = await resize(roomy, size);
    expect(errorFields(response)).toEqual(["size"]);
    expect(after).toEqual(before);
  });

  test("of a disk of a running instance is accepted and fails", async () => {
    const { response, before, after } = await resize("/vm/instances/5201", 2000);
    expect(response.status).toBe(200);
    expect(after).toEqual(before);
    const [event] = await v4.list("/account/events");
    expect(event).toMatchObject({
      action: "disk_resize",
      status: "failed",
      message: expect.stringMatching(/./),
    });
  });
});

test("a disk can be created with size 0, and not resized to it", async () => {
  const { status, body } = await v4.ask("POST /vm/instances/5202/disks", {
    label: "empty",
    size: 0,
    filesystem: "raw",
  });
  expect([status, body.size]).toEqual([200, 0]);
  const path = `/vm/instances/5202/disks/${body.id}/resize`;
  expect(await v4.faults(`POST ${path}`, { size: 0 })).toEqual(["size"]);
});

test("a resized disk has its new size after the job, and reserves both sizes until then", async () => {
  const path = "/vm/instances/5202/disks";
  const response = await v4.ask(`POST ${path}`, { label: "data", size: 1000 });
  v4.clock.advance(10_000);
  const disk = `${path}/${response.body.id}`;
  const size = async () => (await v4.read(`GET ${disk}`)).size;
  await v4.ask(`POST ${disk}/resize`, { size: 2000 });
  expect(await size()).toBe(1000);
  const taken = await v4.ask(`POST ${path}`, { label: "more", size: free - 1999 });
  expect(errorFields(taken)).toEqual(["size"]);
  v4.clock.advance(10_000);
  expect(await size()).toBe(2000);
  await v4.ask(`POST ${disk}/resize`, { size: 500 });
  const early = await v4.ask(`POST ${path}`, { label: "more", size: free - 1999 });
  expect(errorFields(early)).toEqual(["size"]);
  v4.clock.advance(10_000);
  expect(await size()).toBe(500);
  expect(await v4.status(`POST ${path}`, { label: "more", size: free - 500 })).toBe(200);
});
