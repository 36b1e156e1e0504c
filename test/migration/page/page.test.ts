/** The page on which a client reads what it still has to change: with its own token, about its own calls. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { fingerprint, tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { startGateway, type Gateway, type TestSettings } from "../../support/gateway.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { makeDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";
import { newAddress, PAGE_ON, readPage } from "./read-page.ts";

const withPostgres = await describeWith("postgres");

/** What the page says with either store. */
function testPage(settings: () => TestSettings): void {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ ...PAGE_ON, ...settings() });
    await gateway.request("GET /vm/instances", { as: "vms", filter: { label: "secret-label" } });
    await gateway.request("GET /vm/instances", { as: "vms", headers: { "user-agent": "secret-agent/1" } });
    await gateway.request("GET /vm/instances/1", { as: "vms" });
    await gateway.request("POST /vm/instances", {
      as: "vms",
      body: { datacenter: "newark", type: "standard-1", label: "secret-label", root_pass: "secret-word" },
    });
    await gateway.request("POST /feedback", { as: "vms", body: { description: "secret-word" } });
    await gateway.request("GET /nothing", { as: "vms" });
    await gateway.request("GET /dns/zones", { as: "billing" });
  });

  test("names the routes of the client with their counts, days, v4 calls, scopes and losses", async () => {
    const { status, body } = await readPage(gateway, { as: "vms" });
    expect(status).toBe(200);
    const today = new Date().toISOString().slice(0, 10);
    expect(body).toMatchObject({
      names: { client: "alpha", upstream: "v4" },
      calls_of: "token",
      state: "not begun",
      last_call: today,
      last_upstream_call: null,
      ends: null,
      scopes: { client: ["vms:create"], upstream: ["vms:read_write"] },
      unmatched: 1,
    });
    const [list, ...others] = body.routes;
    expect(list).toMatchObject({
      route: "GET /vm/instances",
      requests: 2,
      first: today,
      last: today,
      counterpart: "call",
      calls: ["GET /v4/vm/instances"],
      scope: { client: "vms:view", upstream: "vms:read_only" },
      losses: expect.arrayContaining([
        { severity: "detail", text: "total_transfer: a part of a GB; 0 in lists" },
      ]),
      objects: ["instance"],
    });
    expect(others.map(({ route }: { route: string }) => route).toSorted()).toEqual([
      "GET /vm/instances/:id",
      "POST /feedback",
      "POST /vm/instances",
    ]);
  });

  test("has the members that change with their rule, of those that the client sent", async () => {
    const { body } = await readPage(gateway, { as: "vms" });
    const create = body.routes.find(({ route }: { route: string }) => route === "POST /vm/instances");
    expect(create.sends.map(({ name }: { name: string }) => name)).toEqual([
      "root_pass",
      "datacenter",
      "type",
    ]);
    expect(create.sends[1]).toMatchObject({
      upstream: "region",
      change: "The id of a datacenter in v4. `GET /v4/regions` lists them.",
      values: expect.arrayContaining([{ client: "newark", upstream: "us-east" }]),
    });
    const instance = body.objects.find(({ object }: { object: string }) => object === "instance");
    expect(instance.fields.map(({ name }: { name: string }) => name)).toContain("status");
    expect(body.every_call).toContainEqual(
      expect.objectContaining({ what: "Credentials", client: "Authorization: token …" }),
    );
  });

  test("says which calls have no counterpart, and why", async () => {
    const { body } = await readPage(gateway, { as: "vms" });
    expect(body.routes.find(({ route }: { route: string }) => route === "POST /feedback")).toMatchObject({
      counterpart: "none",
      calls: [],
      reason: "This call has no counterpart in the current interface.",
    });
  });

  test("has no value, id, address, user agent, fingerprint or token, and nothing of another client", async () => {
    for (const accept of ["application/json", "text/html"]) {
      const { text } = await readPage(gateway, { as: "vms", headers: { accept } });
      const { vms: token } = gateway.sandbox.tokens;
      for (const secret of [
        "secret",
        "10.0.",
        "127.0.0.1",
        "node",
        "zones",
        token,
        fingerprint(tokenHash(token)),
      ])
        expect([secret, text.includes(secret)]).toEqual([secret, false]);
    }
  });

  test("is HTML for a browser, without scripts, and JSON for all other clients", async () => {
    const accepts = async (accept: string) =>
      (await readPage(gateway, { as: "vms", headers: { accept } })).headers.get("content-type");
    expect(await accepts("*/*")).toBe("application/json; charset=utf-8");
    expect(await accepts("image/png")).toBe("application/json; charset=utf-8");
    expect(await accepts("text/html;q=0.5,application/json")).toBe("application/json; charset=utf-8");
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const { headers, text } = await readPage(gateway, { as: "vms", headers: { accept: browser } });
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'none'$/,
    );
    expect(text).toContain("GET /v4/vm/instances");
    expect(text).not.toMatch(/<script|<link|<img|https?:\/\/|\son\w+=|\sstyle=/);
  });

  test("is neither cached nor indexed by search engines", async () => {
    for (const as of ["vms", "nobody", null]) {
      const { headers } = await readPage(gateway, { as });
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-robots-tag")).toBe("noindex");
    }
  });

  test("is the same for a minute", async () => {
    const before = await readPage(gateway, { as: "full" });
    await gateway.request("GET /datacenters", { as: "full" });
    expect((await readPage(gateway, { as: "full" })).text).toBe(before.text);
  });

  test("is not a call of alpha: it changes no summary, and has a record without its content", async () => {
    const usage = async () => [
      (await gateway.requestAdmin("GET /api/usage/clients")).body,
      (await gateway.requestAdmin("GET /api/usage/days")).body,
    ];
    const before = await usage();
    await readPage(gateway, { as: "full" });
    await readPage(gateway, { as: "readOnly" });
    await readPage(gateway, { as: "made-up" });
    await gateway.request("GET /v4/migration/", {
      as: "full",
      headers: { "x-forwarded-for": newAddress() },
    });
    await gateway.request("GET /v4/openapi.json", { as: null });
    const records = await gateway.readAudit();
    expect(await usage()).toEqual(before);
    expect(
      records.slice(0, 5).map(({ alpha, client }) => [alpha.route, alpha.status, client.accepted]),
    ).toEqual([
      ["GET /openapi.json", 200, undefined],
      ["GET /migration", 200, true],
      ["GET /migration", 401, undefined],
      ["GET /migration", 200, true],
      ["GET /migration", 200, true],
    ]);
    for (const { alpha } of records.slice(0, 5)) expect(alpha).not.toHaveProperty("response");
    const { text } = await gateway.requestAdmin("GET /metrics");
    expect(text).toMatch(/alpha_gateway_requests_total\{[^}]*route="GET \/migration"/);
  });
}

describe("the page of a client, with SQLite", () => {
  testPage(() => ({}));
});

withPostgres("the page of a client, with PostgreSQL", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await makeDatabase();
  });
  testPage(() => ({ DATABASE_URL: database.url }));
});

describe("the page of a client", () => {
  let gateway: Gateway;
  const start = async (settings: TestSettings): Promise<void> => {
    gateway = await startGateway({ ...PAGE_ON, ...settings });
  };

  test("shows a token its own calls alone, where the directory has several tokens under one name", async () => {
    await start({});
    const prints = (["vms", "billing"] as const).map((name) =>
      fingerprint(tokenHash(gateway.sandbox.tokens[name])),
    );
    await gateway.stop();
    await start({
      CLIENTS_FILE: writeOperatorFile(`team:\n  tokens: [${prints.join(", ")}]\n`, "clients.yaml"),
    });
    await gateway.request("GET /vm/instances", { as: "vms" });
    await gateway.request("GET /dns/zones", { as: "billing" });
    const { body } = await readPage(gateway, { as: "vms" });
    expect(body.routes).toMatchObject([{ route: "GET /vm/instances", requests: 1 }]);
  });

  test("shows a token its own calls alone, where a proxy gives several tokens one name", async () => {
    await start({ CLIENT_HEADER: "X-Client" });
    const headers = { "x-client": "Team" };
    await gateway.request("GET /vm/instances", { as: "vms", headers });
    await gateway.request("GET /vm/instances", { as: "vms", headers });
    await gateway.request("GET /dns/zones", { as: "billing", headers });
    const { body } = await readPage(gateway, { as: "vms", headers });
    expect(body).toMatchObject({
      state: "not begun",
      routes: [{ route: "GET /vm/instances", requests: 2 }],
    });
  });

  test("is empty for a token that never called", async () => {
    await start({});
    await gateway.request("GET /dns/zones", { as: "billing" });
    const { body, status } = await readPage(gateway, { as: "vms" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: null,
      last_call: null,
      routes: [],
      objects: [],
      scopes: { upstream: [] },
    });
    const html = await readPage(gateway, { as: "vms", headers: { accept: "text/html" } });
    expect(html.text).toContain("There are no calls of alpha routes.");
  });

  test("leaves a client that has finished ready, and one that fell silent silent", async () => {
    await start({});
    const native = { authorization: `Bearer ${gateway.sandbox.tokens.vms}` };
    await gateway.request("GET /v4/vm/instances", { as: null, headers: native });
    for (const _ of [1, 2, 3]) expect((await readPage(gateway, { as: "vms" })).body.state).toBe("ready");
    const { clients } = (await gateway.requestAdmin("GET /api/usage/clients")).body;
    expect(clients).toMatchObject([{ lastAlpha: null, native: 1, requests: 1 }]);
  });

  test("has the dates of the plan for this client and each route", async () => {
    await start({});
    const print = fingerprint(tokenHash(gateway.sandbox.tokens.vms));
    await gateway.stop();
    await start({
      CLIENTS_FILE: writeOperatorFile(
        `one:\n  tokens: [${print}]\n  ends: 2036-05-01\nother:\n  user_agents: [other/*]\n  ends: 2035-01-01\n`,
        "clients.yaml",
      ),
      SUNSET_FILE: writeOperatorFile(
        "announced: 2026-01-01\nend: 2037-06-30\npolicy: https://example.com/policy\n" +
          'stages: [{ end: 2036-02-01, routes: ["GET /vm/instances/:id"] }]\n',
      ),
    });
    await gateway.request("GET /vm/instances", { as: "vms" });
    await gateway.request("GET /vm/instances/1", { as: "vms" });
    const { body, headers } = await readPage(gateway, { as: "vms", headers: { "user-agent": "other/1" } });
    expect(body).toMatchObject({ ends: "2036-05-01T00:00:00.000Z", link: "https://example.com/policy" });
    expect(
      Object.fromEntries(body.routes.map(({ route, ends }: Record<string, string>) => [route, ends])),
    ).toEqual({
      "GET /vm/instances": "2036-05-01T00:00:00.000Z",
      "GET /vm/instances/:id": "2036-02-01T00:00:00.000Z",
    });
    expect(headers.get("sunset")).toBeNull();
    // The user agent of the reader says nothing about whose dates it gets.
    await gateway.request("GET /vm/instances", { as: "billing" });
    const other = await readPage(gateway, { as: "billing", headers: { "user-agent": "other/1" } });
    expect(other.body.ends).toBe("2037-06-30T00:00:00.000Z");
  });

  test("has the next window of each stage of the plan that is for this client, and of no other", async () => {
    await start({
      CLIENTS_FILE: writeOperatorFile("other: {}\n", "clients.yaml"),
      SUNSET_FILE: writeOperatorFile(
        "announced: 2026-01-01\nend: 2037-06-30\nstages:\n" +
          '  - { name: late, brown_out: "0 10 * * 1", for: 4h, from: 2036-02-01, text: Use v4. }\n' +
          '  - { name: none, brown_out: "0 10 * * 1", for: 1h, from: 2036-02-01, clients: [other] }\n' +
          '  - { field: instance.label, brown_out: "0 8 * * 1", for: 30m, from: 2036-03-01, routes: ["GET /vm/instances"] }\n',
      ),
    });
    await gateway.request("GET /vm/instances", { as: "vms" });
    const { body } = await readPage(gateway, { as: "vms" });
    expect(body.windows).toEqual([
      {
        kind: "brown_out",
        from: "2036-02-04T10:00:00.000Z",
        until: "2036-02-04T14:00:00.000Z",
        routes: [],
        field: null,
        text: "Use v4.",
      },
      {
        kind: "field",
        from: "2036-03-03T08:00:00.000Z",
        until: "2036-03-03T08:30:00.000Z",
        routes: ["GET /vm/instances"],
        field: "instance.label",
        text: null,
      },
    ]);
    const { text } = await readPage(gateway, { as: "vms", headers: { accept: "text/html" } });
    expect(text).toContain("2036-02-04 10:00");
    expect(text).toContain("Responses lack <code>instance.label</code>.");
  });

  test.each([
    ["after the end", "end: 2026-06-01\n", 410],
    ["for a new client after a freeze", "stages: [{ freeze: 2026-06-01 }]\n", 403],
    [
      "in a window of a brown-out",
      'stages: [{ name: always, brown_out: "* * * * *", for: 1h, from: 2026-05-01 }]\n',
      500,
    ],
  ])("answers %s, when calls get the error of the plan", async (_, plan, status) => {
    await start({ SUNSET_FILE: writeOperatorFile(`announced: 2026-01-01\n${plan}`) });
    expect((await gateway.request("GET /vm/instances", { as: "vms" })).status).toBe(status);
    const { status: ofPage, body } = await readPage(gateway, { as: "vms" });
    expect([ofPage, body.routes.length, body.state]).toEqual([200, 1, "not begun"]);
    // Reading it makes no known client of a new one.
    expect((await gateway.request("GET /vm/instances", { as: "vms" })).status).toBe(status);
  });

  test("is not there while it is off, and is for the methods GET and HEAD", async () => {
    await start({ MIGRATION_PAGE: "off" });
    const missing = await gateway.request("GET /v4/no-such-thing");
    for (const path of ["/v4/migration", "/v4/openapi.json"]) {
      const { status, text } = await gateway.request(`GET ${path}`);
      expect([status, text]).toEqual([missing.status, missing.text]);
    }
    await gateway.stop();
    await start({});
    const head = await gateway.request("HEAD /v4/migration", { as: "vms" });
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(100);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
      expect((await gateway.request(`${method} /v4/migration`, { as: "vms" })).status).toBe(404);
    for (const path of [
      "/v4/Migration",
      "/v4/%6digration",
      "/v4//migration",
      "//migration",
      "/v4/migration/x",
    ])
      expect((await gateway.request(`GET ${path}`, { as: "vms" })).status).toBe(404);
  });

  test("is read by pages of CORS_ORIGINS alone", async () => {
    await start({ CORS_ORIGINS: "https://app.example.org" });
    const from = async (origin: string) =>
      (await readPage(gateway, { as: "vms", headers: { origin } })).headers.get(
        "access-control-allow-origin",
      );
    expect(await from("https://app.example.org")).toBe("https://app.example.org");
    expect(await from("https://evil.example.org")).toBeNull();
    const preflight = await gateway.request("OPTIONS /v4/migration", {
      as: null,
      headers: { origin: "https://evil.example.org", "access-control-request-method": "GET" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });
});
