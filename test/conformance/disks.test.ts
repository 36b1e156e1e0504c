/** Disks, their calls, and the body that creates one. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { dateTime, number, text } from "./forms.ts";
import { answer, createInstance, successWith, errorOn, type Json } from "./helpers.ts";
import { startGateway, type TestResponse } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

/** Of an instance of 51200 MB with nothing on it, a new one for each test. */
let path: string;
const gateway = startForTests(() => startGateway());
beforeEach(async () => {
  path = `/vm/instances/${(await createInstance(gateway)).id}/disks`;
  gateway.takeV4Requests();
});

const blank = { size: 100, label: "data", filesystem: "ext4" };
const debian = { ...blank, size: 4000, distribution: "vm/debian11", root_pass: "S0me-long-Passw0rd" };
const script = { ...debian, stackscript: "90022" };
const responses = { ADMIN_MAIL: "a@example.net", DOMAIN: "example.net" };

const disk = {
  id: number,
  label: text,
  status: text,
  size: number,
  filesystem: text,
  created: dateTime,
  updated: dateTime,
};

const create = (body: Json): Promise<TestResponse> => gateway.request(`POST ${path}`, { body });
const posted = (): unknown => gateway.takeV4Requests().find(({ method }) => method === "POST")?.body;

describe("T-8.2 the endpoints of disks", () => {
  test("A-033 A-115 GET lists the disks of an instance", async () => {
    const { status, body } = await gateway.request("GET /vm/instances/5204/disks", { as: "readOnly" });
    expect([status, body]).toEqual([
      200,
      {
        disks: [
          { ...disk, label: "Arch Linux disk", size: 161_280, filesystem: "ext4" },
          { ...disk, label: "swap", size: 512, filesystem: "swap" },
          { ...disk, label: "data", size: 2048, filesystem: "raw" },
        ],
        page: 1,
        total_pages: 1,
        total_results: 3,
      },
    ]);
  });

  test("A-116 POST creates a disk in v4 and returns it, and the list has it", async () => {
    const response = await create(blank);
    expect(response).toEqual(answer(200, { ...disk, ...blank, status: "creating" }));
    expect(posted()).toEqual(blank);
    const { body } = await gateway.request(`GET ${path}`);
    expect([body.disks, body.total_results]).toEqual([[response.body], 1]);
    expect((await gateway.requestV4(`GET ${path}/${response.body.id}`)).body).toMatchObject(blank);
  });

  test("A-117 GET returns a disk, an unknown one gets 404", async () => {
    const { body } = await gateway.request("GET /vm/instances/5204/disks");
    expect(await gateway.request(`GET /vm/instances/5204/disks/${body.disks[0].id}`)).toEqual(
      answer(200, body.disks[0]),
    );
    expect(await gateway.request("GET /vm/instances/5204/disks/1")).toEqual(errorOn(404));
    expect(await gateway.request("GET /vm/instances/5204/disks/x")).toEqual(errorOn(404));
  });

  test("A-009 A-117 the disk of another instance gets 404, although it exists", async () => {
    expect((await gateway.request("GET /vm/instances/5202/disks/88012")).status).toBe(200);
    expect(await gateway.request("GET /vm/instances/5201/disks/88012")).toEqual(errorOn(404));
  });

  test("A-009 A-115 A-116 the disks of an unknown instance get 404", async () => {
    expect(await gateway.request("GET /vm/instances/1/disks")).toEqual(errorOn(404));
    expect(await gateway.request("POST /vm/instances/1/disks", { body: blank })).toEqual(errorOn(404));
  });
});

type Refused = readonly [name: string, change: Json, ...fields: string[]];

/** What the gateway itself rejects: members in place of those of a blank disk; undefined: without it. */
const wrong: readonly Refused[] = [
  ["A-034 with the empty label", { label: "" }, "label"],
  ["A-034 with a label of 51 characters", { label: "d".repeat(51) }, "label"],
  ["A-035 with another filesystem", { filesystem: "btrfs" }, "filesystem"],
  ["A-035 with a filesystem in capitals", { filesystem: "EXT4" }, "filesystem"],
  ["A-035 with the empty filesystem", { filesystem: "" }, "filesystem"],
  ["A-036 with an initrd of 33 MB", { filesystem: "initrd", size: 33 }, "size"],
  ["A-130 without a size", { size: undefined }, "size"],
  ["A-130 with a size null", { size: null }, "size"],
  ["A-130 with a size that is not an integer", { size: 1.5 }, "size"],
  ["A-130 with a size that is not a number", { size: "1e2" }, "size"],
  ["A-131 with a negative size", { size: -1 }, "size"],
  ["A-132 without a label", { label: undefined }, "label"],
  ["A-132 with a label null", { label: null }, "label"],
  ["A-132 with a label that is not a string", { label: 5 }, "label"],
  ["A-133 without a filesystem", { filesystem: undefined }, "filesystem"],
  ["A-133 with a filesystem null", { filesystem: null }, "filesystem"],
  ["A-137 with a read_only that is not a boolean", { read_only: "yes" }, "read_only"],
  ["A-138 with a script and no distribution", { stackscript: "90023" }, "stackscript"],
];

/** The same, of a disk with a distribution. */
const wrongWithDistribution: readonly Refused[] = [
  ["A-134 with an unknown distribution", { distribution: "vm/windows95" }, "distribution"],
  ["A-135 with a distribution and no root_pass", { root_pass: undefined }, "root_pass"],
  ["A-135 with a distribution and root_pass null", { root_pass: null }, "root_pass"],
  ["A-138 with a script for others", { distribution: "vm/arch", stackscript: "90023" }, "stackscript"],
  ["A-138 with an unknown script", { stackscript: "1" }, "stackscript"],
  ["A-139 without responses to a script", { stackscript: "90022" }, "stackscript_udf_responses"],
  [
    "A-139 with one of two required responses",
    { stackscript: "90022", stackscript_udf_responses: { DOMAIN: "example.net" } },
    "stackscript_udf_responses",
  ],
];

const refused: readonly Refused[] = [
  ["A-130 A-132 A-133 A-166 with nothing", {}, "size", "label", "filesystem"],
  ...wrong.map(([name, change, ...fields]) => [name, { ...blank, ...change }, ...fields] as Refused),
  ...wrongWithDistribution.map(
    ([name, change, ...fields]) => [name, { ...debian, ...change }, ...fields] as const,
  ),
];

describe("an invalid create of a disk is rejected", () => {
  test.each(refused)("%s, without a v4 request", async (_name, body, ...fields) => {
    expect(await create(body)).toEqual(errorOn(400, ...fields));
    expect(posted()).toBeUndefined();
    expect((await gateway.request(`GET ${path}`)).body.total_results).toBe(0);
  });

  test("A-131 with more than the free space, as v4 reports", async () => {
    expect(await create({ ...blank, size: 51_201 })).toEqual(errorOn(400, "size"));
    expect((await create({ ...blank, size: 51_000 })).status).toBe(200);
    expect(await create({ ...blank, size: 201 })).toEqual(errorOn(400, "size"));
    expect((await create({ ...blank, size: 200 })).status).toBe(200);
  });
});

type Accepted = readonly [name: string, body: Json, v4: Json, shown?: Json];

const image = {
  size: 4000,
  label: "data",
  filesystem: "ext4",
  image: "vm/debian11",
  root_pass: debian.root_pass,
};
const { filesystem: _kind, ...imageOnly } = image;

/** Members of a blank disk that v4 gets as they are. */
const unchanged: readonly (readonly [name: string, members: Json])[] = [
  ["A-034 a label of one character", { label: "d" }],
  ["A-034 a label of 50", { label: "d".repeat(50) }],
  ["A-034 a label of any characters", { label: "Data /srv (2)" }],
  ["A-035 raw", { filesystem: "raw" }],
  ["A-035 swap", { filesystem: "swap" }],
  ["A-035 ext3", { filesystem: "ext3" }],
  ["A-035 ext4", { filesystem: "ext4" }],
  ["A-035 A-036 an initrd of 32 MB", { filesystem: "initrd", size: 32 }],
  ["A-036 33 MB of another kind", { size: 33 }],
  ["A-131 all the space there is", { size: 51_200 }],
  ["A-137 read_only true", { read_only: true }],
];

const right: readonly Accepted[] = [
  ...unchanged.map(([name, members]): Accepted => [name, { ...blank, ...members }, { ...blank, ...members }]),
  ["A-134 without a distribution: blank", blank, blank],
  ["A-134 with distribution null: blank", { ...blank, distribution: null }, blank],
  ["A-134 A-135 with a distribution", debian, image],
  [
    "A-134 with a distribution and raw: the distribution decides",
    { ...debian, filesystem: "raw" },
    imageOnly,
    { filesystem: "ext4" },
  ],
  ["A-135 a root_pass without a distribution is not sent on", { ...blank, root_pass: "x" }, blank],
  [
    "A-136 root_ssh_key",
    { ...debian, root_ssh_key: "ssh-rsa AAAA+/= me@home" },
    { ...image, authorized_keys: ["ssh-rsa AAAA+/= me@home"] },
  ],
  ["A-137 read_only false", { ...blank, read_only: false }, blank],
  ["A-138 a script", { ...debian, stackscript: "90021" }, { ...image, stackscript_id: 90021 }],
  [
    "A-139 a script with its responses",
    { ...script, stackscript_udf_responses: responses },
    { ...image, stackscript_id: 90022, stackscript_data: responses },
  ],
];

describe("creating a disk", () => {
  test.each(right.map(([name, body, v4, shown = {}]) => [name, body, v4, shown] as const))(
    "%s",
    async (_name, body, v4, shown) => {
      const { size, label, filesystem } = body;
      const response = await create(body);
      expect(response).toEqual(successWith({ size, label, filesystem, ...shown }));
      expect(posted()).toEqual(v4);
      gateway.clock.advance(10_000);
      expect(await gateway.request(`GET ${path}/${response.body.id}`)).toEqual(
        answer(200, { ...response.body, status: "ok", updated: dateTime }),
      );
    },
  );

  test("A-137 read-only creates a read-only disk in v4", async () => {
    const { body } = await create({ ...blank, read_only: true });
    expect((await gateway.requestV4(`GET ${path}/${body.id}`)).body.read_only).toBe(true);
  });

  test("A-131 a size of 0 is validated by v4", async () => {
    await create({ ...blank, size: 0 });
    expect(posted()).toEqual({ ...blank, size: 0 });
  });
});
