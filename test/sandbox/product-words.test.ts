import { beforeAll, expect, test } from "@jest/globals";
import type { TestSandbox } from "./sandbox-service.ts";
import { errorFields, items, createTestSandbox, webServer } from "./sandbox-service.ts";

let service: TestSandbox;
beforeAll(() => {
  service = createTestSandbox({ words: { vm: "acme", orch: "acmeks" } });
});

const server = { ...webServer, image: "acme/debian11" };

test.each([
  "/acme/instances",
  "/acme/instances/5201/disks",
  "/acme/kernels/acme/grub2",
  "/acme/types",
  "/acme/stackscripts",
  "/images/acme/debian11",
])("%s is served under the service's product word", async (path) => {
  expect((await service.request(`GET ${path}`)).status).toBe(200);
  expect((await service.request(`GET ${path.replaceAll("acme", "vm")}`)).status).toBe(404);
});

test.each(["/regions", "/images", "/acme/types", "/acme/kernels", "/acme/instances", "/acme/stackscripts"])(
  "%s contains no neutral word",
  async (path) => {
    expect(JSON.stringify((await service.request(`GET ${path}`)).body)).not.toMatch(
      /(?<![a-z])vms?(?![a-z])/i,
    );
  },
);

test("scopes, events and entities are renamed", async () => {
  const refused = await service.request("POST /acme/instances", { as: "readOnly", body: server });
  expect(refused.status).toBe(403);
  expect(refused.headers.get("x-oauth-scopes")).toBe("acmes:read_only");
  expect(refused.headers.get("x-accepted-oauth-scopes")).toBe("acmes:read_write");
  await service.request("POST /acme/instances/5201/reboot");
  const [event] = items(await service.request("GET /account/events"));
  expect(event).toMatchObject({
    action: "acme_reboot",
    entity: { type: "acme", url: "/v4/acme/instances/5201" },
  });
  const seeded = items(await service.request("GET /account/events", { filter: { action: "acme_create" } }));
  expect(seeded.length).toBeGreaterThan(0);
});

test("labels, images and kernels of new objects are renamed", async () => {
  const response = await service.request("POST /acme/instances", { body: server });
  expect(response.body).toMatchObject({
    label: `acme${String(response.body["id"])}`,
    image: "acme/debian11",
  });
  const configs = await service.request(`GET /acme/instances/${String(response.body["id"])}/configs`);
  expect(items(configs)).toMatchObject([{ kernel: "acme/latest-64bit" }]);
  expect((await service.request("POST /acme/instances", { body: { ...server, label: "acme" } })).status).toBe(
    200,
  );
  const neutral = await service.request("POST /acme/instances", {
    body: { ...server, image: "vm/debian11", label: "vm" },
  });
  expect(errorFields(neutral)).toEqual(["label", "image"]);
});

test("the error of a busy instance is renamed", async () => {
  await service.request("POST /acme/instances/5202/boot");
  const { body } = await service.request("POST /acme/instances/5202/boot");
  expect(body).toEqual({ errors: [{ reason: "Acme busy." }] });
});

test.each([
  "/networking/ips",
  "/networking/ips/198.18.20.81",
  "/acme/instances/5201/ips",
  "/networking/ipv6/ranges/2001:db8:e001:200::",
  "/volumes",
  "/domains",
  "/nodebalancers",
  "/account",
  "/account/events",
  "/account/notifications",
  "/account/users/dev-kai/grants",
  "/support/tickets",
  "/support/tickets/220045/replies",
  "/profile/tokens",
])("%s contains no neutral word as a name", async (path) => {
  const response = await service.request(`GET ${path}`);
  expect(response.status).toBe(200);
  expect(JSON.stringify(response.body)).not.toMatch(/(?<![a-z])(?:vms?|orch)(?:_|"|:|\/)/i);
});

test("names in request bodies are renamed", async () => {
  const ask = (request: string, body: unknown) => service.request(request, { body });
  const address = await ask("POST /networking/ips", { type: "ipv4", public: true, acme_id: 5201 });
  expect(address.body).toMatchObject({ acme_id: 5201 });
  const assignments = [{ address: address.body["address"], acme_id: 5212 }];
  expect((await ask("POST /networking/ips/assign", { region: "ap-west", assignments })).status).toBe(200);
  const share = { acme_id: 5212, ips: ["198.18.20.81"] };
  expect((await ask("POST /networking/ips/share", share)).status).toBe(200);
  expect((await ask("POST /networking/ipv6/ranges", { prefix_length: 64, acme_id: 5201 })).status).toBe(200);
  expect(
    (await ask("POST /support/tickets", { summary: "a", description: "b", acme_id: 5201 })).body,
  ).toMatchObject({
    entity: { type: "acme", url: "/v4/acme/instances/5201" },
  });
  const wall = { label: "wall", rules: {}, devices: { acmes: [5201] } };
  const firewall = await ask("POST /v4beta/networking/firewalls", wall);
  expect(firewall.status).toBe(200);
  const devices = `/v4beta/networking/firewalls/${String(firewall.body["id"])}/devices`;
  expect(items(await service.request(`GET ${devices}`))).toMatchObject([{ entity: { type: "acme" } }]);
  const grants = await ask("PUT /account/users/dev-kai/grants", {
    acme: [{ id: 5203, permissions: "read_only" }],
    global: { add_acmes: true },
  });
  expect(grants.body).toMatchObject({ global: { add_acmes: true } });
  const elsewhere = { ...server, region: "us-west" };
  expect((await service.request("POST /acme/instances", { as: "restricted", body: elsewhere })).status).toBe(
    200,
  );
  const mine = items(await service.request("GET /acme/instances", { as: "restricted" }));
  expect(mine).toHaveLength(4);
  expect((await service.request("GET /networking/ips/198.18.20.81", { as: "restricted" })).status).toBe(200);
});

test("clusters and migrations are renamed", async () => {
  const response = await service.request("POST /acmeks/clusters", {
    body: {
      label: "prod",
      region: "us-east",
      k8s_version: "1.22",
      node_pools: [{ type: "g6-standard-2", count: 1 }],
    },
  });
  expect(response.status).toBe(200);
  await service.request("POST /acme/instances/5215/migrate", { body: { region: "us-west" } });
  const actions = items(await service.request("GET /account/events")).map(({ action }) => action);
  expect(actions.slice(0, 2)).toEqual(["acme_migrate_datacenter", "acme_migrate_datacenter_create"]);
  const token = await service.request("POST /profile/tokens", {
    body: { label: "k", scopes: "acmeks:read_only" },
  });
  expect(token.status).toBe(200);
});

test("a seed file's tokens have scopes in the service's own words", async () => {
  const spelled = createTestSandbox({
    words: { vm: "acme", script: "stackscript", monitor: "longview" },
    data: {
      accounts: [
        {
          account: {},
          users: [
            {
              username: "kari",
              email: "kari@example.org",
              tokens: [{ label: "ci", scopes: "scripts:read_only monitor:read_only", token: "kari-ci" }],
            },
          ],
        },
      ],
    },
  });
  const as = { authorization: "Bearer kari-ci" };
  const { status, headers } = await spelled.request("GET /acme/stackscripts", { as });
  expect([status, headers.get("x-oauth-scopes"), headers.get("x-accepted-oauth-scopes")]).toEqual([
    200,
    "stackscripts:read_only longview:read_only",
    "stackscripts:read_only",
  ]);
});
