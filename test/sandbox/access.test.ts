import { describe, expect, test } from "@jest/globals";
import type { TokenName } from "../../src/sandbox/create-sandbox.ts";
import { items, sandboxForAllTests, webServer } from "./sandbox-service.ts";

const v4 = sandboxForAllTests();

/** Public catalogs, and lists that also have what a token's account owns. */
const publicPaths =
  "/regions /regions/us-east /vm/kernels /vm/kernels/vm/grub2 /vm/types /vm/types/g6-nanode-1 " +
  "/images /images/vm/debian11 /vm/stackscripts /vm/stackscripts/90022";
const privatePaths = ["/vm/instances", "/vm/instances/5201", "/account", "/account/events", "/profile"];

test.each(publicPaths.split(" "))("%s responds without a token", async (path) => {
  expect(await v4.as("anonymous").status(`GET ${path}`)).toBe(200);
});

test.each(privatePaths)("V-004 V-178 %s is 401 without a token", async (path) => {
  const response = await v4.as("anonymous").ask(`GET ${path}`);
  expect(response.status).toBe(401);
  expect(response.body).toEqual({ errors: [{ reason: expect.any(String) }] });
});

describe("V-171 V-178 invalid credentials", () => {
  test.each(["Bearer nobody", "Bearer", "Bearer ", "", "Basic abc"])("%j is 401", async (authorization) => {
    expect(await v4.as({ authorization }).status("GET /vm/instances")).toBe(401);
    expect(await v4.as({ authorization: authorization || "Bearer x" }).status("GET /regions")).toBe(401);
  });

  test("a valid token with alpha's scheme is 401", async () => {
    const authorization = `token ${v4.sandbox.tokens.full}`;
    expect(await v4.as({ authorization }).status("GET /vm/instances")).toBe(401);
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
    const response = await v4.as(as).ask(request);
    expect([as, response.status]).toEqual([as, allowed.includes(as) ? 200 : 403]);
    expect(response.headers.get("x-accepted-oauth-scopes")).toBe(needed);
  }
});

test("V-179 a create without the scope creates nothing", async () => {
  const before = (await v4.read("GET /vm/instances")).results;
  expect(await v4.as("readOnly").status("POST /vm/instances", webServer)).toBe(403);
  expect((await v4.read("GET /vm/instances")).results).toBe(before);
});

test.each([
  ["full", "*"],
  ["readOnly", "vms:read_only"],
  ["vms", "vms:read_write"],
  ["none", ""],
] as const)("X-OAuth-Scopes of the token %s is %j, on errors too", async (as, scopes) => {
  for (const path of ["/profile", "/vm/instances/0", "/account"]) {
    expect((await v4.as(as).ask(`GET ${path}`)).headers.get("x-oauth-scopes")).toBe(scopes);
  }
});

test("every response has the headers of v4", async () => {
  const { headers } = await v4.ask("GET /vm/instances");
  expect(headers.get("x-spec-version")).toBe("4.123.0");
  expect(headers.get("x-customer-uuid")).toMatch(/^[0-9A-F-]+$/);
  expect(headers.get("cache-control")).toBe("private, max-age=60, s-maxage=60");
  expect(headers.get("vary")).toBe("Authorization, X-Filter");
});

describe("two accounts", () => {
  test("see only their own instances", async () => {
    const mine = (await v4.list("/vm/instances")).map(({ id }) => id);
    const others = (await v4.as("other").list("/vm/instances")).map(({ id }) => id);
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
    expect(await v4.as("other").status(request)).toBe(404);
  });

  test("a disk is found under its own instance only", async () => {
    expect(await v4.status("GET /vm/instances/5201/disks/88010")).toBe(200);
    expect(await v4.status("GET /vm/instances/5202/disks/88010")).toBe(404);
  });

  test("private images and scripts are visible to their owner only", async () => {
    const ids = async (path: string, as: TokenName | "anonymous"): Promise<unknown[]> =>
      (await v4.as(as).list(path)).map(({ id }) => id);
    expect(await ids("/images", "full")).toContain("private/55012");
    expect(await ids("/images", "other")).not.toContain("private/55012");
    expect(await ids("/images", "anonymous")).not.toContain("private/55012");
    expect(await ids("/vm/stackscripts", "full")).toContain(90021);
    expect(await ids("/vm/stackscripts", "anonymous")).not.toContain(90021);
  });

  test("the member mine marks the caller's own scripts, also in a filter", async () => {
    const scripts = await v4.list("/vm/stackscripts", { mine: true });
    expect(scripts.map(({ id }) => id)).toEqual([90021]);
    const theirs = items(await v4.request("GET /vm/stackscripts", { as: "other", filter: { mine: true } }));
    expect(theirs.map(({ id }) => id)).toEqual([90024]);
  });
});
