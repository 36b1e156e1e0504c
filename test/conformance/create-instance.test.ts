/** The body that creates an instance. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { startAlteredGateway } from "./altered-v4.ts";
import { scriptInput, instanceFromBackup, instanceFromScript } from "./seeded-objects.ts";
import { debianInstance, successWith, errorOn, minimalInstance, type Json } from "./helpers.ts";
import { startGateway, type TestResponse } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
const altered = startForTests(() => startAlteredGateway());
beforeEach(() => {
  gateway.clock.advance(31_000);
  altered.clock.advance(31_000);
  altered.resetRules();
  gateway.takeV4Requests();
});

const create = (body: Json): Promise<TestResponse> => gateway.request("POST /vm/instances", { body });

/** What v4 was sent to create an instance, if it was. */
const posted = (): Json | undefined =>
  gateway.takeV4Requests().find(({ method }) => method === "POST")?.body as Json | undefined;

/** What v4 is sent for the least instance, and for one with a distribution. */
const base = { region: "us-east", type: "g6-standard-1", label: "vm", booted: false };
const image = { ...base, image: "vm/debian11", root_pass: debianInstance.root_pass };

/** Members in place of the least ones, what v4 gets in place of the least, and what the client is shown. */
type Accepted = readonly [name: string, change: Json, v4: Json, shown: Json];

const least: readonly Accepted[] = [
  ["A-118 A-119 the least", {}, {}, { datacenter: { id: "newark" }, type: [{ id: "g6-standard-1" }] }],
  [
    "A-119 a type of v4",
    { type: "g6-standard-2" },
    { type: "g6-standard-2" },
    { type: [{ id: "g6-standard-2" }] },
  ],
  ["A-119 standard-1", { type: "standard-1" }, {}, { type: [{ id: "g6-standard-1" }] }],
  ["A-119 vm1024.5", { type: "vm1024.5" }, { type: "g6-nanode-1" }, {}],
  ["A-119 vm2048.5", { type: "vm2048.5" }, {}, {}],
  ["A-119 vm4096.5", { type: "vm4096.5" }, { type: "g6-standard-2" }, {}],
  ["A-119 vm8192.5", { type: "vm8192.5" }, { type: "g6-standard-4" }, {}],
  ["A-120 no label", {}, {}, { label: "vm" }],
  ["A-120 label null", { label: null }, {}, { label: "vm" }],
  ["A-120 a label", { label: "web-a" }, { label: "web-a" }, { label: "web-a" }],
  ["A-121 no group", {}, {}, { group: "" }],
  ["A-121 the empty group", { group: "" }, { group: "" }, { group: "" }],
  ["A-121 a group of one", { group: "g" }, { group: "g" }, { group: "g" }],
  ["A-121 a group of 50", { group: "g".repeat(50) }, { group: "g".repeat(50) }, { group: "g".repeat(50) }],
  ["A-123 no distribution", {}, {}, { distribution: null }],
  ["A-124 no distribution: root_pass is not needed, and not sent on", { root_pass: "x" }, {}, {}],
  ["A-129 no with_backup", {}, {}, { backups: { enabled: false } }],
  [
    "A-129 with_backup false",
    { with_backup: false },
    { backups_enabled: false },
    { backups: { enabled: false } },
  ],
  [
    "A-129 with_backup true",
    { with_backup: true },
    { backups_enabled: true },
    { backups: { enabled: true, schedule: { day: null, window: null } } },
  ],
];

/** The same, with a distribution. */
const withDistribution: readonly Accepted[] = [
  ["A-123 a distribution", {}, {}, { distribution: { id: "vm/debian11" } }],
  ["A-123 in another case", { distribution: "VM/Debian11" }, {}, { distribution: { id: "vm/debian11" } }],
  [
    "A-123 an old id",
    { distribution: "vm/debian8.1" },
    { image: "vm/debian8" },
    { distribution: { id: "vm/debian8" } },
  ],
  ["A-125 root_ssh_key", { root_ssh_key: "ssh-rsa A+/= me" }, { authorized_keys: ["ssh-rsa A+/= me"] }, {}],
  ["A-126 a script that asks nothing", { stackscript: "90021" }, { stackscript_id: 90021 }, {}],
  [
    "A-127 a script whose questions all have a default",
    { stackscript: "90023" },
    { stackscript_id: 90023 },
    {},
  ],
  [
    "A-127 a script with its responses",
    { stackscript: "90022", stackscript_udf_responses: scriptInput },
    { stackscript_id: 90022, stackscript_data: scriptInput },
    {},
  ],
  [
    "A-127 script responses without a script are not forwarded",
    { stackscript_udf_responses: scriptInput },
    {},
    {},
  ],
];

const accepted = [
  ...least.map(
    ([name, body, v4, shown]) => [name, { ...minimalInstance, ...body }, { ...base, ...v4 }, shown] as const,
  ),
  ...withDistribution.map(
    ([name, body, v4, shown]) => [name, { ...debianInstance, ...body }, { ...image, ...v4 }, shown] as const,
  ),
  [
    "A-128 a backup",
    instanceFromBackup,
    { ...base, region: "us-west", type: "g6-standard-6", backup_id: 640016 },
    { distribution: null },
  ],
] as const;

describe("creating an instance", () => {
  test.each(accepted)("%s", async (_name, body, v4, shown) => {
    const response = await create(body);
    expect(response).toEqual(successWith({ status: "provisioning" }));
    expect(response.body).toMatchObject(shown);
    expect(posted()).toEqual(v4);
    expect((await gateway.request(`GET /vm/instances/${response.body.id}`)).body).toMatchObject(shown);
  });

  test("A-126 A-127 T-9.2 without reading a script that v4 does not show: v4 validates it", async () => {
    for (const status of [401, 403]) {
      altered.resetRules();
      altered.clock.advance(31_000);
      altered.respondTo("GET /vm/stackscripts/90022", { status, body: { errors: [{ reason: "No" }] } });
      const response = await altered.request("POST /vm/instances", {
        as: status === 401 ? "vms" : "full",
        body: instanceFromScript,
      });
      expect(response).toEqual(errorOn(400, ...response.body.errors.map(() => "stackscript_udf_responses")));
      expect(altered.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
        "GET /v4/vm/stackscripts/90022",
        "POST /v4/vm/instances",
      ]);
    }
  });
});

describe("A-120 the default label of a new instance", () => {
  const taken = { errors: [{ field: "label", reason: "Label must be unique" }] };

  test("is left to v4 if it is taken", async () => {
    altered.respondTo("POST /vm/instances", { status: 400, body: taken }, 1);
    const { status, body } = await altered.request("POST /vm/instances", { body: minimalInstance });
    expect([status, body.label]).toEqual([200, `vm${body.id}`]);
    expect(altered.calls.map((call) => call.body)).toEqual([
      base,
      { region: "us-east", type: "g6-standard-1", booted: false },
    ]);
  });

  test("is not used if the client chose a label", async () => {
    altered.respondTo("POST /vm/instances", { status: 400, body: taken });
    const response = await altered.request("POST /vm/instances", {
      body: { ...minimalInstance, label: "mine" },
    });
    expect(response).toEqual(errorOn(400, "label"));
    expect(altered.calls).toHaveLength(1);
  });

  test("is not retried if v4 reports another error too", async () => {
    const errors = [...taken.errors, { field: "region", reason: "Full" }];
    altered.respondTo("POST /vm/instances", { status: 400, body: { errors } });
    const response = await altered.request("POST /vm/instances", { body: minimalInstance });
    expect(response).toEqual(errorOn(400, undefined, "datacenter"));
    expect(altered.calls).toHaveLength(1);
  });

  test("is not retried after any other response", async () => {
    altered.respondTo("POST /vm/instances", { status: 503, body: taken });
    expect((await altered.request("POST /vm/instances", { body: minimalInstance })).status).toBe(500);
    expect(altered.calls).toHaveLength(1);
  });
});

describe("A-121 the group of an edit", () => {
  test.each([
    [0, 200],
    [50, 200],
    [51, 400],
  ])("%i characters: %i", async (length, status) => {
    const group = "g".repeat(length);
    const response = await gateway.request("PUT /vm/instances/5220", { body: { group } });
    expect(response).toEqual(status === 200 ? successWith({ group }) : errorOn(400, "group"));
  });
});

test("the backup of these tests can be restored", async () => {
  const { body } = await gateway.requestV4("GET /vm/instances/5205/backups");
  expect(body.automatic[0]).toMatchObject({ id: Number(instanceFromBackup.backup), status: "successful" });
});

type Refused = readonly [name: string, change: Json, ...fields: string[]];

const ROUNDED = "9007199254740993";

/** Members in place of the least ones; undefined: without it. */
const wrong: readonly Refused[] = [
  ["A-118 without a datacenter", { datacenter: undefined }, "datacenter"],
  ["A-118 with a datacenter null", { datacenter: null }, "datacenter"],
  ["A-118 with a datacenter that is not a string", { datacenter: 5 }, "datacenter"],
  ["A-119 without a type", { type: undefined }, "type"],
  ["A-119 with a type null", { type: null }, "type"],
  ["A-119 with an unknown type", { type: "g9-huge" }, "type"],
  ["A-118 A-119 A-166 with nothing", { datacenter: undefined, type: undefined }, "datacenter", "type"],
  ["A-121 with a group of 51 characters", { group: "g".repeat(51) }, "group"],
  ["A-121 with a group that is not a string", { group: 5 }, "group"],
  ["A-124 with a distribution and no root_pass", { distribution: "vm/debian11" }, "root_pass"],
  ["A-126 with a script and no distribution", { stackscript: "90023" }, "stackscript"],
  ["A-129 with a with_backup that is not a boolean", { with_backup: "yes" }, "with_backup"],
];

const wrongWithDistribution: readonly Refused[] = [
  ["A-122 with a distribution and a backup", { backup: instanceFromBackup.backup }, "distribution"],
  ["A-123 with an unknown distribution", { distribution: "vm/windows95" }, "distribution"],
  ["A-123 with a private image", { distribution: "private/55012" }, "distribution"],
  ["A-123 with the empty string", { distribution: "" }, "distribution"],
  ["A-124 with a distribution and root_pass null", { root_pass: null }, "root_pass"],
  ["A-126 with an unknown script", { stackscript: "90099" }, "stackscript"],
  ["A-126 with a script for others", { distribution: "vm/arch", stackscript: "90023" }, "stackscript"],
  ["A-126 with an invalid script id", { stackscript: "../90023" }, "stackscript"],
  ["A-126 with a script id below 0", { stackscript: -1 }, "stackscript"],
  ["A-126 with a script id of more digits than a number keeps", { stackscript: ROUNDED }, "stackscript"],
];

const wrongResponses: readonly Refused[] = [
  ["A-127 without responses to the questions of a script", {}],
  ["A-127 with one of two required responses", { stackscript_udf_responses: { DOMAIN: "example.net" } }],
  ["A-127 with responses that are not an object", { stackscript_udf_responses: [] }],
];

const wrongBackups: readonly Refused[] = [
  ["A-128 with a backup that is not an id", { backup: "last" }],
  ["A-128 with a backup id of more digits than a number keeps", { backup: ROUNDED }],
  ["A-128 with a backup id below 0", { backup: -1 }],
];

const refused = [
  ...wrong.map(([name, change, ...fields]) => ({ name, body: { ...minimalInstance, ...change }, fields })),
  ...wrongWithDistribution.map(([name, change, ...fields]) => ({
    name,
    body: { ...debianInstance, ...change },
    fields,
  })),
  ...wrongResponses.map(([name, change]) => ({
    name,
    body: { ...instanceFromScript, ...change },
    fields: ["stackscript_udf_responses"],
  })),
  ...wrongBackups.map(([name, change]) => ({
    name,
    body: { ...instanceFromBackup, ...change },
    fields: ["backup"],
  })),
];

describe("an invalid create of an instance is rejected", () => {
  test.each(refused)("$name, without a v4 request", async ({ body, fields }) => {
    expect(await create(body)).toEqual(errorOn(400, ...fields));
    expect(posted()).toBeUndefined();
  });

  test("A-128 with an unknown backup, as v4 says, and none is created", async () => {
    const count = async () => (await gateway.requestV4("GET /vm/instances")).body.results;
    const before = await count();
    expect(await create({ ...instanceFromBackup, backup: "1" })).toEqual(errorOn(400, "backup"));
    expect(await count()).toBe(before);
  });

  test("A-166 T-9.1 with all problems reported together", async () => {
    const wrongMembers = {
      label: "1",
      group: "g".repeat(51),
      distribution: "vm/nothing",
      with_backup: 1,
      type: "nothing",
    };
    const response = await create(wrongMembers);
    expect(response.status).toBe(400);
    const fields = response.body.errors.map(({ field }: Json) => field).toSorted();
    expect(fields.join(" ")).toBe("datacenter distribution group label root_pass type with_backup");
  });

  test("A-128 with a 404 of v4 reported for the backup, not for the path", async () => {
    altered.respondTo("POST /vm/instances", { status: 404, body: { errors: [{ reason: "Not found" }] } });
    const response = await altered.request("POST /vm/instances", { body: instanceFromBackup });
    expect(response).toEqual(errorOn(400, "backup"));
  });
});
