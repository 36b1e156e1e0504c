/** Bodies that create no instance. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { startAlteredGateway, type AlteredGateway } from "./altered-v4.ts";
import { instanceFromBackup, instanceFromScript } from "./seeded-objects.ts";
import { errorOn, statusAndBody, type Json, minimalInstance, debianInstance } from "./helpers.ts";
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

test("the backup of these tests can be restored", async () => {
  const { body } = await gateway.requestV4("GET /vm/instances/5205/backups");
  expect(body.automatic[0]).toMatchObject({ id: Number(instanceFromBackup.backup), status: "successful" });
});

type Refused = [name: string, body: Json, ...fields: (string | undefined)[]];

const wrong: readonly Refused[] = [
  ["A-118 without a datacenter", { type: "standard-1" }, "datacenter"],
  ["A-118 with a datacenter null", { ...minimalInstance, datacenter: null }, "datacenter"],
  ["A-118 with a datacenter that is not a string", { ...minimalInstance, datacenter: 5 }, "datacenter"],
  ["A-119 without a type", { datacenter: "newark" }, "type"],
  ["A-119 with a type null", { ...minimalInstance, type: null }, "type"],
  ["A-119 with an unknown type", { ...minimalInstance, type: "g9-huge" }, "type"],
  ["A-118 A-119 A-166 with nothing", {}, "datacenter", "type"],
  ["A-121 with a group of 51 characters", { ...minimalInstance, group: "g".repeat(51) }, "group"],
  ["A-121 with a group that is not a string", { ...minimalInstance, group: 5 }, "group"],
  [
    "A-122 with a distribution and a backup",
    { ...debianInstance, backup: instanceFromBackup.backup },
    "distribution",
  ],
  ["A-123 with an unknown distribution", { ...debianInstance, distribution: "vm/windows95" }, "distribution"],
  ["A-123 with a private image", { ...debianInstance, distribution: "private/55012" }, "distribution"],
  ["A-123 with the empty string", { ...debianInstance, distribution: "" }, "distribution"],
  [
    "A-124 with a distribution and no root_pass",
    { ...minimalInstance, distribution: "vm/debian11" },
    "root_pass",
  ],
  ["A-124 with a distribution and root_pass null", { ...debianInstance, root_pass: null }, "root_pass"],
  ["A-126 with a script and no distribution", { ...minimalInstance, stackscript: "90023" }, "stackscript"],
  ["A-126 with an unknown script", { ...debianInstance, stackscript: "90099" }, "stackscript"],
  [
    "A-126 with a script that can't deploy to the distribution",
    { ...debianInstance, distribution: "vm/arch", stackscript: "90023" },
    "stackscript",
  ],
  ["A-126 with an invalid script id", { ...debianInstance, stackscript: "../90023" }, "stackscript"],
  ["A-127 with a script without responses to its questions", instanceFromScript, "stackscript_udf_responses"],
  [
    "A-127 with a script with one of two required responses",
    { ...instanceFromScript, stackscript_udf_responses: { DOMAIN: "example.net" } },
    "stackscript_udf_responses",
  ],
  [
    "A-127 with script responses that are not an object",
    { ...instanceFromScript, stackscript_udf_responses: [] },
    "stackscript_udf_responses",
  ],
  ["A-128 with an unknown backup", { ...instanceFromBackup, backup: "1" }, "backup"],
  ["A-128 with a backup that is not an id", { ...instanceFromBackup, backup: "last" }, "backup"],
  ["A-126 with a script id below 0", { ...debianInstance, stackscript: -1 }, "stackscript"],
  [
    "A-126 with a script id of more digits than a number keeps",
    { ...debianInstance, stackscript: "9007199254740993" },
    "stackscript",
  ],
  [
    "A-128 with a backup id of more digits than a number keeps",
    { ...instanceFromBackup, backup: "9007199254740993" },
    "backup",
  ],
  ["A-128 with a backup id below 0", { ...instanceFromBackup, backup: -1 }, "backup"],
  [
    "A-129 with a with_backup that is not a boolean",
    { ...minimalInstance, with_backup: "yes" },
    "with_backup",
  ],
];

describe("an invalid create of an instance is rejected", () => {
  test.each(wrong)("%s", async (_name, body, ...fields) => {
    const before = (await gateway.requestV4("GET /vm/instances")).body.results;
    expect(statusAndBody(await create(body))).toEqual(errorOn(400, ...fields));
    expect((await gateway.requestV4("GET /vm/instances")).body.results).toBe(before);
  });

  test.each(wrong.filter(([name]) => !/unknown backup/.test(name)))(
    "%s, without a v4 request",
    async (_name, body) => {
      await create(body);
      expect(posted()).toBeUndefined();
    },
  );

  test("A-166 T-9.1 with all problems reported together", async () => {
    const body = {
      label: "1",
      group: "g".repeat(51),
      distribution: "vm/nothing",
      with_backup: 1,
      type: "nothing",
    };
    const response = await create(body);
    expect(response.status).toBe(400);
    expect(response.body.errors.map(({ field }: Json) => field).toSorted()).toEqual([
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
    expect(statusAndBody(await create({ ...minimalInstance, datacenter: "atlantis" }))).toEqual({
      status: 400,
      body: { errors: [{ field: "datacenter", reason: "Record not found" }] },
    });
  });

  test("A-128 with a 404 of v4 reported for the backup, not for the path", async () => {
    altered.respondTo("POST /vm/instances", { status: 404, body: { errors: [{ reason: "Not found" }] } });
    expect(statusAndBody(await altered.request("POST /vm/instances", { body: instanceFromBackup }))).toEqual(
      errorOn(400, "backup"),
    );
  });
});
