/** The body that creates an instance. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { startAlteredGateway, type AlteredGateway } from "./altered-v4.ts";
import { scriptInput, instanceFromBackup, instanceFromScript } from "./seeded-objects.ts";
import {
  debianInstance,
  successWith,
  errorOn,
  statusAndBody,
  minimalInstance,
  type Json,
} from "./helpers.ts";
import { startGateway, type Gateway, type TestResponse } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

let gateway: Gateway;
let altered: AlteredGateway;
startForTests(async () => (gateway = await startGateway()));
startForTests(async () => (altered = await startAlteredGateway()));
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

const base = { region: "us-east", type: "g6-standard-1", label: "vm", booted: false };
const image = { ...base, image: "vm/debian11", root_pass: debianInstance.root_pass };

type Accepted = readonly [name: string, body: Json, v4: Json, shown: Json];

const right: readonly Accepted[] = [
  [
    "A-118 A-119 the least",
    minimalInstance,
    base,
    { datacenter: { id: "newark" }, type: [{ id: "g6-standard-1" }] },
  ],
  [
    "A-119 a type of v4",
    { ...minimalInstance, type: "g6-standard-2" },
    { ...base, type: "g6-standard-2" },
    { type: [{ id: "g6-standard-2" }] },
  ],
  ["A-119 standard-1", { ...minimalInstance, type: "standard-1" }, base, { type: [{ id: "g6-standard-1" }] }],
  ["A-119 vm1024.5", { ...minimalInstance, type: "vm1024.5" }, { ...base, type: "g6-nanode-1" }, {}],
  ["A-119 vm2048.5", { ...minimalInstance, type: "vm2048.5" }, base, {}],
  ["A-119 vm4096.5", { ...minimalInstance, type: "vm4096.5" }, { ...base, type: "g6-standard-2" }, {}],
  ["A-119 vm8192.5", { ...minimalInstance, type: "vm8192.5" }, { ...base, type: "g6-standard-4" }, {}],
  ["A-120 no label", minimalInstance, base, { label: "vm" }],
  ["A-120 label null", { ...minimalInstance, label: null }, base, { label: "vm" }],
  ["A-120 a label", { ...minimalInstance, label: "web-a" }, { ...base, label: "web-a" }, { label: "web-a" }],
  ["A-121 no group", minimalInstance, base, { group: "" }],
  ["A-121 the empty group", { ...minimalInstance, group: "" }, { ...base, group: "" }, { group: "" }],
  ["A-121 a group of one", { ...minimalInstance, group: "g" }, { ...base, group: "g" }, { group: "g" }],
  [
    "A-121 a group of 50",
    { ...minimalInstance, group: "g".repeat(50) },
    { ...base, group: "g".repeat(50) },
    { group: "g".repeat(50) },
  ],
  ["A-123 a distribution", debianInstance, image, { distribution: { id: "vm/debian11" } }],
  [
    "A-123 in another case",
    { ...debianInstance, distribution: "VM/Debian11" },
    image,
    { distribution: { id: "vm/debian11" } },
  ],
  [
    "A-123 an old id",
    { ...debianInstance, distribution: "vm/debian8.1" },
    { ...image, image: "vm/debian8" },
    { distribution: { id: "vm/debian8" } },
  ],
  ["A-123 none", minimalInstance, base, { distribution: null }],
  [
    "A-124 root_pass without a distribution is not needed, and not sent on",
    { ...minimalInstance, root_pass: "x" },
    base,
    {},
  ],
  [
    "A-125 root_ssh_key",
    { ...debianInstance, root_ssh_key: "ssh-ed25519 AAAA+/= me@home" },
    { ...image, authorized_keys: ["ssh-ed25519 AAAA+/= me@home"] },
    {},
  ],
  [
    "A-126 a script that asks nothing",
    { ...debianInstance, stackscript: "90021" },
    { ...image, stackscript_id: 90021 },
    {},
  ],
  [
    "A-127 a script whose questions all have a default",
    { ...debianInstance, stackscript: "90023" },
    { ...image, stackscript_id: 90023 },
    {},
  ],
  [
    "A-127 a script with its responses",
    { ...instanceFromScript, stackscript_udf_responses: scriptInput },
    { ...image, stackscript_id: 90022, stackscript_data: scriptInput },
    {},
  ],
  [
    "A-127 script responses without a script are not forwarded",
    { ...debianInstance, stackscript_udf_responses: scriptInput },
    image,
    {},
  ],
  [
    "A-128 a backup",
    instanceFromBackup,
    { ...base, region: "us-west", type: "g6-standard-6", backup_id: 640016 },
    { distribution: null },
  ],
  ["A-129 no with_backup", minimalInstance, base, { backups: { enabled: false } }],
  [
    "A-129 with_backup false",
    { ...minimalInstance, with_backup: false },
    { ...base, backups_enabled: false },
    { backups: { enabled: false } },
  ],
  [
    "A-129 with_backup true",
    { ...minimalInstance, with_backup: true },
    { ...base, backups_enabled: true },
    { backups: { enabled: true, schedule: { day: null, window: null } } },
  ],
];

describe("creating an instance", () => {
  test.each(right)("%s", async (_name, body, v4, shown) => {
    const response = await create(body);
    expect([response.status, response.body]).toEqual([
      200,
      expect.objectContaining({ status: "provisioning" }),
    ]);
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
      expect(statusAndBody(response)).toEqual(
        expect.objectContaining({
          status: 400,
          body: errorOn(400, ...response.body.errors.map(() => "stackscript_udf_responses")).body,
        }),
      );
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
    expect(statusAndBody(response)).toEqual(errorOn(400, "label"));
    expect(altered.calls).toHaveLength(1);
  });

  test("is not retried if v4 reports another error too", async () => {
    const errors = [...taken.errors, { field: "region", reason: "Full" }];
    altered.respondTo("POST /vm/instances", { status: 400, body: { errors } });
    const response = await altered.request("POST /vm/instances", { body: minimalInstance });
    expect(statusAndBody(response)).toEqual(errorOn(400, undefined, "datacenter"));
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
    expect(statusAndBody(response)).toEqual(status === 200 ? successWith({ group }) : errorOn(400, "group"));
  });
});
