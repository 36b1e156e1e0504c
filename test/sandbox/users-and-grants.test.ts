import { describe, expect, test } from "@jest/globals";
import type { SandboxResponse, SandboxRequest, Json } from "./sandbox-service.ts";
import { errorFields, items, sandboxForEachTest, webServer } from "./sandbox-service.ts";

const service = sandboxForEachTest();

const status = async (request: string, asking: SandboxRequest = {}): Promise<number> =>
  (await service.request(request, asking)).status;
const ids = (response: SandboxResponse): unknown[] => items(response).map(({ id }) => id);

describe("users", () => {
  test("V-060 V-106 are read", async () => {
    expect((await service.request("GET /account/users/dev-kai")).body).toEqual({
      username: "dev-kai",
      email: "kai@example.net",
      restricted: true,
      ssh_keys: [],
      tfa_enabled: false,
    });
    expect(await status("GET /account/users/nobody")).toBe(404);
    expect(await status("GET /account/users/per")).toBe(404);
  });

  test("are created and found by name", async () => {
    const body = { username: "new-one", email: "new@example.net", restricted: true };
    expect((await service.request("POST /account/users", { body })).body).toMatchObject(body);
    expect(errorFields(await service.request("POST /account/users", { body }))).toEqual(["username"]);
    expect(
      items(await service.request("GET /account/users", { filter: { username: "new-one" } })),
    ).toHaveLength(1);
    expect(errorFields(await service.request("POST /account/users", { body: {} }))).toEqual([
      "username",
      "email",
    ]);
  });

  test("V-107 are changed, and are found under a new name", async () => {
    const body = { username: "dev-kari", ssh_keys: ["laptop"] };
    expect((await service.request("PUT /account/users/dev-kai", { body })).body).toMatchObject(body);
    expect(await status("GET /account/users/dev-kai")).toBe(404);
    expect(await status("GET /account/users/dev-kari")).toBe(200);
    expect((await service.request("GET /profile", { as: "restricted" })).body["username"]).toBe("dev-kari");
    expect(ids(await service.request("GET /profile/tokens", { as: "restricted" }))).toHaveLength(1);
  });

  test("V-061 have no grants when they become restricted", async () => {
    const body = { username: "free", email: "free@example.net" };
    await service.request("POST /account/users", { body });
    expect(await status("GET /account/users/free/grants")).toBe(204);
    await service.request("PUT /account/users/free", { body: { restricted: true } });
    const { body: grants } = await service.request("GET /account/users/free/grants");
    const levels = (grants["vm"] as Json[]).map(({ permissions }) => permissions);
    expect(levels).toHaveLength(60);
    expect(new Set(levels)).toEqual(new Set([null]));
  });

  test("V-108 are logged out at once when they are deleted", async () => {
    expect(await status("GET /profile", { as: "restricted" })).toBe(200);
    expect((await service.request("DELETE /account/users/dev-kai")).body).toEqual({});
    expect(await status("GET /profile", { as: "restricted" })).toBe(401);
    expect(await status("GET /account/users/dev-kai/grants")).toBe(404);
  });

  test("V-062 have the labels of their keys in ssh_keys", async () => {
    const keys = async (): Promise<unknown> =>
      (await service.request("GET /account/users/ops-anna")).body["ssh_keys"];
    const body = { label: "desk", ssh_key: "ssh-ed25519 AAAAC3Nz anna@desk" };
    const { id } = (await service.request("POST /profile/sshkeys", { body })).body;
    expect(await keys()).toEqual(["laptop", "desk"]);
    await service.request(`PUT /profile/sshkeys/${String(id)}`, { body: { label: "office" } });
    expect(await keys()).toEqual(["laptop", "office"]);
    await service.request(`DELETE /profile/sshkeys/${String(id)}`);
    expect(await keys()).toEqual(["laptop"]);
    const users = (names: string[]): Promise<SandboxResponse> =>
      service.request("POST /vm/instances", { body: { ...webServer, authorized_users: names } });
    expect((await users(["ops-anna"])).status).toBe(200);
    expect(errorFields(await users(["nobody"]))).toEqual(["authorized_users"]);
  });
});

describe("V-109 grants", () => {
  test("are read and written, and omitted ones keep their level", async () => {
    const path = "/account/users/dev-kai/grants";
    const body = { vm: [{ id: 5203, permissions: "read_only" }], global: { add_vms: true } };
    const { body: after } = await service.request(`PUT ${path}`, { body });
    const level = (id: number): unknown =>
      (after["vm"] as Json[]).find((each) => each["id"] === id)?.["permissions"];
    expect([5201, 5202, 5203, 5204].map(level)).toEqual(["read_write", "read_only", "read_only", null]);
    expect(after["global"]).toMatchObject({ add_vms: true, add_domains: true, account_access: null });
    const { body: own } = await service.request("GET /profile/grants", { as: "restricted" });
    expect(own["vm"]).toHaveLength(3);
    expect(await status("GET /profile/grants")).toBe(204);
  });

  test("for unknown objects or levels are 400", async () => {
    const put = (body: Json): Promise<SandboxResponse> =>
      service.request("PUT /account/users/dev-kai/grants", { body });
    expect(errorFields(await put({ vm: [{ id: 1, permissions: "read_only" }] }))).toEqual(["vm"]);
    expect(errorFields(await put({ vm: [{ id: 5201, permissions: "all" }] }))).toEqual(["vm[0].permissions"]);
  });
});

describe("V-180 a restricted user", () => {
  const as = "restricted";

  test("reads and writes what was granted, at that level", async () => {
    expect(ids(await service.request("GET /vm/instances", { as }))).toEqual([5201, 5202]);
    expect(await status("GET /vm/instances/5201", { as })).toBe(200);
    expect(await status("GET /vm/instances/5203", { as })).toBe(403);
    expect(await status("PUT /vm/instances/5201", { as, body: { label: "mine" } })).toBe(200);
    expect(await status("PUT /vm/instances/5202", { as, body: { label: "mine" } })).toBe(403);
    expect(await status("POST /vm/instances/5202/boot", { as })).toBe(403);
    expect(await status("GET /vm/instances/5202/disks", { as })).toBe(200);
    expect(await status("POST /vm/instances/5202/disks", { as, body: { size: 1, label: "x" } })).toBe(403);
    expect(ids(await service.request("GET /domains", { as }))).toEqual([7010]);
    expect(await status("DELETE /domains/7010", { as })).toBe(403);
  });

  test("V-179 creates only what the flags permit, and then may use it", async () => {
    expect(await status("POST /vm/instances", { as, body: webServer })).toBe(403);
    const body = { domain: "kai.example.net", type: "master", soa_email: "kai@example.net" };
    const response = await service.request("POST /domains", { as, body });
    expect(response.status).toBe(200);
    expect(await status(`DELETE /domains/${String(response.body["id"])}`, { as })).toBe(200);
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
    expect(await status(request, { as, body: request.startsWith("GET") ? undefined : {} })).toBe(403);
  });

  test("with read access to the account cannot write to it", async () => {
    expect(await status("GET /account", { as: "billing" })).toBe(200);
    expect(await status("PUT /account", { as: "billing", body: { city: "Oslo" } })).toBe(403);
    expect(await status("GET /account/users", { as: "billing" })).toBe(403);
  });

  test("V-182 sees no events of objects that were not granted", async () => {
    const about = items(await service.request("GET /account/events", { as })).map(
      ({ entity }) => entity as Json,
    );
    expect(about.length).toBeGreaterThan(0);
    expect(new Set(about.map(({ id }) => id))).toEqual(new Set([5201, 5202]));
    const [other] = items(await service.request("GET /account/events", { filter: { "entity.id": 5203 } }));
    expect(await status(`GET /account/events/${String(other?.["id"])}`, { as })).toBe(403);
  });

  test("V-149 reads public images, and cannot change public scripts", async () => {
    expect(await status("GET /images/vm/debian11", { as })).toBe(200);
    expect(await status("PUT /vm/stackscripts/90022", { body: { label: "mine" } })).toBe(403);
  });
});

describe("the last unrestricted user", () => {
  test("cannot be restricted or deleted", async () => {
    const restricted = await service.request("PUT /account/users/ops-anna", { body: { restricted: true } });
    expect([restricted.status, errorFields(restricted)]).toEqual([400, ["restricted"]]);
    expect((await service.request("DELETE /account/users/ops-anna")).status).toBe(400);
    expect((await service.request("GET /account/users/ops-anna")).body["restricted"]).toBe(false);
  });

  test("can be restricted once there is another one", async () => {
    await service.request("PUT /account/users/dev-kai", { body: { restricted: false } });
    const { body } = await service.request("PUT /account/users/ops-anna", { body: { restricted: true } });
    expect(body["restricted"]).toBe(true);
    const last = await service.request("DELETE /account/users/dev-kai", { as: "restricted" });
    expect(last.status).toBe(400);
  });
});

test("unknown SSH key labels are rejected", async () => {
  const keys = (ssh_keys: string[]) => service.request("PUT /account/users/ops-anna", { body: { ssh_keys } });
  expect(errorFields(await keys(["laptop", "nowhere"]))).toEqual(["ssh_keys"]);
  expect((await keys(["laptop"])).status).toBe(200);
  expect((await keys([])).status).toBe(200);
});

test.each(["Europe/Oslo", "US/Eastern", "UTC", "Asia/Kolkata"])(
  "the time zone %s is accepted",
  async (timezone) => {
    expect((await service.request("PUT /profile", { body: { timezone } })).body["timezone"]).toBe(timezone);
  },
);

test.each(["Mars/Olympus", "+01:00", "Oslo", "Europe/Oslo "])(
  "the time zone %j is rejected",
  async (timezone) => {
    expect(errorFields(await service.request("PUT /profile", { body: { timezone } }))).toEqual(["timezone"]);
  },
);
