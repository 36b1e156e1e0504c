/** case by case: other spellings, bodies of particular calls, members that clients insist on. */
import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { answer, createInstance, debianInstance, successWith, errorOn, type Json } from "./helpers.ts";
import { startGateway, type GatewayRequest, type TestResponse } from "../support/gateway.ts";
import { startForTests } from "../support/start-for-tests.ts";

/** The instance that most tests use. It has a system disk. After a step of the clock it has no running job. */
const gateway = startForTests(() => startGateway());
let at: string;
let id: number;
let disk: number;
let config: number;
beforeAll(async () => {
  ({ id } = await createInstance(gateway, { ...debianInstance, label: "habits", with_backup: true }));
  at = `/vm/instances/${id}`;
  disk = (await gateway.request(`GET ${at}/disks`)).body.disks[0].id;
  config = (await gateway.request(`GET ${at}/configs`)).body.configs[0].id;
});
beforeEach(() => settle());

function settle(): void {
  gateway.clock.advance(3_600_000);
  gateway.takeV4Requests();
}

const ask = (call: string, options?: GatewayRequest): Promise<TestResponse> => gateway.request(call, options);
const done = answer(200, {});

/** The bodies of writes to v4 since the last call. */
const written = (): unknown[] =>
  gateway
    .takeV4Requests()
    .filter(({ method }) => method !== "GET")
    .map(({ body }) => body);

describe("A-175 spellings", () => {
  test.each(["vm_id", "vm-id", "vm"])("ip-assign: %s", async (name) => {
    const { body: profile } = await ask("POST /networking/ipv4", { body: { vm: id } });
    const body = { datacenter: "newark", assignments: [{ address: profile.address, [name]: id }] };
    const response = await ask("POST /networking/ip-assign", { body });
    expect(response).toEqual(
      successWith({ ips: [expect.objectContaining({ address: profile.address, vm_id: id })] }),
    );
    await ask(`DELETE /networking/ipv4/${profile.address}`);
  });

  test.each(["vm", "vm_id"])("a new address: %s", async (name) => {
    const { status, body } = await ask("POST /networking/ipv4", { body: { [name]: id } });
    expect([status, body.vm_id, body.id]).toEqual([200, id, body.address]);
    await ask(`DELETE /networking/ipv4/${body.address}`);
  });

  test.each(["name", "label"])("an application by its %s", async (member) => {
    const body = { [member]: "status board", redirect_uri: "https://app.example.net/" };
    const response = await ask("POST /account/clients", { body });
    expect(response).toEqual(successWith({ name: "status board", label: "status board" }));
  });

  test.each(["vms:view,dnszones:modify", "vms:view;dnszones:modify", ";vms:view;dnszones:modify"])(
    "the scopes %s of a token",
    async (scopes) => {
      const { body } = await ask("POST /account/tokens", { body: { scopes } });
      expect(body.scopes).toBe("vms:view,dnszones:modify");
      expect((await ask("GET /vm/instances", { as: body.token })).status).toBe(200);
      expect((await ask(`DELETE ${at}`, { as: body.token })).status).toBe(403);
    },
  );

  test.each(["ttl_sec", "ttl"])("the lifetime of a record: %s", async (name) => {
    const [zone] = (await ask("GET /dns/zones")).body.dnszones;
    const body = { type: "A", name: `by-${name.replace("_", "-")}`, target: "203.0.113.9", [name]: 3600 };
    expect(await ask(`POST /dns/zones/${zone.id}/records`, { body })).toEqual(successWith({ ttl_sec: 3600 }));
  });

  test.each(["tfa-code", "tfa_code"])("the second factor's %s is accepted as a code", async (name) => {
    const { body } = await ask("POST /account/profile/tfa-enable");
    expect(body).toEqual(expect.objectContaining({ secret: expect.stringMatching(/\S/) }));
    gateway.takeV4Requests();
    await ask("POST /account/profile/tfa-enable-confirm", { body: { [name]: "213456" } });
    expect(written()).toEqual([{ tfa_code: "213456" }]);
  });

  test.each<[unknown, boolean]>([
    [0, false],
    [1, true],
    [false, false],
    [true, true],
  ])("T-8.16 check_passive %j is %s", async (given_, shown) => {
    const [balancer] = (await ask("GET /nodebalancers")).body.nodebalancers;
    const [one] = (await ask(`GET /nodebalancers/${balancer.id}/configs`)).body.configs;
    const path = `/nodebalancers/${balancer.id}/configs/${one.id}`;
    expect(await ask(`PUT ${path}`, { body: { check_passive: given_ } })).toEqual(
      successWith({ check_passive: shown }),
    );
  });
});

describe("A-177 bodies of particular calls", () => {
  const chosen = () =>
    [
      ["no body", undefined, {}],
      ["null", "null", {}],
      ["{}", "{}", {}],
      ["no config", '{"config":null}', {}],
      ["a config", `{"config":${config}}`, { config_id: config }],
    ] as const;

  test.each(["boot", "reboot", "shutdown"])("%s", async (action) => {
    for (const [, text, v4] of chosen()) {
      settle();
      await ask(`POST ${at}/${action === "boot" ? "shutdown" : "boot"}`);
      settle();
      expect(await ask(`POST ${at}/${action}`, text === undefined ? {} : { raw: text })).toEqual(done);
      expect(written().map((body) => body ?? {})).toEqual([action === "shutdown" ? {} : v4]);
    }
  });

  test("rescue is accepted in every nesting", async () => {
    const wrappings = [{ disks: { sda: disk } }, { sda: disk }, { disks: { disks: { sda: disk } } }, null];
    for (const body of wrappings) {
      settle();
      expect(await ask(`POST ${at}/rescue`, { raw: JSON.stringify(body) })).toEqual(done);
      expect(written()).toEqual([body === null ? {} : { devices: { sda: { disk_id: disk } } }]);
    }
  });

  test.each([undefined, "{}", "null"])("a disk is duplicated by its id with the body %s", async (text) => {
    const { id: roomy } = await createInstance(gateway);
    const disks = `/vm/instances/${roomy}/disks`;
    const { body: blank } = await ask(`POST ${disks}`, {
      body: { label: "blank", size: 10, filesystem: "raw" },
    });
    settle();
    const response = await ask(`POST ${disks}/${blank.id}`, text === undefined ? {} : { raw: text });
    expect(response).toEqual(successWith({ id: expect.any(Number), size: 10 }));
    expect(response.body.id).not.toBe(blank.id);
  });

  test("a disk is given a password by its id", async () => {
    await ask(`POST ${at}/shutdown`);
    settle();
    const response = await ask(`POST ${at}/disks/${disk}`, { body: { password: "An0ther-long-Passw0rd" } });
    expect(response).toEqual(successWith({ id: disk }));
    expect((await ask(`GET ${at}/disks`)).body.disks.map((each: Json) => each["id"])).toContain(disk);
  });

  test.each(["sd", "xvd"])(
    "a configuration with all eight slots is accepted, named from %sa",
    async (prefix) => {
      const slots = Object.fromEntries("abcdefgh".split("").map((slot) => [prefix + slot, null]));
      const body = {
        label: "all of it",
        kernel: { id: "vm/latest_64" },
        disks: { ...slots, [`${prefix}a`]: disk },
        initrd: "",
        comments: "",
        ram_limit: 0,
      };
      const response = await ask(`POST ${at}/configs`, { body });
      expect(response).toEqual(successWith({ label: "all of it", ram_limit: 0, initrd: null }));
      expect(response.body.disks).toMatchObject({ sda: { id: disk }, sdb: null, sdh: null });
      expect(response.body.kernel).toMatchObject({ id: "vm/latest_64" });
    },
  );

  test("a fixed disk of a deleted image is rejected by its slot", async () => {
    const before = (await ask(`GET ${at}/configs`)).body.total_results;
    const body = { label: "recovery", kernel: "vm/latest_64", disks: { sda: disk, sdh: 25669 } };
    const response = await ask(`POST ${at}/configs`, { body });
    expect(response.status).toBe(400);
    expect((await ask(`GET ${at}/configs`)).body.total_results).toBe(before);
  });

  test.each([undefined, "null", '{"label":null}'])("a snapshot is taken with the body %s", async (text) => {
    const response = await ask(`POST ${at}/backups`, text === undefined ? {} : { raw: text });
    expect(response).toEqual(successWith({ id: expect.anything(), type: "snapshot" }));
  });

  test("a rebuild accepts a distribution with capital letters", async () => {
    const body = { distribution: "vm/Debian11", root_pass: debianInstance.root_pass };
    const response = await ask(`POST ${at}/rebuild`, { body });
    expect(response).toEqual(
      successWith({ id, distribution: expect.objectContaining({ id: "vm/debian11" }) }),
    );
    expect(response.body).toMatchObject({ disks: expect.any(Array), configs: expect.any(Array) });
    settle();
    disk = (await ask(`GET ${at}/disks`)).body.disks[0].id;
    config = (await ask(`GET ${at}/configs`)).body.configs[0].id;
  });
});

describe("A-178 members that clients require", () => {
  const some = (name: string) => expect.objectContaining({ [name]: expect.anything() });

  test.each<[string, string, Json | undefined]>([
    ["a zone", "/dns/zones", { dnszone: "habits.example", type: "master", soa_email: "a@habits.example" }],
    ["an application", "/account/clients", { name: "app", redirect_uri: "https://app.example.net/" }],
    ["a token", "/account/tokens", { scopes: "vms:view" }],
    ["a balancer", "/nodebalancers", { datacenter: "newark", label: "habits" }],
    ["a ticket", "/support/tickets", { summary: "Help", description: "Please" }],
    [
      "a script",
      "/vm/stackscripts",
      { label: "habits", script: "#!/bin/sh\ntrue", distributions: ["vm/debian11"] },
    ],
  ])("%s has an id when it is created", async (_, path, body) => {
    expect(await ask(`POST ${path}`, { body })).toEqual(answer(200, some("id")));
  });

  test("a reset secret and a new address of an instance have an id", async () => {
    const client = (
      await ask("POST /account/clients", { body: { name: "reset", redirect_uri: "https://a.example/" } })
    ).body;
    const reset = await ask(`POST /account/clients/${client.id}/reset_secret`);
    expect(reset).toEqual(successWith({ id: client.id, secret: expect.stringMatching(/^[0-9a-f]{64}$/) }));
    expect(reset.body.secret).not.toBe(client.secret);
    const address = await ask(`POST ${at}/ips`, { body: { type: "private" } });
    expect(address).toEqual(successWith({ id: address.body.address }));
  });

  test("backups have all members", async () => {
    const { body } = await ask(`GET ${at}/backups`);
    expect(Object.keys(body)).toEqual(["daily", "weekly", "snapshot"]);
    expect(Object.keys(body.snapshot).toSorted()).toEqual(["current", "in_progress"]);
  });

  test("the addresses of an instance have all members", async () => {
    const { body } = await ask(`GET ${at}/ips`);
    expect(Object.keys(body.ipv4)).toEqual(expect.arrayContaining(["public", "private", "shared"]));
    expect(Object.keys(body.ipv6)).toEqual(
      expect.arrayContaining(["addresses", "slaac", "link-local", "link_local", "global"]),
    );
  });

  test("T-8.10 profile, settings and a script's questions have all members", async () => {
    expect((await ask("GET /account/profile")).body).toEqual(some("username"));
    expect((await ask("GET /account/settings")).body).toEqual(some("email"));
    const { body } = await ask("GET /vm/stackscripts/90022");
    for (const question of body.user_defined_fields)
      expect(question).toEqual(
        expect.objectContaining({ name: expect.any(String), label: expect.any(String) }),
      );
    expect(body.user_defined_fields.every((each: Json) => "example" in each)).toBe(true);
    expect(body.user_defined_fields).not.toEqual([]);
  });

  test("enabling and disabling backups returns the instance", async () => {
    for (const [action, enabled] of [
      ["cancel", false],
      ["enable", true],
    ] as const) {
      settle();
      const response = await ask(`POST ${at}/backups/${action}`);
      expect(response).toEqual(successWith({ id, backups: expect.objectContaining({ enabled }) }));
    }
  });
});

describe("A-176 A-179 pages and totals", () => {
  test("polling for unseen events always has at least one page", async () => {
    for (let n = 0; n < 3; n += 1) {
      gateway.clock.advance(15_000);
      const { status, body } = await ask("GET /account/events/?page=1", { filter: { seen: false } });
      expect([status, Array.isArray(body.events), body.page, body.total_pages >= 1]).toEqual([
        200,
        true,
        1,
        true,
      ]);
    }
    const nothing = await ask("GET /vm/instances", { filter: { label: "nothing-has-this" } });
    expect(nothing.body).toEqual({ vms: [], page: 1, total_pages: 1, total_results: 0 });
  });

  test("later pages without the filter of the first have their own exact totals", async () => {
    const all = (await ask("GET /vm/instances")).body;
    const { body } = await ask("GET /vm/instances?page=2");
    expect([body.total_pages, body.total_results]).toEqual([all.total_pages, all.total_results]);
  });
});

describe("T-8.17 requests outside of this interface", () => {
  test.each([
    "GET /vm/volumes",
    "GET /volumes",
    "POST /vm/instances/5201/clone",
    "POST /vm/instances/5201/mutate",
    "POST /vm/instances/5201/migrate",
    "GET /images",
    "GET /tags",
    "GET /networking/firewalls",
    "GET /object-storage/buckets",
    "GET /databases/instances",
    "GET /orch/clusters",
    "GET /account/invoices",
    "GET /account/payments",
    "GET /profile/sshkeys",
    "GET /regions",
    "GET /domains",
  ])("%s gets 404 without a v4 request", async (call) => {
    expect(await ask(call, call.startsWith("POST") ? { body: {} } : {})).toEqual(errorOn(404));
    expect(gateway.takeV4Requests()).toEqual([]);
  });
});

describe("decisions that no other file tests", () => {
  test("lists of catalogs and addresses have the decided names", async () => {
    for (const [path, list] of [
      ["/vm/types", "types"],
      ["/networking/ipv4", "ipv4s"],
      ["/networking/ipv6", "ipv6_pools"],
    ] as const)
      expect(Object.keys((await ask(`GET ${path}`)).body)[0]).toBe(list);
  });

  test("T-8.15 a ticket names its subject in both ways", async () => {
    const body = { summary: "About one", description: "It is slow", vm_id: id };
    const { body: result } = await ask("POST /support/tickets", { body });
    expect(result).toMatchObject({ vm_id: id, entity: { id, type: "vm" } });
  });

  test("deleting a zone or a configuration requires modify", async () => {
    const { body: token } = await ask("POST /account/tokens", {
      body: { scopes: "vms:modify,dnszones:modify" },
    });
    const profile = { label: "to go", kernel: "vm/latest_64", disks: { sda: disk } };
    const { body: one } = await ask(`POST ${at}/configs`, { body: profile });
    expect(await ask(`DELETE ${at}/configs/${one.id}`, { as: token.token })).toEqual(done);
    const zone = { dnszone: "to-go.example", type: "master", soa_email: "a@to-go.example" };
    const { body: two } = await ask("POST /dns/zones", { body: zone });
    expect(await ask(`DELETE /dns/zones/${two.id}`, { as: token.token })).toEqual(done);
  });

  test("prices are whole cents, and countries small letters", async () => {
    for (const { hourly_price, monthly_price } of (await ask("GET /vm/types")).body.types)
      expect([hourly_price, monthly_price].every(Number.isInteger)).toBe(true);
    for (const { country } of (await ask("GET /datacenters")).body.datacenters)
      expect(country).toMatch(/^[a-z]{2}$/);
  });
});
