import { beforeAll, expect, test } from "@jest/globals";
import { errorFields, items, createTestSandbox, webServer, type TestSandbox } from "./sandbox-service.ts";

let v4: TestSandbox;
beforeAll(() => {
  v4 = createTestSandbox({ words: { vm: "acme", orch: "acmeks" } });
});

const server = { ...webServer, image: "acme/debian11" };

test.each(["/regions", "/images", "/acme/types", "/acme/kernels", "/acme/instances", "/acme/stackscripts"])(
  "%s contains no neutral word",
  async (path) => {
    expect(JSON.stringify(await v4.read(`GET ${path}`))).not.toMatch(/(?<![a-z])vms?(?![a-z])/i);
  },
);

test("scopes, events and entities are renamed", async () => {
  const refused = await v4.as("readOnly").ask("POST /acme/instances", server);
  expect(refused.status).toBe(403);
  expect(refused.headers.get("x-oauth-scopes")).toBe("acmes:read_only");
  expect(refused.headers.get("x-accepted-oauth-scopes")).toBe("acmes:read_write");
  await v4.ask("POST /acme/instances/5201/reboot");
  const [event] = await v4.list("/account/events");
  expect(event).toMatchObject({
    action: "acme_reboot",
    entity: { type: "acme", url: "/v4/acme/instances/5201" },
  });
  const seeded = await v4.list("/account/events", { action: "acme_create" });
  expect(seeded.length).toBeGreaterThan(0);
});

test("labels, images and kernels of new objects are renamed", async () => {
  const response = await v4.ask("POST /acme/instances", server);
  expect(response.body).toMatchObject({
    label: `acme${response.body.id}`,
    image: "acme/debian11",
  });
  const configs = await v4.ask(`GET /acme/instances/${response.body.id}/configs`);
  expect(items(configs)).toMatchObject([{ kernel: "acme/latest-64bit" }]);
  expect(await v4.status("POST /acme/instances", { ...server, label: "acme" })).toBe(200);
  const neutral = await v4.ask("POST /acme/instances", { ...server, image: "vm/debian11", label: "vm" });
  expect(errorFields(neutral)).toEqual(["label", "image"]);
});

test("the error of a busy instance is renamed", async () => {
  await v4.ask("POST /acme/instances/5202/boot");
  const { body } = await v4.ask("POST /acme/instances/5202/boot");
  expect(body).toEqual({ errors: [{ reason: "Acme busy." }] });
});

const WITH_NAMES =
  "/networking/ips /networking/ips/198.18.20.81 /acme/instances/5201/ips /volumes /domains /nodebalancers " +
  "/networking/ipv6/ranges/2001:db8:e001:200:: /account /account/events /account/notifications /profile/tokens " +
  "/account/users/dev-kai/grants /support/tickets /support/tickets/220045/replies";
test.each(WITH_NAMES.split(" "))("%s contains no neutral word as a name", async (path) => {
  const response = await v4.ask(`GET ${path}`);
  expect(response.status).toBe(200);
  expect(JSON.stringify(response.body)).not.toMatch(/(?<![a-z])(?:vms?|orch)(?:_|"|:|\/)/i);
});

test("names in request bodies are renamed", async () => {
  const ask = (request: string, body: unknown) => v4.ask(request, body);
  const address = await ask("POST /networking/ips", { type: "ipv4", public: true, acme_id: 5201 });
  expect(address.body).toMatchObject({ acme_id: 5201 });
  const assignments = [{ address: address.body.address, acme_id: 5212 }];
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
  const devices = `/v4beta/networking/firewalls/${firewall.body.id}/devices`;
  expect(await v4.list(devices)).toMatchObject([{ entity: { type: "acme" } }]);
  const grants = await ask("PUT /account/users/dev-kai/grants", {
    acme: [{ id: 5203, permissions: "read_only" }],
    global: { add_acmes: true },
  });
  expect(grants.body).toMatchObject({ global: { add_acmes: true } });
  const elsewhere = { ...server, region: "us-west" };
  expect(await v4.as("restricted").status("POST /acme/instances", elsewhere)).toBe(200);
  const mine = await v4.as("restricted").list("/acme/instances");
  expect(mine).toHaveLength(4);
  expect(await v4.as("restricted").status("GET /networking/ips/198.18.20.81")).toBe(200);
});

test("clusters and migrations are renamed", async () => {
  const response = await v4.ask("POST /acmeks/clusters", {
    label: "prod",
    region: "us-east",
    k8s_version: "1.22",
    node_pools: [{ type: "g6-standard-2", count: 1 }],
  });
  expect(response.status).toBe(200);
  await v4.ask("POST /acme/instances/5215/migrate", { region: "us-west" });
  const actions = (await v4.list("/account/events")).map(({ action }) => action);
  expect(actions.slice(0, 2)).toEqual(["acme_migrate_datacenter", "acme_migrate_datacenter_create"]);
  const token = await v4.ask("POST /profile/tokens", { label: "k", scopes: "acmeks:read_only" });
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
