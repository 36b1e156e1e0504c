/** Which calls need a token, and its scopes. Other headers: test/gateway/pipeline/requests.test.ts. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { startAlteredGateway } from "./altered-v4.ts";
import { createInstance, debianInstance, errorOn, minimalInstance } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());
const altered = startForTests(() => startAlteredGateway());
beforeEach(() => void gateway.takeV4Requests());

const disk = { size: 10, label: "data", filesystem: "ext4" };

/** The calls of, with the level of `vms` that each needs. */
const endpoints = [
  ["GET /vm/instances", "view", undefined],
  ["POST /vm/instances", "create", minimalInstance],
  ["GET /vm/instances/5202", "view", undefined],
  ["PUT /vm/instances/5202", "modify", { group: "new" }],
  ["DELETE /vm/instances/5203", "delete", undefined],
  ["GET /vm/instances/5202/disks", "view", undefined],
  ["POST /vm/instances/5202/disks", "modify", disk],
  ["GET /vm/instances/5202/disks/88012", "view", undefined],
] as const;

describe.each(endpoints)("%s", (call, level, body) => {
  test.each([
    ["no Authorization", {}],
    ["another scheme", { authorization: "Basic dG9rZW46eA==" }],
  ])("A-109 A-169 with %s gets 401 without a v4 request", async (_name, headers) => {
    const response = await gateway.request(call, { as: null, headers, body });
    expect(response).toEqual(errorOn(401));
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("A-109 A-169 with an unknown token gets 401", async () => {
    expect(await gateway.request(call, { as: "f".repeat(64), body })).toEqual(errorOn(401));
  });

  test("A-150 A-170 with a token without scopes gets 403 every time", async () => {
    for (const _time of [1, 2, 3]) {
      expect(await gateway.request(call, { as: "none", body })).toEqual(errorOn(403));
    }
  });

  test("A-151 A-170 with a token for view succeeds where view is sufficient", async () => {
    const response = await gateway.request(call, { as: "readOnly", body });
    expect(response.status).toBe(level === "view" ? 200 : 403);
  });

  test("A-151 with a token for everything on instances succeeds", async () => {
    gateway.clock.advance(31_000);
    expect((await gateway.request(call, { as: "vms", body })).status).toBe(200);
  });
});

test("A-169 a rejected token is not sent to v4 again at once", async () => {
  const as = "e".repeat(64);
  await gateway.request("GET /vm/instances", { as });
  gateway.takeV4Requests();
  expect(await gateway.request("GET /vm/instances", { as })).toEqual(errorOn(401));
  expect(gateway.takeV4Requests()).toEqual([]);
});

test("A-148 each v4 request has the caller's own token as Bearer", async () => {
  const names = ["full", "other", "readOnly", "vms"] as const;
  await Promise.all(names.map((as) => gateway.request("GET /vm/instances/5201", { as })));
  const tokens = gateway
    .takeV4Requests()
    .map(({ headers }) => String(headers["authorization"]).slice("Bearer ".length));
  expect(new Set(tokens)).toEqual(new Set(names.map((name) => gateway.sandbox.tokens[name])));
});

describe("A-149 Authorization: Bearer", () => {
  const bearer = () => ({ as: null, headers: { authorization: `Bearer ${gateway.sandbox.tokens.full}` } });

  test("is forwarded without translation", async () => {
    const native = await gateway.request("GET /vm/instances?page_size=100", bearer());
    const direct = await gateway.requestV4("GET /vm/instances?page_size=100");
    expect([native.status, native.text]).toEqual([200, direct.text]);
    expect(Object.keys(native.body)).toEqual(expect.arrayContaining(["data", "page", "pages", "results"]));
  });

  test.each([
    ["/vm/instances?page_size=100", 200],
    ["/regions", 200],
    ["/vm/instances/1", 404],
    ["/vm/instances?page=0", 400],
  ])("HEAD %s is a GET without a body", async (path, status) => {
    const get = await gateway.request(`GET ${path}`, bearer());
    const direct = await gateway.requestV4(`HEAD ${path}`);
    const native = await gateway.request(`HEAD ${path}`, bearer());
    for (const head of [direct, native]) {
      expect([head.status, head.text]).toEqual([status, ""]);
      for (const name of ["content-type", "content-length", "x-oauth-scopes"])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    }
    expect(gateway.sandbox.requests.at(-1)?.method).toBe("HEAD");
  });

  test("forwards v4 bodies and v4 errors unchanged", async () => {
    const body = { region: "atlantis", type: "g6-standard-1" };
    const native = await gateway.request("POST /vm/instances", { ...bearer(), body });
    expect(gateway.takeV4Requests()[0]?.body).toEqual(body);
    expect(native.body).toEqual((await gateway.requestV4("POST /vm/instances", { body })).body);
    expect(native.status).toBe(400);
  });

  test("forwards paths that alpha does not have", async () => {
    expect((await gateway.request("GET /regions/us-east", bearer())).body).toMatchObject({ id: "us-east" });
  });

  test.each(["Bearer", "bearer", "BEARER"])("with NATIVE_PROXY=off %s gets 401", async (scheme) => {
    const closed = await startGateway({ NATIVE_PROXY: "off" });
    const authorization = `${scheme} ${closed.sandbox.tokens.full}`;
    closed.takeV4Requests();
    const response = await closed.request("GET /vm/instances", { as: null, headers: { authorization } });
    const sent = closed.takeV4Requests();
    await closed.stop();
    expect(response).toEqual(errorOn(401));
    expect(sent).toEqual([]);
  });
});

const { dialect, scopes } = loadPack("mappings", {});
const { levels = [] } = dialect.scopes ?? {};

describe("levels", () => {
  test.each(levels.map((level, index) => [level, levels.slice(0, index + 1)] as const))(
    "A-151 %s permits %j and nothing above",
    (level, granted) => {
      const grants = new Map([["vms", levels.indexOf(level)]]);
      const permitted = levels.filter((asked) => {
        const access = scopes.access(`vms:${asked}`);
        return access !== undefined && scopes.permits(grants, access);
      });
      expect(permitted).toEqual(granted);
    },
  );

  test.each(levels)("A-152 a resource's * is its delete: it permits %s", (level) => {
    const access = scopes.access(`vms:${level}`);
    const [all, top] = ["vms:*", "vms:read_write"].map((granted) => scopes.grants(granted));
    expect(all).toEqual(top);
    expect(access && all && scopes.permits(all, access)).toBe(true);
  });

  test("A-151 ascend: view, modify, create, delete", () => {
    expect(levels).toEqual(["view", "modify", "create", "delete"]);
  });

  test.each([
    ["*", "vms:delete", true],
    ["*", "dnszones:delete", true],
    ["*", "token", true],
    ["vms:read_write", "vms:delete", true],
    ["vms:read_write", "vms:view", true],
    ["vms:read_only", "vms:view", true],
    ["vms:read_only", "vms:modify", false],
    ["domains:read_write", "vms:view", false],
    ["domains:read_write", "dnszones:delete", true],
    ["account:read_write", "tickets:delete", true],
    ["account:read_only", "tickets:modify", false],
    ["account:read_write", "vms:view", false],
    ["vms:read_only domains:read_write", "vms:modify", false],
    ["vms:read_only,vms:read_write", "vms:delete", true],
    ["vms:*", "vms:delete", true],
    ["vms:*", "dnszones:view", false],
    ["vms", "vms:view", false],
    ["vms:next_years", "vms:view", false],
    ["firewall:read_write", "vms:view", false],
    ["", "vms:view", false],
    ["", "token", true],
    ["", "public", true],
  ])("A-151 A-153 A-154 v4's %j on a route that needs %s: %s", (granted, needed, permitted) => {
    const access = scopes.access(needed);
    expect(access && scopes.permits(scopes.grants(granted), access)).toBe(permitted);
  });
});

describe("scopes that v4 has sent for a token", () => {
  test.each([
    ["A-151 A-155", "vms:read_only", "PUT /vm/instances/5202"],
    ["A-151 A-155", "vms:read_only", "DELETE /vm/instances/5202"],
    ["A-154", "domains:read_write", "GET /vm/instances"],
    ["A-154", "domains:read_write account:read_write scripts:read_write", "GET /vm/instances/5202"],
    ["A-150", "", "GET /vm/instances"],
  ])("%s %j do not permit %s, without a v4 request", async (_id, granted, call) => {
    const as = (granted || "nothing").replaceAll(" ", "+");
    altered.resetRules();
    altered.respondTo("GET /vm/instances/1", {
      status: 404,
      headers: { "x-oauth-scopes": granted },
      body: {},
    });
    await altered.request("GET /vm/instances/1", { as });
    altered.resetRules();
    expect(await altered.request(call, { as, ...(call.startsWith("PUT") && { body: {} }) })).toEqual(
      errorOn(403),
    );
    expect(altered.calls).toEqual([]);
  });

  test("A-153 with * permit everything", async () => {
    const { id } = await createInstance(gateway, debianInstance);
    for (const call of [`GET /vm/instances/${id}`, `PUT /vm/instances/${id}`, `DELETE /vm/instances/${id}`]) {
      expect((await gateway.request(call, { body: call.startsWith("PUT") ? {} : undefined })).status).toBe(
        200,
      );
    }
  });
});
