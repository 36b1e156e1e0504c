/** OAuth: an application signs a user in, with the gateway between it and a real login server. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { RECORDING, startGateway } from "../../support/gateway.ts";
import { request } from "../../support/request.ts";
import { createApplication, CLIENT, REGISTERED, SECRET, type Application } from "./application.ts";
import { startForTests } from "../../support/start-for-tests.ts";

let app: Application;
const gateway = startForTests(() => startGateway(RECORDING));
beforeEach(async () => {
  // Each test has its own client, since the gateway stores requested scopes by client.
  const { body } = await gateway.requestV4("POST /account/oauth-clients", {
    body: { label: "app", redirect_uri: REGISTERED },
  });
  app = createApplication(gateway.app, { id: body.id, secret: body.secret });
});

const codeOf = async (scopes?: string): Promise<string> =>
  (await app.signIn(scopes)).searchParams.get("code") ?? "";

async function sentOn(
  query: Readonly<Record<string, string>> | string,
): Promise<{ status: number; location: URL | undefined; raw: string }> {
  const response = await app.visit(app.authorizeUrl(query));
  const raw = response.headers.get("location") ?? "";
  return { status: response.status, location: raw === "" ? undefined : new URL(raw), raw };
}

describe("GET /oauth/authorize", () => {
  test.each([
    ["no client", ""],
    ["an empty client", "client_id="],
    ["a client twice", "client_id=a&client_id=b"],
    ["state twice", "client_id=a&state=1&state=2"],
    ["redirect_uri twice", "client_id=a&redirect_uri=https://a&redirect_uri=https://b"],
  ])("A-141 rejects %s without a redirect", async (_, query) => {
    const response = await app.visit(app.authorizeUrl(query));
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
    expect(response.body).toEqual({ errors: [{ reason: expect.any(String) }] });
  });

  test("A-141 an unknown client is rejected by the login server, without a redirect", async () => {
    const { status, location, raw } = await sentOn({ client_id: "unknown" });
    expect([status, location?.origin]).toEqual([302, gateway.sandbox.authUrl]);
    const page = await app.visit(raw);
    expect([page.status, page.headers.get("location")]).toEqual([400, null]);
  });

  test.each([
    ["vms:view", "vms:read_only,events:read_only"],
    ["vms:modify", "vms:read_write,events:read_only"],
    ["vms:create,dnszones:view", "vms:read_write,domains:read_only,events:read_only"],
    ["vms:delete", "vms:read_write,events:read_only"],
    ["vms:*", "vms:read_write,events:read_only"],
    ["vms", "vms:read_write,events:read_only"],
    ["vms:view,vms:delete,vms:view", "vms:read_write,events:read_only"],
    ["*", "*"],
    ["vms:view,*", "*"],
    ["events:modify", "events:read_write"],
    ["tickets:view,clients:modify", "account:read_write,events:read_only"],
    ["scripts:view", "scripts:read_only,events:read_only"],
    [" vms:view , ips:view ", "vms:read_only,ips:read_only,events:read_only"],
    ["vms:view,cats:delete,vms:fly,:,__proto__:view,vms:view:delete", "vms:read_only,events:read_only"],
  ])("A-142 scopes %s become v4's %s", async (scopes, v4) => {
    const { status, location } = await sentOn({ client_id: "a", scopes });
    expect(status).toBe(302);
    expect(location?.origin).toBe(gateway.sandbox.authUrl);
    expect(Object.fromEntries(location?.searchParams ?? [])).toEqual({
      client_id: "a",
      response_type: "code",
      scope: v4,
      scopes: v4,
    });
  });

  test.each(["cats:view", "vms:fly,cats:delete", ":", "vms:view:delete"])(
    "A-142 rejects unknown scopes %s by name, without a redirect",
    async (scopes) => {
      const response = await app.visit(app.authorizeUrl({ client_id: "a", scopes }));
      expect([response.status, response.headers.get("location")]).toEqual([400, null]);
      expect(response.body).toEqual({ errors: [{ reason: `invalid_scope: ${scopes}` }] });
    },
  );

  test.each([{}, { scopes: "" }])("A-142 requests no scope for %j", async (query) => {
    const { location } = await sentOn({ client_id: "a", ...query });
    expect(Object.fromEntries(location?.searchParams ?? [])).toEqual({
      client_id: "a",
      response_type: "code",
    });
  });

  test("A-142 drops an unknown scope, and records it as a loss", async () => {
    await sentOn({ client_id: "a", scopes: "vms:view,cats:delete,vms:fly" });
    const [{ id }] = await gateway.readAudit();
    const record = (await gateway.requestAdmin(`GET /api/audit/${id}`)).body;
    expect(record).toMatchObject({ losses: ["scopes: unknown, not asked for: cats:delete,vms:fly"] });
  });

  test.each([
    ["state", "state=x;scope=*;y"],
    ["redirect_uri", "redirect_uri=https://a.example/;scope=*"],
  ])("sends %s as one parameter, also to a login server that splits at semicolons", async (_, query) => {
    const { raw, location } = await sentOn(`scopes=vms:view&client_id=${CLIENT}&${query}`);
    expect(raw).not.toContain(";");
    const [name = "", value] = query.split(/=(.*)/s);
    expect(location?.searchParams.get(name)).toBe(value);
  });

  test.each(["a+b", "a%20b", "%FF%fe", "%C3%A9", "a=b", "", "%26x%3D1%23", "~.*()!", "x".repeat(2000)])(
    "A-144 L-23 forwards and returns state %s byte for byte",
    async (state) => {
      const query = `scopes=vms:view&state=${state}&client_id=${CLIENT}`;
      expect(`${(await sentOn(query)).raw}&`).toContain(`&state=${state}&`);
      const back = await app.signIn(undefined, { authorize: app.authorizeUrl(query) });
      expect(back.search.endsWith(`&state=${state}`)).toBe(true);
    },
  );

  test.each([
    [undefined, REGISTERED],
    [`${REGISTERED}/deeper?x=1`, `${REGISTERED}/deeper`],
    ["https://evil.example/callback", REGISTERED],
    [`${REGISTERED}-evil`, REGISTERED],
    [`${REGISTERED}/../evil`, REGISTERED],
  ])("A-143 redirect_uri %s leads to %s", async (redirect_uri, target) => {
    const query = { client_id: CLIENT, ...(redirect_uri !== undefined && { redirect_uri }) };
    const back = await app.signIn(undefined, { authorize: app.authorizeUrl(query) });
    expect(back.origin + back.pathname).toBe(target);
  });

  test("A-145 redirects back with code, username and email", async () => {
    const back = await app.signIn("vms:view");
    expect(Object.fromEntries(back.searchParams)).toEqual({
      code: expect.any(String),
      username: "ops-anna",
      email: "anna@example.net",
    });
  });

  test("redirects back without a code if the user denies access", async () => {
    const back = await app.signIn("vms:view", { decision: "deny" });
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: "access_denied",
      error_description: expect.any(String),
    });
  });
});

test("GET /logout redirects to the login server's logout, which deletes its cookie", async () => {
  const sent = await request(gateway.app, "GET /logout");
  expect([sent.status, sent.headers.get("location")]).toEqual([302, `${gateway.sandbox.authUrl}/logout`]);
  const page = await request(gateway.sandbox.authUrl, "GET /logout");
  expect(page.status).toBe(200);
  expect(page.headers.get("set-cookie")).toMatch(/^sandbox_browser=; .*Max-Age=0/);
  expect((await request(gateway.app, "POST /logout")).status).toBe(404);
});

describe("POST /oauth/token", () => {
  test("A-147 returns only scopes and access_token, with alpha's scopes", async () => {
    const { status, body, headers } = await app.exchange(await codeOf("vms:create,dnszones:view"));
    expect(status).toBe(200);
    expect(body).toEqual({
      scopes: "vms:create,dnszones:view",
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(headers.get("x-v4-equivalent")).toBe("POST /oauth/token");
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await gateway.request("GET /vm/instances", { as: body.access_token })).status).toBe(200);
  });

  test("A-146 accepts multipart/form-data", async () => {
    const { body } = await gateway.requestV4("POST /account/oauth-clients", {
      body: { label: "app", redirect_uri: REGISTERED },
    });
    const other = createApplication(gateway.app, { id: body.id, secret: body.secret });
    const form = new FormData();
    form.set("client_id", body.id);
    form.set("client_secret", body.secret);
    form.set("code", (await other.signIn("vms:view")).searchParams.get("code") ?? "");
    expect(await app.post("/oauth/token", form)).toMatchObject({ status: 200, body: { scopes: "vms:view" } });
  });

  test.each([
    ["a wrong secret", { client_secret: "0".repeat(64) }, 401],
    ["an unknown client", { client_id: "unknown" }, 401],
    ["an unknown code", { code: "0".repeat(64) }, 400],
  ])("A-146 gives no token for %s", async (_, change, status) => {
    const { status: result, body } = await app.exchange(await codeOf("vms:view"), change);
    expect([result, body]).toEqual([status, { errors: [{ reason: expect.any(String) }] }]);
  });

  test("A-146 accepts a code once", async () => {
    const code = await codeOf("vms:view");
    const { body } = await app.exchange(code);
    expect((await app.exchange(code)).status).toBe(400);
    expect((await gateway.request("GET /vm/instances", { as: body.access_token })).status).toBe(401);
  });

  test("reports all missing members together, without asking the login server", async () => {
    const { status, body } = await app.post("/oauth/token", { code: "" });
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      { reason: "client_id is required." },
      { reason: "client_secret is required." },
      { reason: "code is required." },
    ]);
  });

  test.each([
    ["JSON", "{}", "application/json"],
    ["no type", "code=x", ""],
    ["a broken multipart form", "--x", "multipart/form-data; boundary=x"],
    ["a multipart form without a boundary", "x", "multipart/form-data"],
    ["a member twice", "code=a&code=b&client_id=c&client_secret=d", "application/x-www-form-urlencoded"],
    ["a long body", `code=${"x".repeat(70_000)}`, "application/x-www-form-urlencoded"],
  ])("rejects %s with 400", async (_, body, type) => {
    expect((await app.post("/oauth/token", body, type)).status).toBe(400);
  });

  test("A-140 the secret appears in no redirect, no response and not in the audit", async () => {
    const code = await codeOf("vms:view");
    const response = await app.exchange(code, { client_id: CLIENT, client_secret: SECRET });
    const [{ id }] = await gateway.readAudit();
    const record = (await gateway.requestAdmin(`GET /api/audit/${id}`)).text;
    expect(response.text).not.toContain(SECRET);
    expect(record).toContain("POST /oauth/token");
    for (const secret of [SECRET, code]) expect(record).not.toContain(secret);
  });

  test("token and code are not in the audit", async () => {
    const code = await codeOf("vms:view");
    const { body } = await app.exchange(code);
    const newest = (await gateway.requestAdmin(`GET /api/audit?limit=3`)).text;
    for (const secret of [code, body.access_token]) expect(newest).not.toContain(secret);
  });
});

describe("least privilege", () => {
  test("A-155 L-22 if less is granted than requested, the token reports and permits only that", async () => {
    const { token, scopes } = await app.token("vms:delete,dnszones:modify", {
      scopes: ["vms:read_only", "domains:read_write", "events:read_only"],
    });
    expect(scopes).toBe("vms:view,dnszones:modify");
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(200);
    expect((await gateway.request("DELETE /vm/instances/5201", { as: token })).status).toBe(403);
  });

  test("A-155 L-22 a token for vms:modify cannot delete, without a v4 request", async () => {
    const { token, scopes } = await app.token("vms:modify");
    expect(scopes).toBe("vms:modify");
    expect(
      (await gateway.request("PUT /vm/instances/5201", { as: token, body: { group: "g" } })).status,
    ).toBe(200);
    gateway.takeV4Requests();
    expect(await gateway.request("DELETE /vm/instances/5201", { as: token })).toMatchObject({
      status: 403,
      body: { errors: [{ reason: expect.any(String) }] },
    });
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("A-150 a token without scopes shows only user name and e-mail of the profile", async () => {
    const { token, scopes } = await app.token("");
    expect(scopes).toBe("");
    const { body: whole } = await gateway.request("GET /account/profile");
    expect(await gateway.request("GET /account/profile", { as: token })).toMatchObject({
      status: 200,
      body: {
        username: "ops-anna",
        email: "anna@example.net",
        timezone: "",
        email_notifications: false,
        referrals: { code: "", url: "", total: 0, completed: 0, pending: 0, credit: 0 },
        ip_whitelist_enabled: false,
        lish_auth_method: "",
        authorized_keys: null,
        two_factor_auth: false,
      },
    });
    expect(Object.keys((await gateway.request("GET /account/profile", { as: token })).body)).toEqual(
      Object.keys(whole),
    );
    for (const call of [
      "GET /vm/instances",
      "GET /account/profile/grants",
      "GET /account/events",
      "GET /account/settings",
      "GET /account/users",
      "GET /account/users/ops-anna/grants",
      "POST /account/profile/tfa-disable",
    ])
      expect([call, (await gateway.request(call, { as: token })).status]).toEqual([call, 403]);
    const edit = { as: token, body: { timezone: "Europe/Berlin" } };
    expect((await gateway.request("PUT /account/profile", edit)).status).toBe(403);
  });

  test("A-150 a token with any scope shows the whole profile", async () => {
    const { token } = await app.token("vms:view");
    const { body } = await gateway.request("GET /account/profile", { as: token });
    expect(body.timezone).not.toBe("");
  });

  test("the narrowest request of the last hour that fits the grant counts", async () => {
    await app.signIn("vms:modify");
    expect((await app.token("dnszones:view")).scopes).toBe("dnszones:view");
    expect((await app.token("vms:delete")).scopes).toBe("vms:modify");
    expect((await app.token("vms:view,dnszones:view")).scopes).toBe("vms:view,dnszones:view");
    expect((await app.token("vms:delete", { scopes: ["vms:read_only"] })).scopes).toBe("vms:view");
  });

  test("without a request, in a new store, a client gets the lowest levels of its grant", async () => {
    const { body } = await gateway.requestV4("POST /account/oauth-clients", {
      body: { label: "direct", redirect_uri: REGISTERED },
    });
    const direct = createApplication(gateway.sandbox.authUrl, { id: body.id, secret: body.secret });
    const back = await direct.signIn("vms:read_write account:read_only");
    const through = createApplication(gateway.app, { id: body.id, secret: body.secret });
    const { body: result } = await through.exchange(back.searchParams.get("code") ?? "");
    expect(result.scopes).toBe("vms:modify,account:view,tokens:view,clients:view,users:view,tickets:view");
  });

  test.each([
    ["*", "*"],
    ["vms:*", "vms:delete"],
    ["scripts:create", "stackscripts:create"],
  ])("A-152 A-153 requested %s, returned %s", async (asked, result) => {
    expect((await app.token(asked)).scopes).toBe(result);
  });
});

describe("POST /oauth/token/expire", () => {
  test("ends a token, at v4 too", async () => {
    const { token } = await app.token("vms:view");
    expect(await app.expire(token)).toMatchObject({ status: 200, body: {} });
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(401);
  });

  test("does nothing with a wrong secret", async () => {
    const { token } = await app.token("vms:view");
    expect((await app.expire(token, { client_secret: "wrong" })).status).toBe(401);
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(200);
  });

  test("does nothing for another client", async () => {
    const { token } = await app.token("vms:view");
    expect((await app.expire(token, { client_id: CLIENT, client_secret: SECRET })).status).toBe(400);
    expect((await gateway.request("GET /vm/instances", { as: token })).status).toBe(200);
  });

  test("reports missing members", async () => {
    expect((await app.post("/oauth/token/expire", {})).body.errors).toHaveLength(3);
  });
});

describe("other OAuth requests", () => {
  test.each([
    "POST /oauth/authorize",
    "GET /oauth/token",
    "GET /oauth/token/expire",
    "GET /oauth/revoke",
    "POST /oauth",
  ])("%s gets 404 in alpha's error shape", async (call) => {
    const { status, body } = await request(gateway.app, call);
    expect([status, body]).toEqual([404, { errors: [{ reason: "Not found" }] }]);
  });

  test("are rate limited by address with alpha's status", async () => {
    const small = await startGateway({ RATE_LIMIT: "2/60" });
    const authorize = () => request(small.app, "GET /oauth/authorize?client_id=a");
    await authorize();
    await authorize();
    const refused = await authorize();
    expect([refused.status, refused.statusText]).toEqual([420, "Enhance Your Calm"]);
    expect(refused.headers.get("retry-after")).toMatch(/^[1-9]/);
    await small.stop();
  });

  test("have their own route names in the metrics", async () => {
    await app.token("vms:view");
    const metrics = (await gateway.requestAdmin(`GET /metrics`)).text;
    expect(metrics).toMatch(/requests_total\{lane="alpha",route="POST \/oauth\/token",status="200"\}/);
    expect(metrics).toMatch(/requests_total\{lane="alpha",route="GET \/oauth\/authorize",status="302"\}/);
  });
});
