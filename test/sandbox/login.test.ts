import { beforeEach, describe, expect, test } from "@jest/globals";
import { request, type TestResponse } from "../support/request.ts";
import { createTestSandbox, type TestSandbox } from "./sandbox-service.ts";
import {
  formOf,
  openPage as openPageOf,
  signIn as signInAt,
  visit,
  type Applications,
  type SignIn,
} from "./sign-in.ts";

let v4: TestSandbox;
beforeEach(() => {
  v4 = createTestSandbox();
});

const client = "9f0c1d2e3b4a59687766";
const secret = "5a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877";
const registered = "https://app.example.net/callback";

const ORIGIN = "http://login.example";
const applications = (): Applications => ({ [ORIGIN]: v4.sandbox.loginListener });

const address = (query: Record<string, string> | string): string =>
  `${ORIGIN}/oauth/authorize?${typeof query === "string" ? query : new URLSearchParams(query).toString()}`;

const openPage = (url: string) => openPageOf(url, applications());
const signIn = (how: SignIn): Promise<URL> => signInAt({ ...how, applications: applications() });
const open = (url: string): Promise<TestResponse> => visit("GET", new URL(url), applications());
const decide = (form: URLSearchParams, headers: Record<string, string>): Promise<TestResponse> =>
  visit("POST", new URL("/oauth/authorize", ORIGIN), applications(), { headers, raw: form });

const code = async (scope = "vms:read_write"): Promise<string> =>
  (await signIn({ authorize: address({ client_id: client, scope }) })).searchParams.get("code") ?? "";

const post = (path: string, form: Record<string, string> | FormData | string): Promise<TestResponse> =>
  request(v4.sandbox.loginListener, `POST ${path}`, {
    raw: typeof form === "string" || form instanceof FormData ? form : new URLSearchParams(form),
  });

const credentials = { client_id: client, client_secret: secret };
const exchange = async (form: Record<string, string> = {}): Promise<TestResponse> =>
  post("/oauth/token", { ...credentials, code: form.code ?? (await code()), ...form });
const renew = (refresh: unknown): Promise<TestResponse> =>
  post("/oauth/token", { ...credentials, grant_type: "refresh_token", refresh_token: String(refresh) });
const works = async (token: unknown): Promise<number> =>
  await v4.as({ authorization: `Bearer ${String(token)}` }).status("GET /vm/instances");

describe("the consent page", () => {
  test("V-172 shows which application requests which levels, without scripts", async () => {
    const { html } = await openPage(
      address({ client_id: client, scope: "vms:read_write domains:read_only" }),
    );
    expect(html).toContain("inventory tool");
    expect([...formOf(html).getAll("scope")]).toEqual(["vms:read_write", "domains:read_only"]);
    expect(html).toContain("ops-anna");
    expect(html).not.toContain("<script");
  });

  const AREAS =
    "account databases domains events firewall images ips vms orch monitor maintenance loadbalancers " +
    "object_storage scripts volumes";
  test.each(AREAS.split(" "))("offers the scope area %s, as v4's list of areas has it", async (area) => {
    const { html } = await openPage(address({ client_id: client, scope: `${area}:read_only` }));
    expect(formOf(html).getAll("scope")).toEqual([`${area}:read_only`]);
  });

  test.each(["longview:read_only", "maintenance:read_write", "vms:delete", "vms:read_only:x"])(
    "rejects %s, which is not a scope of v4",
    async (scope) => {
      const response = await open(address({ client_id: client, scope }));
      const location = new URL(response.headers.get("location") ?? "");
      expect(location.searchParams.get("error")).toBe("invalid_scope");
    },
  );

  test("V-172 A-145 redirects to the client with code, username, email and state", async () => {
    const back = await signIn({
      authorize: address({ client_id: client, scope: "vms:read_only", state: "s" }),
    });
    expect(back.origin + back.pathname).toBe(registered);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      code: expect.stringMatching(/^[0-9a-f]{64}$/),
      username: "ops-anna",
      email: "anna@example.net",
      state: "s",
    });
  });

  test.each(["a+b", "a%20b", "%FF%fe", "%C3%A9", "a=b", "", "%26x%3D1", "~.*()"])(
    "A-144 returns state %s byte for byte",
    async (state) => {
      const authorize = address(`client_id=${client}&state=${state}&scope=vms:read_only`);
      for (const response of ["allow", "deny"] as const) {
        const back = await signIn({ authorize, decision: response });
        expect(back.search.endsWith(`&state=${state}`)).toBe(true);
      }
    },
  );

  test("a denied request redirects to the client without a code", async () => {
    const back = await signIn({ authorize: address({ client_id: client, scope: "*" }), decision: "deny" });
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: "access_denied",
      error_description: "The user did not allow it.",
    });
  });

  test.each([
    ["no client", ""],
    ["an unknown client", "client_id=unknown"],
    ["two clients", `client_id=${client}&client_id=${client}`],
  ])("A-141 rejects %s without a redirect", async (_, query) => {
    const response = await open(address(query));
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  });

  test.each([
    [`${registered}/deeper?x=1`, `${registered}/deeper?x=1`],
    [`${registered}?x=1`, `${registered}?x=1`],
    [undefined, registered],
    ["https://evil.example/callback", registered],
    [`${registered}-evil`, registered],
    [`${registered}/../elsewhere`, registered],
    [`${registered}/%2e%2e/elsewhere`, registered],
    ["https://app.example.net@evil.example/callback", registered],
    ["https://app.example.net\\@evil.example/callback", registered],
    [`${registered}#fragment`, registered],
    ["//evil.example", registered],
    ["javascript:alert(1)", registered],
  ])("A-143 redirect_uri %s leads to %s", async (asked, target) => {
    const query = { client_id: client, ...(asked !== undefined && { redirect_uri: asked }) };
    const back = await signIn({ authorize: address(query), decision: "deny" });
    expect(back.href).toBe(
      `${target}${target.includes("?") ? "&" : "?"}error=access_denied&error_description=The%20user%20did%20not%20allow%20it.`,
    );
  });

  test("an unknown scope and an unsupported flow are reported to the client", async () => {
    for (const [query, error, description] of [
      [{ scope: "cats:read_only" }, "invalid_scope", "There is no scope cats:read_only."],
      [{ response_type: "token" }, "unsupported_response_type", "The response_type must be code."],
    ] as const) {
      const response = await open(address({ client_id: client, ...query }));
      const location = new URL(response.headers.get("location") ?? "");
      expect(location.origin + location.pathname).toBe(registered);
      expect(Object.fromEntries(location.searchParams)).toEqual({ error, error_description: description });
    }
  });

  test("has no scripts, cannot be framed, and its form leads only to the client", async () => {
    const response = await open(address({ client_id: client }));
    const policy = response.headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' https://app.example.net;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(response.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
  });

  test("shows markup of a client's name as text", async () => {
    const body = { label: "<b>bold</b>\"'&", redirect_uri: "https://x.example/" };
    const response = await v4.ask("POST /account/oauth-clients", body);
    const { html } = await openPage(address({ client_id: String(response.body.id) }));
    expect(html).not.toContain("<b>");
  });

  test.each([
    ["another browser", { cookie: `sandbox_browser=${"0".repeat(64)}` }, 400],
    ["no cookie", {}, 400],
    ["another site", { origin: "https://evil.example" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
  ])("rejects the decision of %s", async (_, change, status) => {
    const { html, cookie, url } = await openPage(address({ client_id: client, scope: "*" }));
    const form = formOf(html);
    form.set("username", "ops-anna");
    form.set("decision", "allow");
    const headers = {
      origin: url.origin,
      ...(!("cookie" in change) && status === 403 && { cookie }),
      ...change,
    };
    const response = await decide(form, headers);
    expect([response.status, response.headers.get("location")]).toEqual([status, null]);
  });

  test("accepts one decision, with fewer but not with more scopes than requested", async () => {
    const authorize = address({ client_id: client, scope: "vms:read_write domains:read_only" });
    const back = await signIn({ authorize, scopes: ["vms:read_only", ""] });
    const { body } = await exchange({ code: back.searchParams.get("code") ?? "" });
    expect(body.scope).toBe("vms:read_only");
    expect((await signIn({ authorize, scopes: ["domains:read_write"] })).protocol).toBe("problem:");
  });

  test("accepts a decision for ten minutes", async () => {
    const { html, cookie } = await openPage(address({ client_id: client }));
    v4.clock.advance(600_000);
    const form = formOf(html);
    form.set("username", "ops-anna");
    form.set("decision", "allow");
    const response = await decide(form, { cookie });
    expect(response.status).toBe(400);
  });
});

describe("the token endpoint", () => {
  test("V-174 returns scope, access_token, token_type and expires_in", async () => {
    const { status, body } = await exchange();
    expect(status).toBe(200);
    expect(body).toEqual({
      scope: "vms:read_write",
      scopes: "vms:read_write",
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      refresh_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      token_type: "bearer",
      expires_in: 7200,
    });
    expect(await works(body.access_token)).toBe(200);
  });

  test("V-173 A-146 accepts multipart/form-data", async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...credentials, code: await code() })) form.set(name, value);
    expect((await post("/oauth/token", form)).status).toBe(200);
  });

  test.each(["client_id", "client_secret", "code"])("V-173 gives no token without %s", async (missing) => {
    const { [missing]: _, ...form } = { ...credentials, code: await code() } as Record<string, string>;
    const { status, body } = await post("/oauth/token", form);
    expect([status, body.access_token]).toEqual([400, undefined]);
  });

  test.each([
    ["a wrong secret", { client_secret: "0".repeat(64) }, 401],
    ["an empty secret", { client_secret: "" }, 400],
    ["an unknown client", { client_id: "unknown" }, 401],
    ["a client without a secret", { client_id: "1b2c3d4e5f60718293a4" }, 401],
    ["an unknown code", { code: "0".repeat(64) }, 400],
  ])("V-173 A-146 gives no token with %s", async (_, change, status) => {
    const exchanged = await exchange(change);
    expect([exchanged.status, exchanged.body.access_token]).toEqual([status, undefined]);
  });

  test.each(['{"code":"x"}', "", "x".repeat(70_000)])("rejects a body that is not a form", async (body) => {
    expect((await post("/oauth/token", body)).status).toBe(400);
  });

  test("rejects another client's code", async () => {
    const response = await v4.ask("POST /account/oauth-clients", {
      label: "other",
      redirect_uri: "https://x.example/",
    });
    const other = { client_id: String(response.body.id), client_secret: String(response.body.secret) };
    expect((await exchange(other)).status).toBe(400);
  });

  test("accepts a code once; a second use revokes its tokens", async () => {
    const used = await code();
    const first = await exchange({ code: used });
    expect(await works(first.body.access_token)).toBe(200);
    expect((await exchange({ code: used })).status).toBe(400);
    expect(await works(first.body.access_token)).toBe(401);
    expect((await renew(first.body.refresh_token)).status).toBe(400);
  });

  test("rejects a code after ten minutes", async () => {
    const old = await code();
    v4.clock.advance(600_000);
    expect((await exchange({ code: old })).status).toBe(400);
  });

  test("V-175 gives tokens for 7200 seconds, and a new token once per refresh token", async () => {
    const { body } = await exchange();
    v4.clock.advance(7_200_000);
    expect(await works(body.access_token)).toBe(401);
    const renewed = await renew(body.refresh_token);
    expect(renewed.body).toMatchObject({ scope: "vms:read_write", expires_in: 7200 });
    expect(await works(renewed.body.access_token)).toBe(200);
    expect((await renew(body.refresh_token)).status).toBe(400);
  });

  test("gives tokens for the configured seconds, refreshed ones as well", async () => {
    v4 = createTestSandbox({ tokenSeconds: 60 });
    const { body } = await exchange();
    const { body: renewed } = await renew(body.refresh_token);
    expect([body.expires_in, renewed.expires_in]).toEqual([60, 60]);
    v4.clock.advance(59_999);
    expect(await works(renewed.access_token)).toBe(200);
    v4.clock.advance(1);
    expect(await works(renewed.access_token)).toBe(401);
  });

  test("V-105 rejects a refresh token of a deleted client", async () => {
    const { body } = await exchange();
    await v4.ask(`DELETE /account/oauth-clients/${client}`);
    expect((await renew(body.refresh_token)).status).toBe(401);
  });

  test.each(["access_token", "refresh_token"])("gives nothing for a revoked %s", async (name) => {
    const { body } = await exchange();
    expect((await post("/oauth/revoke", { ...credentials, token: String(body[name]) })).status).toBe(200);
    const gone = name === "access_token" ? await works(body[name]) : (await renew(body[name])).status;
    expect([400, 401]).toContain(gone);
  });

  test("does not revoke another client's token", async () => {
    const { body } = await exchange();
    const { status } = await post("/oauth/revoke", {
      ...credentials,
      client_secret: "wrong",
      token: String(body.access_token),
    });
    expect(status).toBe(401);
    expect(await works(body.access_token)).toBe(200);
  });

  test("gives another user's token that user's rights", async () => {
    const back = await signIn({ authorize: address({ client_id: client, scope: "*" }), username: "dev-kai" });
    const { body } = await exchange({ code: back.searchParams.get("code") ?? "" });
    const profile = await v4.as({ authorization: `Bearer ${body.access_token}` }).ask("GET /profile");
    expect(profile.body.username).toBe("dev-kai");
  });
});
