/** The page of an application: with its id and its secret, about the calls of all its tokens. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { createApplication, REGISTERED } from "../../gateway/oauth/application.ts";
import { basic, comparable, PAGE_ON, readPage } from "./read-page.ts";

describe("the page of an application", () => {
  let gateway: Gateway;
  let client: { id: string; secret: string };
  let first: string;
  let second: string;
  let revoked: string;

  beforeAll(async () => {
    gateway = await startGateway(PAGE_ON);
    const register = async (label: string) =>
      (await gateway.requestV4("POST /account/oauth-clients", { body: { label, redirect_uri: REGISTERED } }))
        .body;
    client = await register("app");
    const app = createApplication(gateway.app, client);
    const other = createApplication(gateway.app, await register("other"));
    const sign = async (from: typeof app) => (await from.token("vms:modify")).token;
    first = await sign(app);
    second = await sign(app);
    revoked = await sign(app);
    await gateway.request("GET /vm/instances", { as: first });
    await gateway.request("GET /vm/instances/1", { as: second });
    await gateway.request("GET /vm/instances/1", { as: second });
    await gateway.request("DELETE /vm/instances/1/disks/1", { as: revoked });
    await app.expire(revoked);
    await gateway.request("GET /vm/instances/1/ips", { as: await sign(other) });
  });

  const routesOf = async (options: Parameters<typeof readPage>[1]) =>
    Object.fromEntries(
      (await readPage(gateway, options)).body.routes.map((each: { route: string; requests: number }) => [
        each.route,
        each.requests,
      ]),
    );

  test("shows the calls of all its tokens and its calls to the login server, and of no other application", async () => {
    const { status, body } = await readPage(gateway, { as: null, headers: basic(client.id, client.secret) });
    expect(status).toBe(200);
    expect(body).toMatchObject({ calls_of: "application", state: "not begun" });
    expect(await routesOf({ as: null, headers: basic(client.id, client.secret) })).toEqual({
      "GET /vm/instances": 1,
      "GET /vm/instances/:id": 2,
      "DELETE /vm/instances/:id/disks/:did": 1,
      "POST /oauth/token": 3,
      "POST /oauth/token/expire": 1,
    });
    for (const [route, calls] of [
      ["POST /oauth/token", ["GET /oauth/authorize", "POST /oauth/token"]],
      ["POST /oauth/token/expire", ["POST /oauth/revoke"]],
    ])
      expect(body.routes.find((each: { route: string }) => each.route === route)).toMatchObject({
        counterpart: "call",
        calls,
        reason: null,
      });
    expect(body.scopes.upstream).toEqual(["vms:read_write"]);
    expect(JSON.stringify(body)).not.toContain(client.id);
  });

  test("shows one of its users' tokens the calls of that token alone", async () => {
    expect(await routesOf({ as: first })).toEqual({ "GET /vm/instances": 1 });
    expect(await routesOf({ as: second })).toEqual({ "GET /vm/instances/:id": 2 });
    expect((await readPage(gateway, { as: first })).body).toMatchObject({
      calls_of: "token",
      state: "not begun",
    });
  });

  test("gives a revoked token the answer of an unknown one", async () => {
    const unknown = comparable(await readPage(gateway, { as: "made-up" }));
    expect(comparable(await readPage(gateway, { as: revoked }))).toEqual(unknown);
    expect(unknown).toMatchObject({ status: 401 });
  });

  test("has its id in the record of a read, and no secret", async () => {
    await readPage(gateway, { as: null, headers: basic(client.id, client.secret) });
    const [record] = await gateway.readAudit();
    expect(record).toMatchObject({
      client: { application: client.id, fingerprint: null, accepted: true },
      alpha: { route: "GET /migration", status: 200 },
    });
    expect(JSON.stringify(record)).not.toContain(client.secret);
    await readPage(gateway, { as: null, headers: basic(client.id, `${client.secret}x`) });
    const [failed] = await gateway.readAudit();
    expect(failed).toMatchObject({ client: { fingerprint: null }, alpha: { status: 401 } });
    expect(failed.client).not.toHaveProperty("application");
    expect(JSON.stringify(failed)).not.toContain(client.secret);
  });

  test("is read with form-encoded credentials, as RFC 6749 has them", async () => {
    const encoded = client.id.replaceAll(/./g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
    const { status } = await readPage(gateway, { as: null, headers: basic(encoded, client.secret) });
    expect(status).toBe(200);
  });

  test.each([
    ["a wrong secret", () => basic(client.id, "0".repeat(64))],
    ["no secret", () => basic(client.id, "")],
    ["an id with a NUL, which a store may not take", () => basic("a\0b", client.secret)],
    ["the secret of nobody", () => basic("", client.secret)],
    ["an unknown application", () => basic("unknown", client.secret)],
    [
      "credentials without a colon",
      () => ({ authorization: `Basic ${Buffer.from(client.id).toString("base64")}` }),
    ],
    ["broken credentials", () => ({ authorization: "Basic !" })],
    ["a token as its secret", () => basic(client.id, first)],
  ])("gives %s the one answer of everybody who is unknown", async (_, headers) => {
    const unknown = comparable(await readPage(gateway, { as: null }));
    expect(comparable(await readPage(gateway, { as: null, headers: headers() }))).toEqual(unknown);
    expect(unknown).toMatchObject({
      status: 401,
      headers: { "www-authenticate": 'Basic realm="migration", charset="UTF-8"' },
    });
  });
});

describe("a login server", () => {
  let gateway: GatewayWithFakeV4;
  beforeAll(async () => {
    gateway = await startGatewayWithFakeV4(PAGE_ON);
  });

  test("that accepts any secret proves no application", async () => {
    gateway.v4.respondWith(json(200, {}));
    expect((await readPage(gateway, { as: null, headers: basic("app", "secret") })).status).toBe(401);
    gateway.v4.respondWith(json(200, {}), json(401, { error: "invalid_client" }));
    expect((await readPage(gateway, { as: null, headers: basic("app", "secret") })).status).toBe(200);
  });

  test.each([400, 401, 403, 404])("that answers %i knows no application", async (status) => {
    gateway.v4.respondWith(json(status, { error: "invalid_client" }));
    expect((await readPage(gateway, { as: null, headers: basic("app", "secret") })).status).toBe(401);
  });

  test.each([302, 500, 503])(
    "that answers %i fails, which says nothing about an application",
    async (status) => {
      gateway.v4.respondWith(json(status, {}));
      expect((await readPage(gateway, { as: null, headers: basic("app", "secret") })).status).toBe(500);
    },
  );
});
