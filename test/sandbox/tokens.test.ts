import { describe, expect, test } from "@jest/globals";
import { codeAt } from "../../src/sandbox/resources/account/profile.ts";
import {
  errorFields,
  sandboxForEachTest,
  type SandboxResponse,
  type SandboxRequest,
  type Json,
} from "./sandbox-service.ts";

const v4 = sandboxForEachTest();

const bearer = (token: unknown): { authorization: string } => ({ authorization: `Bearer ${String(token)}` });

describe("tokens", () => {
  const make = (body: Json, as: SandboxRequest["as"] = "full"): Promise<SandboxResponse> =>
    v4.as(as).ask("POST /profile/tokens", body);

  test("V-171 are shown in full once and work with their scopes", async () => {
    const { body } = await make({ label: "ci", scopes: "vms:read_only events:read_only" });
    expect(body.token).toMatch(/^[0-9a-f]{64}$/);
    const as = bearer(body.token);
    const read = await v4.as(as).ask("GET /vm/instances");
    expect([read.status, read.headers.get("x-oauth-scopes")]).toEqual([
      200,
      "vms:read_only events:read_only",
    ]);
    expect(await v4.as(as).status("GET /domains")).toBe(403);
    const { body: again } = await v4.ask(`GET /profile/tokens/${body.id}`);
    expect(again.token).toBe(String(body.token).slice(0, 16));
  });

  test("V-178 end when they are deleted or expire", async () => {
    const { body } = await make({ label: "short", scopes: "*", expiry: "2022-05-10T10:00:00" });
    const as = bearer(body.token);
    expect(await v4.as(as).status("GET /profile")).toBe(200);
    v4.clock.advance(3_600_000);
    expect(await v4.as(as).status("GET /profile")).toBe(401);
    const { body: other } = await make({ label: "long", scopes: "*" });
    await v4.ask(`DELETE /profile/tokens/${other.id}`);
    expect(await v4.as(bearer(other.token)).status("GET /profile")).toBe(401);
  });

  test.each([
    [{ scopes: "nothing:read_only" }, "scopes"],
    [{ expiry: "2020-01-01T00:00:00" }, "expiry"],
    [{ expiry: "2999-01-01T00:00:00" }, "expiry"],
    [{ expiry: "soon" }, "expiry"],
    [{ label: "" }, "label"],
    [{ label: "x".repeat(101) }, "label"],
  ])("%j is 400 naming %s", async (body, field) => {
    expect(errorFields(await make(body))).toEqual([field]);
  });

  test("never have more scopes than the token that created them", async () => {
    const { body } = await make({ label: "a", scopes: "account:read_write" });
    const as = bearer(body.token);
    expect(errorFields(await make({ label: "b", scopes: "vms:read_only" }, as))).toEqual(["scopes"]);
    expect((await make({ label: "b" }, as)).body.scopes).toBe("account:read_write");
  });
});

describe("OAuth clients", () => {
  const body = { label: "board", redirect_uri: "https://board.example/back" };
  const one = "/account/oauth-clients/9f0c1d2e3b4a59687766";

  test("V-058 V-081 V-102 are read", async () => {
    expect(await v4.read(`GET ${one}`)).toEqual({
      id: "9f0c1d2e3b4a59687766",
      redirect_uri: "https://app.example.net/callback",
      label: "inventory tool",
      status: "active",
      secret: "<REDACTED>",
      thumbnail_url: null,
      public: false,
    });
    expect(await v4.status("GET /account/oauth-clients/none")).toBe(404);
  });

  test("V-059 have their secret only in the responses to create and reset", async () => {
    const response = await v4.ask("POST /account/oauth-clients", body);
    expect(response.body).toMatchObject({
      ...body,
      status: "active",
      secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const path = `/account/oauth-clients/${response.body.id}`;
    const reset = await v4.ask(`POST ${path}/reset-secret`);
    expect(reset.body.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(reset.body.secret).not.toBe(response.body.secret);
    for (const request of [`GET ${path}`, `PUT ${path}`]) {
      expect((await v4.request(request, { ...(request[0] === "P" && { body: {} }) })).body.secret).toBe(
        "<REDACTED>",
      );
    }
    expect(JSON.stringify(await v4.list("/account/oauth-clients"))).not.toMatch(/[0-9a-f]{64}/);
  });

  test("V-103 have only label and redirect_uri as writable members", async () => {
    const before = await v4.read(`GET ${one}`);
    const change = { label: "tool", redirect_uri: "https://tool.example/back" };
    expect(await v4.read(`PUT ${one}`, { ...change, public: true, status: "suspended" })).toEqual({
      ...before,
      ...change,
    });
  });

  test("V-104 V-105 end every token issued to them when they are deleted", async () => {
    expect(await v4.as("app").status("GET /vm/instances")).toBe(200);
    expect(await v4.read(`DELETE ${one}`)).toEqual({});
    expect(await v4.as("app").status("GET /vm/instances")).toBe(401);
    expect(await v4.status("GET /vm/instances")).toBe(200);
  });

  test("V-175 have tokens that are valid for 7200 seconds", async () => {
    v4.clock.advance(7_199_000);
    expect(await v4.as("app").status("GET /vm/instances")).toBe(200);
    v4.clock.advance(1000);
    expect(await v4.as("app").status("GET /vm/instances")).toBe(401);
  });

  test("have a picture that everyone can read", async () => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
    const headers = { "content-type": "image/png" };
    const put = async (raw: Uint8Array) =>
      (await v4.request(`PUT ${one}/thumbnail`, { raw, headers })).status;
    expect([await put(png), await put(new Uint8Array([1]))]).toEqual([200, 400]);
    expect((await v4.read(`GET ${one}`)).thumbnail_url).toMatch(/thumbnail$/);
    const { headers: received, bytes } = await v4.as("anonymous").ask(`GET ${one}/thumbnail`);
    expect(received.get("content-type")).toBe("image/png");
    expect(new Uint8Array(bytes())).toEqual(png);
  });
});

describe("the profile", () => {
  test("is read and written", async () => {
    const change = { timezone: "UTC", email_notifications: false, lish_auth_method: "disabled" };
    const { body } = await v4.ask("PUT /profile", { ...change, username: "other", restricted: true });
    expect(body).toMatchObject({ ...change, username: "ops-anna", restricted: false });
    expect(await v4.as("vms").status("PUT /profile", change)).toBe(403);
    expect(await v4.faults("PUT /profile", { ip_whitelist_enabled: true })).toHaveLength(1);
  });

  test("has a second factor that is confirmed with the current code", async () => {
    const { body } = await v4.ask("POST /profile/tfa-enable");
    const confirm = (code: string): Promise<SandboxResponse> =>
      v4.ask("POST /profile/tfa-enable-confirm", { tfa_code: code });
    const code = codeAt(String(body.secret), v4.clock.now());
    expect(errorFields(await confirm(code === "000000" ? "000001" : "000000"))).toEqual(["tfa_code"]);
    expect((await confirm(code)).body).toEqual({ scratch: expect.any(String) });
    expect((await v4.read("GET /profile")).two_factor_auth).toBe(true);
    await v4.ask("POST /profile/tfa-disable");
    expect((await v4.read("GET /profile")).two_factor_auth).toBe(false);
  });
});

test.each([
  ["2030-01-31T12:00:00", "2030-01-31T12:00:00"],
  ["2030-01-31T12:00:00Z", "2030-01-31T12:00:00"],
  ["2030-01-31T12:00:00.123Z", "2030-01-31T12:00:00"],
  ["2030-01-31T12:00:00+02:00", "2030-01-31T10:00:00"],
  ["2030-01-31T12:00", "2030-01-31T12:00:00"],
  ["2030-01-31", "2030-01-31T00:00:00"],
])("the expiry %s is shown as %s, in the one form of date-times", async (given, shown) => {
  const response = await v4.ask("POST /profile/tokens", { label: "x", expiry: given });
  expect(response.body.expiry).toBe(shown);
  const read = await v4.ask(`GET /profile/tokens/${response.body.id}`);
  expect(read.body.expiry).toBe(shown);
});

test.each(["2030-02-30T00:00:00", "31.1.2030", "2030", "tomorrow", "2030-01-31T25:00:00", "Jan 31, 2030"])(
  "the expiry %j is rejected",
  async (expiry) => {
    const refused = await v4.ask("POST /profile/tokens", { label: "x", expiry });
    expect(errorFields(refused)).toEqual(["expiry"]);
  },
);
