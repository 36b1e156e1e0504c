/** The application behind a token: it is in the records of its users' requests, and of its calls to the login server. */
import { beforeAll, expect, test } from "@jest/globals";
import { RECORDING, startGateway, type Gateway } from "../../support/gateway.ts";
import { request } from "../../support/request.ts";
import { createApplication, REGISTERED, type Application } from "./application.ts";

let gateway: Gateway;
let app: Application;
let client: { id: string; secret: string };
beforeAll(async () => {
  gateway = await startGateway(RECORDING);
  const { body } = await gateway.requestV4("POST /account/oauth-clients", {
    body: { label: "app", redirect_uri: REGISTERED },
  });
  client = body;
  app = createApplication(gateway.app, client);
});

const lastClient = async () => (await gateway.readAudit())[0]?.client;

test("a translated request with an issued token has the id of its application", async () => {
  const { token } = await app.token("vms:view");
  await gateway.request("GET /vm/instances", { as: token });
  expect(await lastClient()).toMatchObject({ application: client.id, accepted: true });
});

test("a public catalog that is read with an issued token has the id of its application", async () => {
  const { token } = await app.token("vms:view");
  await gateway.request("GET /datacenters", { as: token });
  expect(await lastClient()).toMatchObject({ application: client.id, accepted: true });
});

test("a forwarded request with an issued token has the id of its application", async () => {
  const { token } = await app.token("vms:view");
  await gateway.request("GET /v4/linode/instances", {
    as: null,
    headers: { authorization: `Bearer ${token}` },
  });
  const [record] = await gateway.readAudit();
  expect(record).toMatchObject({ lane: "native", client: { application: client.id, accepted: true } });
});

test("the exchange of a code has the id of its application, which the login server has accepted", async () => {
  await app.token("vms:view");
  expect(await lastClient()).toMatchObject({ application: client.id, fingerprint: null, accepted: true });
});

test("revoking a token has the id of its application", async () => {
  const { token } = await app.token("vms:view");
  await app.expire(token);
  expect(await lastClient()).toMatchObject({ application: client.id, accepted: true });
});

test("a request with a token that was revoked is not accepted", async () => {
  const { token } = await app.token("vms:view");
  await app.expire(token);
  await gateway.request("GET /vm/instances", { as: token });
  expect(await lastClient()).toMatchObject({ accepted: false });
});

test.each([
  ["a failed exchange", () => app.exchange("nothing")],
  ["a redirect to the login server", () => app.visit(app.authorizeUrl({ client_id: client.id }))],
  [
    "an exchange with Basic credentials, which need a form",
    () =>
      request(gateway.app, "POST /oauth/token", {
        raw: new URLSearchParams({ code: "nothing" }),
        headers: {
          authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`,
        },
      }),
  ],
])("%s has the id that it names, and is not accepted", async (_, send) => {
  await send();
  expect(await lastClient()).toMatchObject({ application: client.id, accepted: false });
});

test("a request with a token that the gateway did not issue has no application", async () => {
  await gateway.request("GET /vm/instances");
  expect(await lastClient()).not.toHaveProperty("application");
});

test("no secret of an application is in a record", async () => {
  await app.exchange("nothing", { client_id: client.secret });
  await request(gateway.app, "POST /oauth/token", {
    raw: new URLSearchParams({ code: "nothing" }),
    headers: { authorization: `Basic ${Buffer.from(client.secret).toString("base64")}` },
  });
  expect(JSON.stringify(await gateway.readAudit())).not.toContain(client.secret);
});

test("all tokens of an application are one client in the summaries, with the calls to the login server that prove it", async () => {
  const { body } = await gateway.requestV4("POST /account/oauth-clients", {
    body: { label: "other", redirect_uri: REGISTERED },
  });
  const other = createApplication(gateway.app, body);
  const key = `application:${body.id}`;
  for (const _ of [1, 2]) {
    const { token } = await other.token("vms:view");
    await gateway.request("GET /vm/instances", { as: token });
  }
  await other.visit(other.authorizeUrl({ client_id: body.id }));
  await other.exchange("nothing");
  const usage = async (name: string) =>
    (await gateway.requestAdmin(`GET /api/usage/${name}?client=${encodeURIComponent(key)}`)).body;
  const { clients } = await usage("clients");
  expect(clients).toMatchObject([{ client: key, application: body.id, tokens: 2 }]);
  const { routes } = await usage("routes");
  const counts = Object.fromEntries(
    routes.map(({ route, requests }: { route: string; requests: number }) => [route, requests]),
  );
  // Anybody can send a redirect and a failed exchange.
  expect(counts).toEqual({ "POST /oauth/token": 2, "GET /vm/instances": 2 });
  const named = await gateway.requestAdmin(`GET /api/audit?client=${encodeURIComponent(key)}&limit=2`);
  expect(named.body.records.map(({ alpha }: { alpha: { route: string } }) => alpha.route)).toEqual([
    "POST /oauth/token",
    "GET /oauth/authorize",
  ]);
});
