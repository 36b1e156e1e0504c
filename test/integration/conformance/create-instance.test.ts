/** Document 2, Endpoints: the body that creates an instance. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAlteredGateway, type AlteredGateway } from "./altered-v4.ts";
import { answers, restore, scripted } from "./seeded.ts";
import { debian, given, refused, seen, smallest, type Json } from "./told.ts";
import { startGateway, type Gateway, type Told } from "../../support/gateway.ts";

let gateway: Gateway;
let altered: AlteredGateway;
beforeAll(async () => {
  gateway = await startGateway();
  altered = await startAlteredGateway();
});
beforeEach(() => {
  gateway.clock.advance(31_000);
  altered.clock.advance(31_000);
  altered.plain();
  gateway.sentToV4();
});
afterAll(async () => {
  await gateway.stop();
  await altered.stop();
});

const create = (body: Json): Promise<Told> => gateway.ask("POST /vm/instances", { body });

/** What v4 was sent to create an instance, if it was. */
const posted = (): Json | undefined =>
  gateway.sentToV4().find(({ method }) => method === "POST")?.body as Json | undefined;

const base = { region: "us-east", type: "g6-standard-1", label: "vm", booted: false };
const image = { ...base, image: "vm/debian11", root_pass: debian.root_pass };

type Accepted = readonly [name: string, body: Json, v4: Json, shown: Json];

const right: readonly Accepted[] = [
  [
    "A-118 A-119 the least",
    smallest,
    base,
    { datacenter: { id: "newark" }, type: [{ id: "g6-standard-1" }] },
  ],
  [
    "A-119 a type of v4",
    { ...smallest, type: "g6-standard-2" },
    { ...base, type: "g6-standard-2" },
    { type: [{ id: "g6-standard-2" }] },
  ],
  ["A-119 standard-1", { ...smallest, type: "standard-1" }, base, { type: [{ id: "g6-standard-1" }] }],
  ["A-119 vm1024.5", { ...smallest, type: "vm1024.5" }, { ...base, type: "g6-nanode-1" }, {}],
  ["A-119 vm2048.5", { ...smallest, type: "vm2048.5" }, base, {}],
  ["A-119 vm4096.5", { ...smallest, type: "vm4096.5" }, { ...base, type: "g6-standard-2" }, {}],
  ["A-119 vm8192.5", { ...smallest, type: "vm8192.5" }, { ...base, type: "g6-standard-4" }, {}],
  ["A-120 no label", smallest, base, { label: "vm" }],
  ["A-120 label null", { ...smallest, label: null }, base, { label: "vm" }],
  ["A-120 a label", { ...smallest, label: "web-a" }, { ...base, label: "web-a" }, { label: "web-a" }],
  ["A-121 no group", smallest, base, { group: "" }],
  ["A-121 the empty group", { ...smallest, group: "" }, { ...base, group: "" }, { group: "" }],
  ["A-121 a group of one", { ...smallest, group: "g" }, { ...base, group: "g" }, { group: "g" }],
  [
    "A-121 a group of 50",
    { ...smallest, group: "g".repeat(50) },
    { ...base, group: "g".repeat(50) },
    { group: "g".repeat(50) },
  ],
  ["A-123 a distribution", debian, image, { distribution: { id: "vm/debian11" } }],
  [
    "A-123 in another case",
    { ...debian, distribution: "VM/Debian11" },
    image,
    { distribution: { id: "vm/debian11" } },
  ],
  [
    "A-123 an old id",
    { ...debian, distribution: "vm/debian8.1" },
    { ...image, image: "vm/debian8" },
    { distribution: { id: "vm/debian8" } },
  ],
  ["A-123 none", smallest, base, { distribution: null }],
  [
    "A-124 root_pass without a distribution is not needed, and not sent on",
    { ...smallest, root_pass: "x" },
    base,
    {},
  ],
  [
    "A-125 root_ssh_key",
    { ...debian, root_ssh_key: "ssh-ed25519 AAAA+/= me@home" },
    { ...image, authorized_keys: ["ssh-ed25519 AAAA+/= me@home"] },
    {},
  ],
  [
    "A-126 a script that asks nothing",
    { ...debian, stackscript: "90021" },
    { ...image, stackscript_id: 90021 },
    {},
  ],
  [
    "A-127 a script whose questions all have a default",
    { ...debian, stackscript: "90023" },
    { ...image, stackscript_id: 90023 },
    {},
  ],
  [
    "A-127 a script with its answers",
    { ...scripted, stackscript_udf_responses: answers },
    { ...image, stackscript_id: 90022, stackscript_data: answers },
    {},
  ],
  [
    "A-127 answers without a script are not sent on",
    { ...debian, stackscript_udf_responses: answers },
    image,
    {},
  ],
  [
    "A-128 a backup",
    restore,
    { ...base, region: "us-west", type: "g6-standard-6", backup_id: 640016 },
    { distribution: null },
  ],
  ["A-129 no with_backup", smallest, base, { backups: { enabled: false } }],
  [
    "A-129 with_backup false",
    { ...smallest, with_backup: false },
    { ...base, backups_enabled: false },
    { backups: { enabled: false } },
  ],
  [
    "A-129 with_backup true",
    { ...smallest, with_backup: true },
    { ...base, backups_enabled: true },
    { backups: { enabled: true, schedule: { day: null, window: null } } },
  ],
];

describe("an instance is created", () => {
  test.each(right)("%s", async (_name, body, v4, shown) => {
    const told = await create(body);
    expect([told.status, told.body]).toEqual([200, expect.objectContaining({ status: "provisioning" })]);
    expect(told.body).toMatchObject(shown);
    expect(posted()).toEqual(v4);
    expect((await gateway.ask(`GET /vm/instances/${told.body.id}`)).body).toMatchObject(shown);
  });

  test("A-126 A-127 without reading the script where v4 won't show it: v4 decides", async () => {
    for (const status of [401, 403]) {
      altered.plain();
      altered.clock.advance(31_000);
      altered.answers("GET /vm/stackscripts/90022", { status, body: { errors: [{ reason: "No" }] } });
      const told = await altered.ask("POST /vm/instances", {
        as: status === 401 ? "vms" : "full",
        body: scripted,
      });
      expect(seen(told)).toEqual(
        expect.objectContaining({
          status: 400,
          body: refused(400, ...told.body.errors.map(() => "stackscript_udf_responses")).body,
        }),
      );
      expect(altered.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
        "GET /v4/vm/stackscripts/90022",
        "POST /v4/vm/instances",
      ]);
    }
  });
});

describe("A-120 the default label", () => {
  const taken = { errors: [{ field: "label", reason: "Label must be unique" }] };

  test("where it is taken, v4 makes one up", async () => {
    altered.answers("POST /vm/instances", { status: 400, body: taken }, 1);
    const { status, body } = await altered.ask("POST /vm/instances", { body: smallest });
    expect([status, body.label]).toEqual([200, `vm${body.id}`]);
    expect(altered.calls.map((call) => call.body)).toEqual([
      base,
      { region: "us-east", type: "g6-standard-1", booted: false },
    ]);
  });

  test("a label that the client chose is not given up", async () => {
    altered.answers("POST /vm/instances", { status: 400, body: taken });
    const told = await altered.ask("POST /vm/instances", { body: { ...smallest, label: "mine" } });
    expect(seen(told)).toEqual(refused(400, "label"));
    expect(altered.calls).toHaveLength(1);
  });

  test("another fault besides is told, and nothing is sent again", async () => {
    const errors = [...taken.errors, { field: "region", reason: "Full" }];
    altered.answers("POST /vm/instances", { status: 400, body: { errors } });
    const told = await altered.ask("POST /vm/instances", { body: smallest });
    expect(seen(told)).toEqual(refused(400, undefined, "datacenter"));
    expect(altered.calls).toHaveLength(1);
  });

  test("any other answer than that refusal is not asked for again", async () => {
    altered.answers("POST /vm/instances", { status: 503, body: taken });
    expect((await altered.ask("POST /vm/instances", { body: smallest })).status).toBe(500);
    expect(altered.calls).toHaveLength(1);
  });
});

describe("A-121 the group on edit", () => {
  test.each([
    [0, 200],
    [50, 200],
    [51, 400],
  ])("%i characters: %i", async (length, status) => {
    const group = "g".repeat(length);
    const told = await gateway.ask("PUT /vm/instances/5220", { body: { group } });
    expect(seen(told)).toEqual(status === 200 ? given({ group }) : refused(400, "group"));
  });
});
