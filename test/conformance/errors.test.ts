/** Success, and the gateway's own rejections. Invalid bodies: test/gateway/pipeline/requests.test.ts. What v4 rejects: test/gateway/upstream. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { startAlteredGateway } from "./altered-v4.ts";
import { successWith } from "./helpers.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startAlteredGateway());
afterEach(() => {
  gateway.clock.advance(31_000);
  gateway.resetRules();
});

describe("success is 200", () => {
  test.each([200, 201, 202, 203, 299])("A-167 for v4's %i", async (status) => {
    const body = {
      ...(await gateway.requestV4("GET /vm/instances/5202")).body,
      warnings: [{ title: "later" }],
    };
    gateway.respondTo("PUT /vm/instances/5202", { status, body });
    const response = await gateway.request("PUT /vm/instances/5202", { body: { group: "a" } });
    expect(response).toEqual(successWith({ id: 5202 }));
    expect(response.body).not.toHaveProperty("warnings");
  });

  test.each([200, 204])("A-167 with {} for v4's %i without a body", async (status) => {
    gateway.respondTo("DELETE /vm/instances/5202", { status });
    const response = await gateway.request("DELETE /vm/instances/5202");
    expect([response.status, response.text]).toEqual([200, "{}"]);
  });
});

describe("A-168 an invalid request is 400", () => {
  test.each(["application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=UTF-8"])(
    "JSON declared as %s, as curl -d sends it, is accepted",
    async (type) => {
      const response = await gateway.request("PUT /vm/instances/5202", {
        raw: '{"group":"by-curl"}',
        headers: { "content-type": type },
      });
      expect([response.status, response.body.group]).toEqual([200, "by-curl"]);
    },
  );

  test("a wrong type is reported as one, not as a length", async () => {
    const response = await gateway.request("PUT /vm/instances/5202", { body: { group: 5, label: ["x"] } });
    expect(response.body.errors).toEqual([
      { field: "label", reason: "Must be of type string." },
      { field: "group", reason: "Must be of type string." },
    ]);
  });

  test("a page number that is too large is reported as such", async () => {
    const response = await gateway.request("GET /vm/instances?page=99999999999999999999");
    expect([response.status, response.body]).toEqual([
      400,
      { errors: [{ reason: "page must be at most 999999999." }] },
    ]);
  });

  test("an error in a list member names the list: alpha names only members", async () => {
    const response = await gateway.request("POST /networking/ip-assign", {
      body: { datacenter: "newark", assignments: [{ vm_id: 1 }, { address: 5, vm_id: 1 }] },
    });
    expect(response.body.errors).toEqual([
      { field: "assignments.address", reason: "This field is required." },
      { field: "assignments.address", reason: "Must be of type string." },
    ]);
  });
});
