import { describe, expect, test } from "@jest/globals";
import {
  errorFields,
  items,
  sandboxForEachTest,
  webServer,
  type SandboxResponse,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const ids = (response: SandboxResponse): unknown[] => items(response).map(({ id }) => id);

describe("users", () => {
  test("V-060 V-106 are read", async () => {
    expect(await v4.read("GET /account/users/dev-kai")).toEqual({
      username: "dev-kai",
      email: "kai@example.net",
      restricted: true,
      ssh_keys: [],
      tfa_enabled: false,
    });
    expect(await v4.status("GET /account/users/nobody")).toBe(404);
    expect(await v4.status("GET /account/users/per")).toBe(404);
  });

  test("are created and found by name", async () => {
    const body = { username: "new-one", email: "new@example.net", restricted: true };
    expect(await v4.read("POST /account/users", body)).toMatchObject(body);
    expect(await v4.faults("POST /account/users", body)).toEqual(["username"]);
    expect(await v4.list("/account/users", { username: "new-one" })).toHaveLength(1);
    expect(await v4.faults("POST /account/users", {})).toEqual(["username", "email"]);
  });

  test("V-107 are changed, and are found under a new name", async () => {
    const body = { username: "dev-kari", ssh_keys: ["laptop"] };
    expect(await v4.read("PUT /account/users/dev-kai", body)).toMatchObject(body);
    expect(await v4.status("GET /account/users/dev-kai")).toBe(404);
    expect(await v4.status("GET /account/users/dev-kari")).toBe(200);
    expect((await v4.as("restricted").read("GET /profile")).username).toBe("dev-kari");
    expect(ids(await v4.as("restricted").ask("GET /profile/tokens"))).toHaveLength(1);
  });

  test("V-061 have no grants when they become restricted", async () => {
    const body = { username: "free", email: "free@example.net" };
    await v4.ask("POST /account/users", body);
    expect(await v4.status("GET /account/users/free/grants")).toBe(204);
    await v4.ask("PUT /account/users/free", { restricted: true });
    const { body: grants } = await v4.ask("GET /account/users/free/grants");
    const levels = (grants.vm as Json[]).map(({ permissions }) => permissions);
    expect(levels).toHaveLength(60);
    expect(new Set(levels)).toEqual(new Set([null]));
  });

  test("V-108 are logged out at once when they are deleted", async () => {
    expect(await v4.as("restricted").status("GET /profile")).toBe(200);
    expect(await v4.read("DELETE /account/users/dev-kai")).toEqual({});
    expect(await v4.as("restricted").status("GET /profile")).toBe(401);
    expect(await v4.status("GET /account/users/dev-kai/grants")).toBe(404);
  });

  test("V-062 have the labels of their keys in ssh_keys", async () => {
    const keys = async (): Promise<unknown> => (await v4.read("GET /account/users/ops-anna")).ssh_keys;
    expect(await keys()).toEqual(["laptop"]);
    const users = (names: string[]): Promise<SandboxResponse> =>
      v4.ask("POST /vm/instances", { ...webServer, authorized_users: names });
    expect((await users(["ops-anna"])).status).toBe(200);
    expect(errorFields(await users(["nobody"]))).toEqual(["authorized_users"]);
  });
});

describe("V-109 grants", () => {
  test("are read and written, and omitted ones keep their level", async () => {
    const path = "/account/users/dev-kai/grants";
    const body = { vm: [{ id: 5203, permissions: "read_only" }], global: { add_vms: true } };
    const { body: after } = await v4.ask(`PUT ${path}`, body);
    const level = (id: number): unknown => (after.vm as Json[]).find((each) => each.id === id)?.permissions;
    expect([5201, 5202, 5203, 5204].map(level)).toEqual(["read_write", "read_only", "read_only", null]);
    expect(after.global).toMatchObject({ add_vms: true, add_domains: true, account_access: null });
    const { body: own } = await v4.as("restricted").ask("GET /profile/grants");
    expect(own.vm).toHaveLength(3);
    expect(await v4.status("GET /profile/grants")).toBe(204);
  });

  test("for unknown objects or levels are 400", async () => {
    const put = (body: Json): Promise<SandboxResponse> => v4.ask("PUT /account/users/dev-kai/grants", body);
    expect(errorFields(await put({ vm: [{ id: 1, permissions: "read_only" }] }))).toEqual(["vm"]);
    expect(errorFields(await put({ vm: [{ id: 5201, permissions: "all" }] }))).toEqual(["vm[0].permissions"]);
  });
});

describe("V-180 a restricted user", () => {
  const as = "restricted";

  test("reads and writes what was granted, at that level", async () => {
    expect(ids(await v4.as(as).ask("GET /vm/instances"))).toEqual([5201, 5202]);
    expect(await v4.as(as).status("GET /vm/instances/5201")).toBe(200);
    expect(await v4.as(as).status("GET /vm/instances/5203")).toBe(403);
    expect(await v4.as(as).status("PUT /vm/instances/5201", { label: "mine" })).toBe(200);
    expect(await v4.as(as).status("PUT /vm/instances/5202", { label: "mine" })).toBe(403);
    expect(await v4.as(as).status("POST /vm/instances/5202/boot")).toBe(403);
    expect(await v4.as(as).status("GET /vm/instances/5202/disks")).toBe(200);
    expect(await v4.as(as).status("POST /vm/instances/5202/disks", { size: 1, label: "x" })).toBe(403);
    expect(ids(await v4.as(as).ask("GET /domains"))).toEqual([7010]);
    expect(await v4.as(as).status("DELETE /domains/7010")).toBe(403);
  });

  test("V-179 creates only what the flags permit, and then may use it", async () => {
    expect(await v4.as(as).status("POST /vm/instances", webServer)).toBe(403);
    const body = { domain: "kai.example.net", type: "master", soa_email: "kai@example.net" };
    const response = await v4.as(as).ask("POST /domains", body);
    expect(response.status).toBe(200);
    expect(await v4.as(as).status(`DELETE /domains/${response.body.id}`)).toBe(200);
  });

  test.each([
    "GET /account",
    "GET /account/users",
    "PUT /account/users/dev-kai",
    "GET /account/invoices",
    "POST /account/credit-card",
    "GET /support/tickets",
    "GET /managed/credentials",
    "GET /orch/clusters",
  ])("gets 403 for %s", async (request) => {
    expect(await v4.as(as).status(request, request.startsWith("GET") ? undefined : {})).toBe(403);
  });

  test("with read access to the account cannot write to it", async () => {
    expect(await v4.as("billing").status("GET /account")).toBe(200);
    expect(await v4.as("billing").status("PUT /account", { city: "Oslo" })).toBe(403);
    expect(await v4.as("billing").status("GET /account/users")).toBe(403);
  });

  test("V-182 sees no events of objects that were not granted", async () => {
    const about = (await v4.as(as).list("/account/events")).map(({ entity }) => entity);
    expect(about.length).toBeGreaterThan(0);
    expect(new Set(about.map(({ id }) => id))).toEqual(new Set([5201, 5202]));
    const [other] = await v4.list("/account/events", { "entity.id": 5203 });
    expect(await v4.as(as).status(`GET /account/events/${other?.id}`)).toBe(403);
  });

  test("V-149 reads public images, and cannot change public scripts", async () => {
    expect(await v4.as(as).status("GET /images/vm/debian11")).toBe(200);
    expect(await v4.status("PUT /vm/stackscripts/90022", { label: "mine" })).toBe(403);
  });
});

describe("the last unrestricted user", () => {
  test("cannot be restricted or deleted", async () => {
    const restricted = await v4.ask("PUT /account/users/ops-anna", { restricted: true });
    expect([restricted.status, errorFields(restricted)]).toEqual([400, ["restricted"]]);
    expect(await v4.status("DELETE /account/users/ops-anna")).toBe(400);
    expect((await v4.read("GET /account/users/ops-anna")).restricted).toBe(false);
  });

  test("can be restricted once there is another one", async () => {
    await v4.ask("PUT /account/users/dev-kai", { restricted: false });
    const { body } = await v4.ask("PUT /account/users/ops-anna", { restricted: true });
    expect(body.restricted).toBe(true);
    const last = await v4.as("restricted").ask("DELETE /account/users/dev-kai");
    expect(last.status).toBe(400);
  });
});

test("unknown SSH key labels are rejected", async () => {
  const keys = (ssh_keys: string[]) => v4.ask("PUT /account/users/ops-anna", { ssh_keys });
  expect(errorFields(await keys(["laptop", "nowhere"]))).toEqual(["ssh_keys"]);
  expect((await keys(["laptop"])).status).toBe(200);
  expect((await keys([])).status).toBe(200);
});

test.each(["Europe/Oslo", "US/Eastern", "UTC", "Asia/Kolkata"])(
  "the time zone %s is accepted",
  async (timezone) => {
    expect((await v4.read("PUT /profile", { timezone })).timezone).toBe(timezone);
  },
);

test.each(["Mars/Olympus", "+01:00", "Oslo", "Europe/Oslo "])(
  "the time zone %j is rejected",
  async (timezone) => {
    expect(await v4.faults("PUT /profile", { timezone })).toEqual(["timezone"]);
  },
);
