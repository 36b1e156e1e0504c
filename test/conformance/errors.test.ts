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

  test.each([
    ["HTML", "<html><body>Bad gateway at 10.0.0.7</body></html>"],
    ["text", "upstream connect error"],
    ["nothing", undefined],
    ["another JSON", { message: "boom", stack: "at 10.0.0.7" }],
    ["an empty list of errors", { errors: [] }],
    ["errors that are not objects", { errors: ["boom"] }],
    ["JSON that is not an object", [1, 2]],
    ["half a JSON", '{"errors":[{"rea'],
  ])("A-164 A-173 with the body %s still has a reason", async (_name, body) => {
    for (const [v4, alpha] of [
      [400, 400],
      [404, 404],
      [500, 500],
      [502, 500],
    ] as const) {
      gateway.respondTo("GET /vm/instances/5202", { status: v4, body });
      const response = await gateway.request("GET /vm/instances/5202");
      expect(response).toEqual(errorOn(alpha));
      expect(response.text).not.toMatch(/10\.0\.0\.7|html|boom/i);
    }
  });

  test.each([
    ["HTML", "<html>"],
    ["half a JSON", '{"data":['],
    ["a list without an envelope", [{ id: 1 }]],
    ["an object", { id: 1 }],
    ["items that are not objects", { data: [1, null], page: 1, pages: 1, results: 2 }],
    ["an envelope without totals", { data: [] }],
  ])("A-173 is any success with %s, which becomes 500", async (_name, body) => {
    gateway.respondTo("GET /vm/instances", { body });
    expect(await gateway.request("GET /vm/instances")).toEqual(errorOn(500));
  });

  test.each([
    ["a list", [{ id: 5202 }]],
    ["a number", 5202],
    ["null", null],
    ["HTML", "<html>"],
  ])("A-173 is any object with %s, which becomes 500", async (_name, body) => {
    gateway.respondTo("GET /vm/instances/5202", { body });
    expect(await gateway.request("GET /vm/instances/5202")).toEqual(errorOn(500));
  });
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
  test.each([
    ["no JSON", "{"],
    ["an array", "[]"],
    ["a string", '"label"'],
    ["a number", "5"],
    ["true", "true"],
    ["two objects", "{}{}"],
    ["form data", "label=abc"],
  ])("a body that is %s", async (_name, text) => {
    expect(await gateway.request("PUT /vm/instances/5202", { raw: text })).toEqual(errorOn(400));
    expect(gateway.calls).toEqual([]);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded; charset=latin1",
    "multipart/form-data",
    "application/json; charset=latin1",
    "application/xml",
  ])("a body with the type %s", async (type) => {
    const response = await gateway.request("PUT /vm/instances/5202", {
      raw: "{}",
      headers: { "content-type": type },
    });
    expect(response).toEqual(errorOn(400));
  });

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

  test("a body above the limit", async () => {
    const response = await gateway.request("PUT /vm/instances/5202", {
      body: { group: "g".repeat(2_000_000) },
    });
    expect(response).toEqual(errorOn(400));
  });
});

describe("A-172 a rate limit", () => {
  test("of v4 becomes 420 with v4's limit and wait", async () => {
    gateway.respondTo("GET /vm/instances", {
      status: 429,
      headers: {
        "retry-after": "17",
        "x-ratelimit-limit": "800",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "1800000000",
      },
      body: { errors: [{ reason: "Too many requests" }] },
    });
    const response = await gateway.request("GET /vm/instances");
    expect(response).toEqual(errorOn(420));
    expect(response.headers.get("retry-after")).toBe("17");
    expect(response.headers.get("x-ratelimit-limit")).toBe("800");
    expect(response.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(response.headers.get("x-ratelimit-reset")).toBe("1800000000");
  });

  test("of the gateway gets 420 without a v4 request", async () => {
    const limited = await startGateway({ RATE_LIMIT: "3/120" });
    const responses = [];
    for (let time = 0; time < 4; time += 1) responses.push(await limited.request("GET /vm/instances/5202"));
    const other = await limited.request("GET /vm/instances/5202", { as: "vms" });
    const sent = limited.takeV4Requests();
    await limited.stop();
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 420]);
    expect(responses.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual([
      "2",
      "1",
      "0",
      "0",
    ]);
    const [last] = responses.slice(-1);
    expect(last).toEqual(errorOn(420));
    expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(other.status).toBe(200);
    expect(sent.filter(({ path }) => path === "/v4/vm/instances/5202")).toHaveLength(4);
  });

  test("of creates gets 420, while reads succeed", async () => {
    const limited = await startGateway({ RATE_LIMIT_CREATE: "1/30" });
    const first = await limited.request("POST /vm/instances", { body: minimalInstance });
    const second = await limited.request("POST /vm/instances", { body: minimalInstance });
    const read = await limited.request("GET /vm/instances");
    await limited.stop();
    expect([first.status, read.status]).toEqual([200, 200]);
    expect(second).toEqual(errorOn(420));
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
