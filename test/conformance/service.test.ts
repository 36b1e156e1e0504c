/** The service, and how v4 is reached (V-001). */
import { describe, expect, test } from "@jest/globals";
import { readEnvironment, SettingsError } from "../../src/base/settings/settings.ts";
import { request } from "../support/request.ts";
import { startGateway } from "../support/gateway.ts";
import { createInstance, debianInstance, errorOn, minimalInstance, fetchAllRows } from "./helpers.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

describe.each(["UPSTREAM_URL", "AUTH_URL"])("V-001 %s", (name) => {
  const faultsOf = (settings: Record<string, string>): readonly string[] => {
    try {
      readEnvironment(settings);
      return [];
    } catch (error) {
      return error instanceof SettingsError ? error.problems : ["another error"];
    }
  };

  test.each([
    "http://v4.example.com",
    "http://v4.example.com:8443/base",
    "HTTP://v4.example.com",
    "http://10.0.0.5",
    "http://192.168.1.1:3000",
    "http://0.0.0.0",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "http://[2001:db8::1]",
  ])("%s is rejected at the start", (url) => {
    expect(faultsOf({ [name]: url })).toEqual([expect.stringMatching(new RegExp(`^${name}: .*https`))]);
  });

  test.each([
    "https://v4.example.com",
    "http://127.0.0.1:3000",
    "http://127.8.9.10",
    "http://localhost:3000",
    "http://[::1]:3000",
  ])("%s is accepted", (url) => {
    expect(faultsOf({ [name]: url })).toEqual([]);
  });

  test("http to another machine is accepted only with ALLOW_HTTP_UPSTREAM", () => {
    const url = { [name]: "http://v4.example.com" };
    expect(faultsOf({ ...url, ALLOW_HTTP_UPSTREAM: "true" })).toEqual([]);
    expect(faultsOf({ ...url, ALLOW_HTTP_UPSTREAM: "false" })).toHaveLength(1);
  });

  test.each(["ftp://v4.example.com", "v4.example.com", "//v4.example.com", "file:///etc/passwd"])(
    "%s is not an address of a service",
    (url) => {
      expect(faultsOf({ [name]: url, ALLOW_HTTP_UPSTREAM: "true" })).toHaveLength(1);
    },
  );
});

/** Every route that needs no request body, and the members of its response. */
const reads = [
  ["GET /vm/instances", 200],
  ["GET /vm/instances?page=2", 200],
  ["GET /vm/instances/5201", 200],
  ["GET /vm/instances/5201/disks", 200],
  ["GET /vm/instances/5202/disks/88012", 200],
  ["GET /datacenters", 200],
  ["GET /datacenters/newark", 200],
  ["GET /vm/distributions", 200],
  ["GET /vm/distributions/vm/debian11", 200],
  ["GET /vm/kernels", 200],
  ["GET /vm/kernels/vm/latest_64", 200],
  ["GET /vm/types", 200],
  ["GET /vm/types/g6-standard-1", 200],
  ["GET /vm/instances/1", 404],
  ["GET /vm/instances?page=0", 400],
  ["GET /nothing", 404],
  ["PATCH /vm/instances", 404],
  ["DELETE /vm/instances", 404],
  ["POST /vm/instances/5201", 404],
] as const;

describe("A-001 every response is JSON", () => {
  test.each(reads)("%s (%i)", async (call, status) => {
    const response = await gateway.request(call);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(typeof response.body).toBe("object");
    expect(response.body).not.toBeNull();
  });

  test("for a create, an edit and a delete too", async () => {
    const response = await gateway.request("POST /vm/instances", { body: minimalInstance });
    gateway.clock.advance(31_000);
    const edited = await gateway.request(`PUT /vm/instances/${response.body.id}`, { body: { group: "a" } });
    const gone = await gateway.request(`DELETE /vm/instances/${response.body.id}`);
    for (const reply of [response, edited, gone]) {
      expect(reply.status).toBe(200);
      expect(reply.headers.get("content-type")).toMatch(/^application\/json\b/);
      expect(typeof reply.body).toBe("object");
    }
    expect(gone.text).toBe("{}");
  });

  test("with only headers for a HEAD", async () => {
    const response = await gateway.request("HEAD /vm/instances");
    expect([response.status, response.text]).toEqual([200, ""]);
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
  });
});

test("A-004 v4 gets only the DELETE requests that clients send", async () => {
  const { id } = await createInstance(gateway);
  gateway.takeV4Requests();
  for (const [call] of reads) await gateway.request(call);
  await gateway.request(`PUT /vm/instances/${id}`, { body: { group: "a" } });
  gateway.clock.advance(8 * 86_400_000);
  await gateway.request("GET /vm/instances");
  expect(gateway.takeV4Requests().filter(({ method }) => method === "DELETE")).toEqual([]);
  await gateway.request(`DELETE /vm/instances/${id}`);
  const deletes = gateway.takeV4Requests().filter(({ method }) => method === "DELETE");
  expect(deletes.map(({ path }) => path)).toEqual([`/v4/vm/instances/${id}`]);
});

test("A-005 creating instances, disks and backups costs nothing", async () => {
  const balances = async () => {
    const { balance, uninvoiced_balance } = (await gateway.requestV4("GET /account")).body;
    return { balance, uninvoiced_balance };
  };
  const before = await balances();
  const { id } = await createInstance(gateway, {
    ...debianInstance,
    type: "g6-standard-8",
    with_backup: true,
  });
  const empty = await createInstance(gateway);
  await gateway.request(`POST /vm/instances/${empty.id}/disks`, {
    body: { size: 100, label: "data", filesystem: "ext4" },
  });
  gateway.clock.advance(30 * 86_400_000);
  expect((await gateway.request(`GET /vm/instances/${id}`)).body.backups.enabled).toBe(true);
  expect(await balances()).toEqual(before);
});

describe("methods", () => {
  test("A-006 GET changes nothing", async () => {
    const all = () => fetchAllRows(gateway, "GET /vm/instances", "vms");
    const before = await all();
    gateway.takeV4Requests();
    for (const [call] of reads.filter(([call]) => call.startsWith("GET"))) {
      await gateway.request(call, { body: undefined });
    }
    expect(new Set(gateway.takeV4Requests().map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(await all()).toEqual(before);
  });
});

describe("paths", () => {
  test.each([
    "/",
    "/v4",
    "/v4/",
    "/vm/instances",
    "/v3/vm/instances",
    "/v4beta/vm/instances",
    "/V4/vm/instances",
    "/v4/VM/instances",
    "/v4/nothing",
    "/v4/vm",
    "/v4/vm/instances/5201/nothing",
    "/v4/vm/instances/5201/disks/88010/nothing",
    "/v4/regions",
    "/v4/account",
  ])("A-010 GET %s gets 404 without a v4 request", async (path) => {
    gateway.takeV4Requests();
    const headers = { authorization: `token ${gateway.sandbox.tokens.full}` };
    const response = await request(gateway.app, `GET ${path}`, { headers });
    expect(response).toEqual(errorOn(404));
    expect(gateway.takeV4Requests()).toEqual([]);
  });
});
