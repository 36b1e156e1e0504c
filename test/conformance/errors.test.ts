/** Errors. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { said, startAlteredGateway } from "./altered-v4.ts";
import { errorOn, successWith, minimalInstance } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startAlteredGateway());
afterEach(() => {
  gateway.clock.advance(31_000);
  gateway.resetRules();
});

/** Alpha's statuses, each with v4's that become it. */
const STATUSES: Readonly<Record<number, readonly number[]>> = {
  400: [400, 402, 405, 406, 408, 409, 410, 412, 413, 415, 418, 420, 422, 424, 451],
  401: [401],
  403: [403],
  404: [404],
  420: [429],
  500: [301, 302, 304, 500, 501, 502, 503, 504, 507, 599],
};
const statuses = Object.entries(STATUSES).flatMap(([alpha, all]) =>
  all.map((v4) => [v4, Number(alpha)] as const),
);

describe("a v4 error", () => {
  test.each(statuses)(
    "A-164 A-168 A-169 A-170 A-171 A-172 A-173 with status %i becomes %i, with v4's reason",
    async (v4, alpha) => {
      gateway.respondTo("GET /vm/instances/5202", { status: v4, body: v4 === 304 ? undefined : said() });
      const response = await gateway.request("GET /vm/instances/5202", { as: `token-of-${v4}` });
      expect(response).toEqual(errorOn(alpha));
      expect(response.headers.get("content-type")).toMatch(/^application\/json/);
      expect(v4 < 400 || response.body.errors[0].reason === "No.").toBe(true);
    },
  );
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

describe("A-173 an unreachable v4", () => {
  test("gets 500 with the error body, and catalogs are still served", async () => {
    const alone = await startGateway();
    await alone.sandbox.close();
    const list = await alone.request("GET /vm/instances");
    const create = await alone.request("POST /vm/instances", { body: minimalInstance });
    const catalog = await alone.request("GET /datacenters");
    await alone.stop().catch(() => {});
    expect(list).toEqual(errorOn(500));
    expect(create).toEqual(errorOn(500));
    expect(list.text).not.toMatch(/ECONN|127\.0\.0\.1/);
    expect(catalog.body.total_results).toBe(7);
  });
});
