/** A slow or faulty login server: the client gets alpha's errors, and no state is left over. */
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { request } from "../../support/request.ts";
import { RECORDING, openGateway, startGateway, type Gateway } from "../../support/gateway.ts";
import {
  json,
  plain,
  raw,
  neverRespond,
  startFakeV4,
  type Responder,
  type FakeV4,
} from "../../support/fake-v4.ts";
import { createApplication, type Application } from "./application.ts";

let login: FakeV4;
let gateway: Gateway;
let app: Application;
beforeAll(async () => {
  login = await startFakeV4();
  gateway = await startGateway({
    AUTH_URL: `${login.url}/base/`,
    UPSTREAM_TIMEOUT_MS: "4000",
    ...RECORDING,
  });
  app = createApplication(gateway.app, { id: "client", secret: "client-secret-of-this-test" });
});
afterEach(() => login.respondWith(json(200, {})));

const good = { scope: "vms:read_only", access_token: "a".repeat(64), token_type: "bearer", expires_in: 7200 };

describe("POST /oauth/token with a failing login server", () => {
  test("A-146 T-5.1 sends client_id, client_secret and code as a form, below the login server's base URL", async () => {
    login.respondWith(json(200, good));
    const multipart = new FormData();
    for (const [name, value] of [
      ["client_id", "client"],
      ["client_secret", "s+ &%"],
      ["code", "c=d"],
    ] as const)
      multipart.set(name, value);
    expect((await app.post("/oauth/token", multipart)).status).toBe(200);
    const [call] = login.calls;
    expect([call?.method, call?.path, call?.headers["content-type"]]).toEqual([
      "POST",
      "/base/oauth/token",
      "application/x-www-form-urlencoded",
    ]);
    expect(Object.fromEntries(new URLSearchParams(call?.received().toString()))).toEqual({
      client_id: "client",
      client_secret: "s+ &%",
      code: "c=d",
    });
  });

  test.each([
    [401, { error: "invalid_client", error_description: "Wrong secret." }, 401, "Wrong secret."],
    [400, { error: "invalid_grant" }, 400, "invalid_grant"],
    [403, { error: "access_denied" }, 400, "access_denied"],
    [404, {}, 400, "The request was refused."],
    [422, { error_description: { nested: true }, error: 7 }, 400, "The request was refused."],
    [429, { error: "slow_down" }, 420, "slow_down"],
  ])("translates the error %i %j to %i with its reason", async (status, body, alpha, reason) => {
    login.respondWith(json(status, body));
    const response = await app.exchange("code");
    expect([response.status, response.body]).toEqual([alpha, { errors: [{ reason }] }]);
    expect(login.calls).toHaveLength(1);
  });

  const broken: [string, Responder][] = [
    ["500", json(500, { error: "no" })],
    ["503 as HTML", plain(503, "<h1>down</h1>")],
    ["a redirect", plain(302, "", { location: "http://127.0.0.1:1/" })],
    ["200 without JSON", plain(200, "hello")],
    ["200 with an array", json(200, [good])],
    ["no token", json(200, { ...good, access_token: undefined })],
    ["a token that fits into no header", json(200, { ...good, access_token: "a\r\nb" })],
    ["no scopes", json(200, { ...good, scope: undefined })],
    ["scopes of another type", json(200, { ...good, scope: ["vms:read_only"] })],
    ["a large response", plain(200, `{"x":"${"y".repeat(100_000)}"}`)],
    ["a truncated response", raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "end")],
    ["a reset", raw("", "reset")],
    ["silence", neverRespond],
  ];
  test.each(broken)("%s gives a neutral 500 without a retry", async (_, behaviour) => {
    login.respondWith(behaviour);
    const { status, body } = await app.exchange("code");
    expect([status, body]).toEqual([
      500,
      { errors: [{ reason: expect.stringMatching(/^The service could not process this request/) }] },
    ]);
    expect(login.calls).toHaveLength(1);
  });

  test("accepts `scope`, and responses without expiry and refresh token", async () => {
    login.respondWith(json(200, { scopes: "vms:read_only", access_token: "b".repeat(64) }));
    expect((await app.exchange("code")).body).toEqual({
      scopes: "vms:view",
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("drops members that the login server adds, and keeps secrets out of the audit", async () => {
    const secrets = { access_token: "c".repeat(64), refresh_token: "d".repeat(64), id_token: "e".repeat(64) };
    login.respondWith(json(200, { ...good, ...secrets }, { "set-cookie": "a=b" }));
    const response = await app.exchange("the-code-of-this-test");
    expect(Object.keys(response.body).sort()).toEqual(["access_token", "scopes"]);
    expect(response.headers.get("set-cookie")).toBeNull();
    const [{ id }] = await gateway.readAudit();
    const record = (await gateway.requestAdmin(`GET /api/audit/${id}`)).text;
    expect(record).toContain("/oauth/token");
    for (const secret of [...Object.values(secrets), "the-code-of-this-test", "client-secret-of-this-test"])
      expect(record).not.toContain(secret);
  });
});

describe("POST /oauth/token/expire with a failing login server", () => {
  async function handedOut(letter: string): Promise<string> {
    login.respondWith(
      json(200, { ...good, access_token: letter.repeat(64), refresh_token: `refresh-${letter}` }),
    );
    const { body } = await app.exchange("code");
    login.respondWith(json(200, {}));
    return body.access_token;
  }
  const asked = () =>
    login.calls.map((call) => Object.fromEntries(new URLSearchParams(call.received().toString())));

  test("revokes the access token and the refresh token", async () => {
    const token = await handedOut("e");
    expect(await app.expire(token)).toMatchObject({ status: 200, body: {} });
    const credentials = { client_id: "client", client_secret: "client-secret-of-this-test" };
    expect(asked()[0]).toEqual({ ...credentials, token: "e".repeat(64), token_type_hint: "access_token" });
    expect(asked()).toContainEqual({ ...credentials, token: "refresh-e", token_type_hint: "refresh_token" });
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(401);
  });

  test("does nothing for another client than that of the token, which has no refresh token", async () => {
    login.respondWith(json(200, { ...good, access_token: "h".repeat(64) }));
    const { body } = await app.exchange("code");
    login.respondWith(json(200, {}));
    const other = { client_id: "other", client_secret: "other-secret" };
    expect(await app.expire(body.access_token, other)).toMatchObject({
      status: 400,
      body: { errors: [{ reason: "The token belongs to another client." }] },
    });
    expect(asked()).toEqual([]);
    expect((await app.expire(body.access_token)).status).toBe(200);
    expect(asked()[0]).toMatchObject({ client_id: "client", token: "h".repeat(64) });
  });

  test("does nothing for a personal token, which no application has", async () => {
    const { body } = await gateway.request("POST /account/tokens", {
      body: { label: "mine", scopes: "vms:view" },
    });
    expect((await app.expire(body.token)).status).toBe(400);
    expect(asked()).toEqual([]);
    expect((await gateway.request("GET /vm/instances", { as: body.token })).status).toBe(200);
  });

  test("accepts a token that is revoked already", async () => {
    const token = await handedOut("i");
    expect([(await app.expire(token)).status, (await app.expire(token)).status]).toEqual([200, 200]);
  });

  test.each([
    ["is down", plain(503, ""), 500],
    ["refuses", json(401, { error: "invalid_client" }), 401],
  ] as [string, Responder, number][])(
    "revokes nothing while the login server %s",
    async (_, behaviour, status) => {
      const token = await handedOut(status === 500 ? "f" : "g");
      login.respondWith(behaviour);
      expect((await app.expire(token)).status).toBe(status);
      login.respondWith(json(200, {}));
      expect((await app.expire(token)).status).toBe(200);
    },
  );
});

test("OAuth paths get 404 without a login server", async () => {
  const bare = await openGateway({ UPSTREAM_URL: gateway.sandbox.url });
  const { status, body } = await request(bare.app, "GET /oauth/authorize?client_id=a");
  expect([status, body]).toEqual([404, { errors: [{ reason: "Not found" }] }]);
  await bare.stop();
});
