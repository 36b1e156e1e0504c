/** Document 2, Endpoints: bodies that create no instance. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAlteredGateway, type AlteredGateway } from "./altered-v4.ts";
import { restore, scripted } from "./seeded.ts";
import { refused, seen, type Json, smallest, debian } from "./told.ts";
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

test("the backup of these tests is one that can be restored", async () => {
  const { body } = await gateway.askV4("GET /vm/instances/5205/backups");
  expect(body.automatic[0]).toMatchObject({ id: Number(restore.backup), status: "successful" });
});

type Refused = [name: string, body: Json, ...fields: (string | undefined)[]];

const wrong: readonly Refused[] = [
  ["A-118 without a datacenter", { type: "standard-1" }, "datacenter"],
  ["A-118 with a datacenter null", { ...smallest, datacenter: null }, "datacenter"],
  ["A-118 with a datacenter that is no string", { ...smallest, datacenter: 5 }, "datacenter"],
  ["A-119 without a type", { datacenter: "newark" }, "type"],
  ["A-119 with a type null", { ...smallest, type: null }, "type"],
  ["A-119 with an unknown type", { ...smallest, type: "g9-huge" }, "type"],
  ["A-118 A-119 A-166 with nothing", {}, "datacenter", "type"],
  ["A-121 with a group of 51 characters", { ...smallest, group: "g".repeat(51) }, "group"],
  ["A-121 with a group that is no string", { ...smallest, group: 5 }, "group"],
  ["A-122 with a distribution and a backup", { ...debian, backup: restore.backup }, "distribution"],
  ["A-123 with an unknown distribution", { ...debian, distribution: "vm/windows95" }, "distribution"],
  ["A-123 with a private image", { ...debian, distribution: "private/55012" }, "distribution"],
  ["A-123 with the empty string", { ...debian, distribution: "" }, "distribution"],
  ["A-124 with a distribution and no root_pass", { ...smallest, distribution: "vm/debian11" }, "root_pass"],
  ["A-124 with a distribution and root_pass null", { ...debian, root_pass: null }, "root_pass"],
  ["A-126 with a script and no distribution", { ...smallest, stackscript: "90023" }, "stackscript"],
  ["A-126 with an unknown script", { ...debian, stackscript: "90099" }, "stackscript"],
  [
    "A-126 with a script that can't deploy to the distribution",
    { ...debian, distribution: "vm/arch", stackscript: "90023" },
    "stackscript",
  ],
  ["A-126 with a script id that is none", { ...debian, stackscript: "../90023" }, "stackscript"],
  ["A-127 with a script and no answers", scripted, "stackscript_udf_responses"],
  [
    "A-127 with a script and one answer of two",
    { ...scripted, stackscript_udf_responses: { DOMAIN: "example.net" } },
    "stackscript_udf_responses",
  ],
  [
    "A-127 with answers that are no object",
    { ...scripted, stackscript_udf_responses: [] },
    "stackscript_udf_responses",
  ],
  ["A-128 with an unknown backup", { ...restore, backup: "1" }, "backup"],
  ["A-128 with a backup that is no id", { ...restore, backup: "last" }, "backup"],
  ["A-126 with a script id below 0", { ...debian, stackscript: -1 }, "stackscript"],
  [
    "A-126 with a script id of more digits than a number keeps",
    { ...debian, stackscript: "9007199254740993" },
    "stackscript",
  ],
  [
    "A-128 with a backup id of more digits than a number keeps",
    { ...restore, backup: "9007199254740993" },
    "backup",
  ],
  ["A-128 with a backup id below 0", { ...restore, backup: -1 }, "backup"],
  ["A-129 with a with_backup that is no boolean", { ...smallest, with_backup: "yes" }, "with_backup"],
];

describe("an instance is not created", () => {
  test.each(wrong)("%s", async (_name, body, ...fields) => {
    const before = (await gateway.askV4("GET /vm/instances")).body.results;
    expect(seen(await create(body))).toEqual(refused(400, ...fields));
    expect((await gateway.askV4("GET /vm/instances")).body.results).toBe(before);
  });

  test.each(wrong.filter(([name]) => !/unknown backup/.test(name)))(
    "%s, and v4 is not even asked to",
    async (_name, body) => {
      await create(body);
      expect(posted()).toBeUndefined();
    },
  );

  test("A-166 with all problems told at once", async () => {
    const body = {
      label: "1",
      group: "g".repeat(51),
      distribution: "vm/nothing",
      with_backup: 1,
      type: "nothing",
    };
    const told = await create(body);
    expect(told.status).toBe(400);
    expect(told.body.errors.map(({ field }: Json) => field).toSorted()).toEqual([
      "datacenter",
      "distribution",
      "group",
      "label",
      "root_pass",
      "type",
      "with_backup",
    ]);
  });

  test("A-174 with an unknown datacenter: the record was not found", async () => {
    expect(seen(await create({ ...smallest, datacenter: "atlantis" }))).toEqual({
      status: 400,
      body: { errors: [{ field: "datacenter", reason: "Record not found" }] },
    });
  });

  test("A-128 and a 404 of v4 is blamed on the backup, not on the path", async () => {
    altered.answers("POST /vm/instances", { status: 404, body: { errors: [{ reason: "Not found" }] } });
    expect(seen(await altered.ask("POST /vm/instances", { body: restore }))).toEqual(refused(400, "backup"));
  });
});
