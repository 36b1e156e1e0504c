import { describe, expect, test } from "@jest/globals";
import type { TokenName } from "../../src/sandbox/create-sandbox.ts";
import { items, sandboxForAllTests, webServer } from "./sandbox-service.ts";

const service = sandboxForAllTests();

const publicPaths = [
  "/regions",
  "/regions/us-east",
  "/vm/kernels",
  "/vm/kernels/vm/grub2",
  "/vm/types",
  "/vm/types/g6-nanode-1",
];
const optionalPaths = ["/images", "/images/vm/debian11", "/vm/stackscripts", "/vm/stackscripts/90022"];
const privatePaths = ["/vm/instances", "/vm/instances/5201", "/account", "/account/events", "/profile"];

test.each([...publicPaths, ...optionalPaths])("%s responds without a token", async (path) => {
  expect((await service.request(`GET ${path}`, { as: "anonymous" })).status).toBe(200);
});

test.each(privatePaths)("V-004 V-178 %s is 401 without a token", async (path) => {
  const response = await service.request(`GET ${path}`, { as: "anonymous" });
  expect(response.status).toBe(401);
  expect(response.body).toEqual({ errors: [{ reason: expect.any(String) }] });
});

describe("V-171 V-178 invalid credentials", () => {
  test.each(["Bearer nobody", "Bearer", "Bearer ", "", "Basic abc"])("%j is 401", async (authorization) => {
    expect((await service.request("GET /vm/instances", { as: { authorization } })).status).toBe(401);
    expect(
      (await service.request("GET /regions", { as: { authorization: authorization || "Bearer x" } })).status,
    ).toBe(401);
  });

  test("a valid token with alpha's scheme is 401", async () => {
    const authorization = `token ${service.sandbox.tokens.full}`;
    expect((await service.request("GET /vm/instances", { as: { authorization } })).status).toBe(401);
  });
});

const scopeCases: readonly [request: string, needed: string, allowed: readonly TokenName[]][] = [
  ["GET /vm/instances", "vms:read_only", ["full", "readOnly", "vms"]],
  ["GET /vm/instances/5202/disks", "vms:read_only", ["full", "readOnly", "vms"]],
  ["GET /vm/instances/5202/backups", "vms:read_only", ["full", "readOnly", "vms"]],
  ["PUT /vm/instances/5202", "vms:read_write", ["full", "vms"]],
  ["POST /vm/instances/5202/backups/cancel", "vms:read_write", ["full", "vms"]],
  ["GET /images", "images:read_only", ["full"]],
  ["GET /vm/stackscripts", "scripts:read_only", ["full"]],
  ["GET /account", "account:read_only", ["full"]],
  ["GET /account/events", "events:read_only", ["full"]],
  ["GET /profile", "", ["full", "readOnly", "vms", "none"]],
  ["GET /regions", "", ["full", "readOnly", "vms", "none"]],
];

test.each(scopeCases)("V-176 V-177 V-179 %s needs %j", async (request, needed, allowed) => {
  for (const as of ["full", "readOnly", "vms", "none"] as const) {
    const response = await service.request(request, { as });
    expect([as, response.status]).toEqual([as, allowed.includes(as) ? 200 : 403]);
    expect(response.headers.get("x-accepted-oauth-scopes")).toBe(needed);
  }
});

test("V-179 a create without the scope creates nothing", async () => {
  const before = (await service.request("GET /vm/instances")).body["results"];
  expect((await service.request("POST /vm/instances", { as: "readOnly", body: webServer })).status).toBe(403);
  expect((await service.request("GET /vm/instances")).body["results"]).toBe(before);
});

test.each([
  ["full", "*"],
  ["readOnly", "vms:read_only"],
  ["vms", "vms:read_write"],
  ["none", ""],
] as const)("X-OAuth-Scopes of the token %s is %j, on errors too", async (as, scopes) => {
  for (const path of ["/profile", "/vm/instances/0", "/account"]) {
    expect((await service.request(`GET ${path}`, { as })).headers.get("x-oauth-scopes")).toBe(scopes);
  }
});

test("every response has the headers of v4", async () => {
  const { headers } = await service.request("GET /vm/instances");
  expect(headers.get("x-spec-version")).toBe("4.123.0");
  expect(headers.get("x-customer-uuid")).toMatch(/^[0-9A-F-]+$/);
  expect(headers.get("cache-control")).toBe("private, max-age=60, s-maxage=60");
  expect(headers.get("vary")).toBe("Authorization, X-Filter");
});

describe("two accounts", () => {
  test("see only their own instances", async () => {
    const mine = items(await service.request("GET /vm/instances")).map(({ id }) => id);
    const others = items(await service.request("GET /vm/instances", { as: "other" })).map(({ id }) => id);
    expect(others).toHaveLength(3);
    expect(mine.filter((id) => others.includes(id))).toEqual([]);
  });

  test.each([
    "GET /vm/instances/5201",
    "PUT /vm/instances/5201",
    "DELETE /vm/instances/5201",
    "POST /vm/instances/5201/boot",
    "GET /vm/instances/5201/disks",
    "GET /vm/instances/5201/disks/88010",
    "GET /vm/instances/5201/backups",
    "GET /images/private/55012",
    "GET /vm/stackscripts/90021",
  ])("%s of the other one is 404", async (request) => {
    expect((await service.request(request, { as: "other" })).status).toBe(404);
  });

  test("a disk is found under its own instance only", async () => {
    expect((await service.request("GET /vm/instances/5201/disks/88010")).status).toBe(200);
    expect((await service.request("GET /vm/instances/5202/disks/88010")).status).toBe(404);
  });

  test("private images and scripts are visible to their owner only", async () => {
    const ids = async (path: string, as: TokenName | "anonymous"): Promise<unknown[]> =>
      items(await service.request(`GET ${path}`, { as })).map(({ id }) => id);
    expect(await ids("/images", "full")).toContain("private/55012");
    expect(await ids("/images", "other")).not.toContain("private/55012");
    expect(await ids("/images", "anonymous")).not.toContain("private/55012");
    expect(await ids("/vm/stackscripts", "full")).toContain(90021);
    expect(await ids("/vm/stackscripts", "anonymous")).not.toContain(90021);
  });

  test("the member mine marks the caller's own scripts, also in a filter", async () => {
    const scripts = items(await service.request("GET /vm/stackscripts", { filter: { mine: true } }));
    expect(scripts.map(({ id }) => id)).toEqual([90021]);
    const theirs = items(
      await service.request("GET /vm/stackscripts", { as: "other", filter: { mine: true } }),
    );
    expect(theirs.map(({ id }) => id)).toEqual([90024]);
  });
});
