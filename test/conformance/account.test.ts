/** Settings, tokens, users and their grants: resources that are one object in alpha and several in v4, or have other names. */
import { describe, expect, test } from "@jest/globals";
import { answer, successWith, errorOn, type Json } from "./helpers.ts";
import { startGateway } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

describe("T-8.11 account settings", () => {
  test("are one object of both halves, and sending it back changes nothing", async () => {
    const { body: before } = await gateway.request("GET /account/settings");
    expect(before).toMatchObject({ email: expect.any(String), network_helper: expect.any(Boolean) });
    gateway.takeV4Requests();
    expect((await gateway.request("PUT /account/settings", { body: before })).body).toEqual(before);
    const changed = { ...before, city: "Springfield", network_helper: !before.network_helper };
    expect((await gateway.request("PUT /account/settings", { body: changed })).body).toEqual(changed);
    expect((await gateway.request("GET /account/settings")).body).toEqual(changed);
  });

  test("an edit of one half writes only that half", async () => {
    gateway.takeV4Requests();
    await gateway.request("PUT /account/settings", { body: { city: "Shelbyville", balance: 7 } });
    expect(gateway.takeV4Requests().map(({ method, path, body }) => [method, path, body])).toEqual([
      ["PUT", "/v4/account", { city: "Shelbyville" }],
      ["GET", "/v4/account/settings", undefined],
    ]);
  });

  test("a v4 error names alpha's member", async () => {
    const body = { country: "much too long" };
    expect(await gateway.request("PUT /account/settings", { body })).toEqual(errorOn(400, "country"));
  });
});

describe("T-8.12 personal tokens", () => {
  test("A-152 A-153 a created token is shown in full once, with the requested levels, and works", async () => {
    const { status, body } = await gateway.request("POST /account/tokens", {
      body: { label: "cli", scopes: ";vms:create;dnszones:view" },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(Number),
      client: null,
      type: "personal_access_token",
      scopes: "vms:create,dnszones:view",
      label: "cli",
      created: expect.any(String),
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
      expiry: null,
    });
    const { body: later } = await gateway.request(`GET /account/tokens/${body.id}`);
    expect(later.token).toBe(`${String(body.token).slice(0, 16)}...`);
    expect(later.scopes).toBe("vms:create,dnszones:view");
    expect((await gateway.request("GET /dns/zones", { as: body.token })).status).toBe(200);
    expect((await gateway.request("GET /nodebalancers", { as: body.token })).status).toBe(403);
    expect(await gateway.request(`DELETE /account/tokens/${body.id}`)).toEqual(answer(200, {}));
  });

  test("unknown scopes create no token: v4 would give all scopes of the caller", async () => {
    gateway.takeV4Requests();
    const response = await gateway.request("POST /account/tokens", { body: { scopes: "nothing:view" } });
    expect(response).toEqual(errorOn(400, "scopes"));
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("the name can be changed, and sending a whole object back changes nothing", async () => {
    const { body } = await gateway.request("POST /account/tokens", {
      body: { label: "one", scopes: "vms:view" },
    });
    const path = `/account/tokens/${body.id}`;
    const { body: shown } = await gateway.request(`GET ${path}`);
    expect((await gateway.request(`PUT ${path}`, { body: shown })).body).toEqual(shown);
    expect((await gateway.request(`PUT ${path}`, { body: { label: "two" } })).body).toEqual({
      ...shown,
      label: "two",
    });
  });
});

describe("T-8.14 grants", () => {
  const restricted = async (username: string): Promise<string> => {
    const body = { username, email: `${username}@example.net`, password: "S0me-long-Passw0rd" };
    expect(await gateway.request("POST /account/users", { body })).toEqual(
      successWith({ username, restricted: true }),
    );
    return `/account/users/${username}/grants`;
  };

  test("all flags and arrays exist, and sending a whole object back writes nothing", async () => {
    const path = await restricted("flagged");
    const { body } = await gateway.request(`GET ${path}`);
    expect(Object.keys(body)).toEqual(["global", "customer", "vm", "dnszone", "stackscript", "nodebalancer"]);
    expect(body.vm[0]).toEqual({
      id: expect.any(Number),
      label: expect.any(String),
      all: false,
      access: false,
      delete: false,
      resize: false,
    });
    gateway.takeV4Requests();
    expect((await gateway.request(`PUT ${path}`, { body })).body).toEqual(body);
    expect(gateway.takeV4Requests().map(({ method }) => method)).not.toContain("PUT");
  });

  test("a change takes effect and changes no other member", async () => {
    const path = await restricted("changed");
    const { body } = await gateway.request(`GET ${path}`);
    const [one, two] = body.vm as Json[];
    const edit = {
      global: { ...body.global, add_dnszones: true },
      customer: { access: true, cancel: false },
      vm: [{ ...one, access: true }, two],
    };
    const { body: after } = await gateway.request(`PUT ${path}`, { body: edit });
    expect(after).toEqual({
      ...body,
      ...edit,
      vm: [{ ...one, all: true, access: true, delete: true, resize: true }, ...body.vm.slice(1)],
    });
    await gateway.requestV4(`PUT ${path}`, { body: { vm: [{ id: two?.["id"], permissions: "read_only" }] } });
    const looks = { ...two, access: true };
    const { body: reading } = await gateway.request(`PUT ${path}`, {
      body: { vm: [looks, { id: one?.["id"], access: false, all: false, delete: false, resize: false }] },
    });
    expect(reading.vm.slice(0, 2)).toEqual([one, looks]);
  });

  test("reading and writing those of an unrestricted user is rejected", async () => {
    const { body: users } = await gateway.request("GET /account/users");
    const { username } = users.users.find((user: Json) => user["restricted"] === false);
    const path = `/account/users/${username}/grants`;
    const rejection = answer(400, { errors: [{ reason: "The user is unrestricted." }] });
    expect(await gateway.request(`GET ${path}`)).toEqual(rejection);
    const write = { body: { global: { add_vms: false } } };
    expect(await gateway.request(`PUT ${path}`, write)).toEqual(rejection);
    expect(await gateway.request("GET /account/profile/grants")).toEqual(rejection);
    expect(await gateway.request("GET /account/users/nobody-of-this-name/grants")).toEqual(errorOn(404));
  });
});
