import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  errorFields,
  sandboxForAllTests,
  webServer,
  type SandboxResponse,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForAllTests();
beforeEach(() => v4.clock.advance(31_000));

const create = (change: Json): Promise<SandboxResponse> =>
  v4.ask("POST /vm/instances", { ...webServer, ...change });
const disksOf = async (instance: SandboxResponse): Promise<Json[]> =>
  await v4.list(`/vm/instances/${instance.body.id}/disks`);

/** A whole backup of the seeded first instance, which is in ap-west. */
const backup = { backup_id: 640012, region: "ap-west", image: undefined, root_pass: undefined };
const responses = { ADMIN_MAIL: "a@example.net", DOMAIN: "example.net" };

type Case = readonly [name: string, change: Json, named: readonly string[]];
const refused: readonly Case[] = [
  ["no region", { region: undefined }, ["region"]],
  ["no type", { type: undefined }, ["type"]],
  ["V-189 neither", { region: undefined, type: undefined }, ["type", "region"]],
  ["an unknown region", { region: "atlantis" }, ["region"]],
  ["an unknown type", { type: "g9-huge" }, ["type"]],
  ["an unknown image", { image: "vm/windows95" }, ["image"]],
  ["an unknown backup", { image: undefined, backup_id: 1 }, ["backup_id"]],
  ["an unknown script", { stackscript_id: 1 }, ["stackscript_id"]],
  ["members of the wrong type", { region: 5, label: [], booted: "yes" }, ["region", "booted", "label"]],
  ["an object for a region", { region: {} }, ["region"]],
  ["an image without a password", { root_pass: undefined }, ["root_pass"]],
  ["a password of 6 characters", { root_pass: "Abc12!" }, ["root_pass"]],
  ["a password of 129 characters", { root_pass: "Abc12!".repeat(22).slice(0, 129) }, ["root_pass"]],
  ["a password of one character", { root_pass: "aaaaaaaaaa" }, ["root_pass"]],
  ["a label of 2 characters", { label: "ab" }, ["label"]],
  ["V-162 a label of 65 characters", { label: "a".repeat(65) }, ["label"]],
  ["a label that begins with -", { label: "-abc" }, ["label"]],
  ["a label that ends with .", { label: "abc." }, ["label"]],
  ["a label with --", { label: "ab--cd" }, ["label"]],
  ["a label with a space", { label: "ab cd" }, ["label"]],
  ["a label with a line end", { label: "abc\n" }, ["label"]],
  ["a tag of 2 characters", { tags: ["prod", "ab"] }, ["tags[1]"]],
  ["more swap than fits", { swap_size: 51_000 }, ["swap_size"]],
  [
    "an image too large for the type",
    { image: "vm/slackware15.0", type: "g7-highmem-1", swap_size: 15_000 },
    ["swap_size"],
  ],
  ["a script without an image", { image: undefined, stackscript_id: 90023 }, ["stackscript_id"]],
  ["a script that doesn't list the image", { image: "vm/arch", stackscript_id: 90023 }, ["stackscript_id"]],
  ["a script with a private image", { image: "private/55012", stackscript_id: 90023 }, ["stackscript_id"]],
  ["a script without its responses", { stackscript_id: 90022 }, ["stackscript_data"]],
  [
    "a script with an empty response",
    { stackscript_id: 90022, stackscript_data: { ...responses, DOMAIN: "" } },
    ["stackscript_data"],
  ],
  [
    "a script with a response that is not one of its choices",
    { stackscript_id: 90022, stackscript_data: { ...responses, PHP: "4" } },
    ["stackscript_data"],
  ],
  [
    "script responses that are not an object",
    { stackscript_id: 90022, stackscript_data: "x" },
    ["stackscript_data"],
  ],
  ["an image and a backup", { backup_id: 640012 }, ["backup_id"]],
  ["a backup in another region", { ...backup, region: "us-east" }, ["backup_id"]],
];

test.each(refused)("%s is rejected with the field", async (_name, change, named) => {
  const response = await create(change);
  expect(response.status).toBe(400);
  expect(errorFields(response)).toEqual(named);
});

const accepted: readonly [name: string, change: Json, made: Json][] = [
  ["V-162 a label of 64 characters", { label: "a".repeat(64) }, { label: "a".repeat(64) }],
  ["a label of 3 characters", { label: "a.b" }, { label: "a.b" }],
  ["the product word as a label", { label: "vm" }, { label: "vm" }],
  ["a label in use", { label: "api-01" }, { label: "api-01" }],
  ["group and tags", { group: "shop", tags: ["prod"] }, { group: "shop", tags: ["prod"] }],
  ["a password of 7 characters", { root_pass: "Abc12!x" }, { image: "vm/debian11" }],
  ["the private image", { image: "private/55012" }, { image: "private/55012" }],
  ["a deprecated image", { image: "vm/debian8" }, { image: "vm/debian8" }],
  ["no image", { image: undefined, root_pass: undefined }, { image: null }],
  ["a script without questions", { stackscript_id: 90021 }, { image: "vm/debian11" }],
  [
    "a script with its responses",
    { stackscript_id: 90022, stackscript_data: responses },
    { image: "vm/debian11" },
  ],
  ["a backup", backup, { region: "ap-west", image: null }],
  [
    "backups on",
    { backups_enabled: true },
    {
      backups: {
        enabled: true,
        schedule: { day: "Scheduling", window: "Scheduling" },
        last_successful: null,
      },
    },
  ],
  [
    "backups off",
    {},
    { backups: { enabled: false, schedule: { day: null, window: null }, last_successful: null } },
  ],
  ["unknown members", { nothing: 1, id: 7 }, { type: "g6-standard-1" }],
];

test.each(accepted)("%s is accepted", async (_name, change, made) => {
  const response = await create(change);
  expect(response.body).toMatchObject({ status: "provisioning", ...made });
  expect(response.status).toBe(200);
  expect(await v4.read(`GET /vm/instances/${response.body.id}`)).toEqual(response.body);
});

test("an instance without a label is named by the product word and its id", async () => {
  const { body } = await create({});
  expect(body.label).toBe(`vm${body.id}`);
});

test("a new instance has its type's specs, and default alerts", async () => {
  const { body } = await create({ type: "g6-standard-2", private_ip: true });
  expect(body).toMatchObject({
    specs: { disk: 81_920, memory: 4096, vcpus: 2, transfer: 4000, gpus: 0 },
    alerts: { cpu: 180, network_in: 10, network_out: 10, transfer_quota: 80, io: 10_000 },
    hypervisor: "kvm",
    watchdog_enabled: true,
    ipv4: [expect.stringMatching(/^198\.18\./), expect.stringMatching(/^192\.168\./)],
    ipv6: expect.stringMatching(/\/128$/),
  });
});

describe("the disks of a new instance", () => {
  test("from an image: a system disk and swap that fill the space, and one profile", async () => {
    const response = await create({});
    const disks = await disksOf(response);
    expect(disks).toMatchObject([
      { label: "Debian 11 disk", size: 50_688, filesystem: "ext4" },
      { label: "swap", size: 512, filesystem: "swap" },
    ]);
    const configs = await v4.list(`/vm/instances/${response.body.id}/configs`);
    expect(configs).toMatchObject([
      { devices: { sda: { disk_id: disks[0]?.id }, sdb: { disk_id: disks[1]?.id }, sdc: null } },
    ]);
  });

  test.each([
    [0, [51_200]],
    [256, [50_944, 256]],
  ])("with swap_size %i", async (swap, sizes) => {
    expect((await disksOf(await create({ swap_size: swap }))).map(({ size }) => size)).toEqual(sizes);
  });

  test("from a backup: those of the backup", async () => {
    const copy = await v4.ask("GET /vm/instances/5201/backups/640012");
    expect(await disksOf(await create(backup))).toMatchObject(copy.body.disks as Json[]);
  });

  test("from nothing: none", async () => {
    expect(await disksOf(await create({ image: undefined, root_pass: undefined }))).toEqual([]);
  });
});

test("a backup of another account is unknown", async () => {
  const theirs = { type: "g6-standard-1", region: "ap-west", backup_id: 640012 };
  expect(await v4.as("other").faults("POST /vm/instances", theirs)).toEqual(["backup_id"]);
});
