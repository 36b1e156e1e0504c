/** The field that an error names. Those of a create and of an edit: test/gateway/upstream/v4-errors.test.ts. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { said, startAlteredGateway } from "./altered-v4.ts";
import { errorOn, minimalInstance } from "./helpers.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startAlteredGateway());
afterEach(() => {
  gateway.clock.advance(31_000);
  gateway.resetRules();
});

describe("the field of an error", () => {
  test.each([
    ["size", "size"],
    ["label", "label"],
    ["filesystem", "filesystem"],
    ["image", "distribution"],
    ["read_only", "read_only"],
    ["authorized_keys[2]", "root_ssh_key"],
    ["stackscript_id", "stackscript"],
  ])("A-165 for v4's %j on a new disk is %j", async (v4, alpha) => {
    gateway.respondTo("POST /vm/instances/5202/disks", { status: 400, body: said(v4) });
    const body = { size: 10, label: "data", filesystem: "ext4" };
    expect(await gateway.request("POST /vm/instances/5202/disks", { body })).toEqual(errorOn(400, alpha));
  });

  test("A-165 is missing in errors of a filter, a page or a header", async () => {
    expect(await gateway.request("GET /vm/instances", { filter: "x" })).toEqual(errorOn(400));
    expect(await gateway.request("GET /vm/instances?page=x")).toEqual(errorOn(400));
  });

  test("A-165 has no index for an item of a list", async () => {
    const assignments = [
      { address: "192.0.2.1", vm_id: 5 },
      { address: "192.0.2.2", vm_id: "x" },
    ];
    const body = { datacenter: "newark", assignments };
    const response = await gateway.request("POST /networking/ip-assign", { body });
    expect(response).toMatchObject({
      status: 400,
      body: { errors: [{ field: "assignments.vm_id", reason: "Must be the id of an instance." }] },
    });
  });

  test("A-166 is passed on for all of v4's errors, each with its reason", async () => {
    const errors = [
      { field: "region", reason: "First", more: 1 },
      { field: null, reason: "Second" },
      { reason: "Third" },
    ];
    gateway.respondTo("POST /vm/instances", { status: 400, body: { errors } });
    expect((await gateway.request("POST /vm/instances", { body: minimalInstance })).body).toEqual({
      errors: [{ field: "datacenter", reason: "First" }, { reason: "Second" }, { reason: "Third" }],
    });
  });
});
