import { once } from "node:events";
import { createServer, get, type IncomingMessage, type RequestListener } from "node:http";
import { describeStates } from "../../src/audit/usage/migration-words.ts";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { readdirSync } from "node:fs";
import request from "supertest";
import { EXPORT_FORMATS } from "../../src/audit/export/formats.ts";
import { readRecord } from "../../src/audit/store/read-record.ts";
import { AuditUnavailableError, type AuditStore } from "../../src/audit/store/store.ts";
import type { AdminDeps } from "../../src/console/admin-app.ts";
import type { AdminFeature } from "../../src/console/features-api.ts";
import { createMetrics } from "../../src/base/metrics/metrics.ts";
import { adminApp } from "../support/admin-app.ts";
import { memoryStore } from "./memory-store.ts";

const TOKEN = "an-admin-token";
const metrics = createMetrics();
let memory: ReturnType<typeof memoryStore>;
let errors: unknown[];

beforeEach(() => {
  memory = memoryStore();
  errors = [];
});
afterAll(() => metrics.close());

const app = (deps: Partial<AdminDeps> = {}): RequestListener =>
  adminApp({ audit: memory.store, metrics, onError: (error) => void errors.push(error), ...deps });

describe("access to the admin listener", () => {
  // Path, then the status without a token set, with one set and not shown, and with it shown.
  const table: [string, number, number, number][] = [
    ["/healthz", 200, 200, 200],
    ["/readyz", 200, 200, 200],
    ["/css/base.css", 200, 200, 200],
    ["/theme.js", 200, 200, 200],
    ["/icon.svg", 200, 200, 200],
    ["/", 200, 401, 200],
    ["/app.js", 200, 401, 200],
    ["/views/call.js", 200, 401, 200],
    ["/index.html", 404, 401, 404],
    ["/api", 200, 401, 200],
    ["/api/report", 404, 401, 404],
    ["/api/usage/clients", 200, 401, 200],
    ["/api/usage/routes", 200, 401, 200],
    ["/api/usage/days", 200, 401, 200],
    ["/metrics", 200, 401, 200],
    ["/api/audit", 200, 401, 200],
    ["/api/audit/a", 200, 401, 200],
    ["/api/audit/none", 404, 401, 404],
    ["/api/audit/a/explain", 200, 401, 200],
    ["/api/audit/none/explain", 404, 401, 404],
    ["/api/audit/a/trace", 200, 401, 200],
    ["/api/audit/none/trace", 404, 401, 404],
    ["/api/sunset", 200, 401, 200],
    ["/api/rollout", 200, 401, 200],
    ["/api/parity", 200, 401, 200],
    ["/api/parity/none", 404, 401, 404],
    ["/api/mappings", 200, 401, 200],
    ["/api/tokens", 404, 401, 404],
    ["/api/Audit", 404, 401, 404],
    ["/HEALTHZ", 404, 401, 404],
    ["/../package.json", 404, 401, 404],
    ["/api/audit/%zz", 400, 401, 400],
    ["/login", 404, 401, 404],
  ];

  test.each(table.filter(([path, open]) => open === 200 && path.startsWith("/api")))(
    "GET %s with an unknown query parameter gets 400",
    async (path) => {
      const { status, body } = await request(app()).get(`${path}?nothing=1`);
      expect([status, body.errors[0].parameter]).toEqual([400, "nothing"]);
    },
  );

  test.each(table)(
    "GET %s gets %i without an admin token set, %i without the token and %i with it",
    async (path, open, without, shown) => {
      expect((await request(app()).get(path)).status).toBe(open);
      const closed = app({ token: TOKEN });
      expect((await request(closed).get(path)).status).toBe(without);
      expect((await request(closed).get(path).auth(TOKEN, { type: "bearer" })).status).toBe(shown);
    },
  );

  test.each(["Bearer", "Bearer wrong", `Bearer ${TOKEN}x`, `token ${TOKEN}`, `Basic ${TOKEN}`, ""])(
    "Authorization %j gets 401 with a JSON body",
    async (authorization) => {
      const response = await request(app({ token: TOKEN }))
        .get("/api/audit")
        .set("Authorization", authorization);
      expect(response.status).toBe(401);
      expect(response.headers["www-authenticate"]).toMatch(/^Bearer/);
      expect(response.body).toEqual({ errors: [{ reason: expect.stringContaining("admin token") }] });
    },
  );
});

describe("signing in with the form", () => {
  test("creates a session with the right token, and signing out ends it", async () => {
    const browser = request.agent(app({ token: TOKEN }));
    expect((await browser.get("/")).text).toContain('action="/login"');

    const signedIn = await browser.post("/login").type("form").send({ token: TOKEN });
    expect(signedIn).toMatchObject({ status: 303, headers: { location: "/" } });
    const cookie = String(signedIn.headers["set-cookie"]);
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).not.toContain(TOKEN);
    expect((await browser.get("/")).text).toContain('<form method="post" action="/logout">');
    expect((await browser.get("/api/audit")).status).toBe(200);

    const session = cookie.split(";")[0] ?? "";
    expect((await browser.post("/logout")).status).toBe(303);
    const after = await request(app({ token: TOKEN }))
      .get("/api/audit")
      .set("Cookie", session);
    expect(after.status).toBe(401);
    expect((await browser.get("/api/audit").set("Cookie", session)).status).toBe(401);
  });

  test.each([{ token: "wrong" }, { token: "" }, {}, { "token[a]": TOKEN }])(
    "rejects the token %j",
    async (form) => {
      const response = await request(app({ token: TOKEN }))
        .post("/login")
        .type("form")
        .send(form);
      expect(response.status).toBe(401);
      expect(response.headers["set-cookie"]).toBeUndefined();
      expect(response.text).toContain('role="alert">This is not the admin token.');
    },
  );

  test("the 101st session ends the first one", async () => {
    const closed = app({ token: TOKEN });
    const cookies: string[] = [];
    for (let n = 0; n < 101; n += 1) {
      const response = await request(closed).post("/login").type("form").send({ token: TOKEN });
      cookies.push(String(response.headers["set-cookie"]).split(";")[0] ?? "");
    }
    const status = async (cookie?: string) =>
      (
        await request(closed)
          .get("/api/audit")
          .set("Cookie", cookie ?? "")
      ).status;
    expect(await status(cookies[0])).toBe(401);
    expect(await status(cookies[1])).toBe(200);
    expect(await status(cookies[100])).toBe(200);
  });

  test("has no form if no token is set", async () =>
    expect((await request(app()).get("/")).text).toContain("hidden data-sign-out"));
});

describe("health endpoints", () => {
  test("GET /healthz gets 200", async () =>
    expect((await request(app()).get("/healthz")).body).toEqual({ status: "ok" }));

  test.each<[string, AdminDeps["readiness"], number, object]>([
    ["ready", () => [], 200, { status: "ready", reasons: [] }],
    ["not ready", async () => ["draining"], 503, { status: "not ready", reasons: ["draining"] }],
    [
      "unknown",
      () => {
        throw new Error("inside");
      },
      503,
      { status: "not ready", reasons: ["The state of the gateway could not be read."] },
    ],
  ])("GET /readyz is %s", async (_, readiness, status, body) => {
    expect(await request(app({ readiness })).get("/readyz")).toMatchObject({ status, body });
  });
});

describe("GET /api/audit", () => {
  test("returns complete records and the cursor", async () => {
    const { body } = await request(app()).get("/api/audit");
    expect(body).toEqual({ records: memory.records, next: "1-1" });
  });

  test.each([
    ["limit=1", { limit: 1 }],
    ["limit=500", { limit: 500 }],
    ["before=1772359200000-7", { before: "1772359200000-7" }],
    ["client=0123456789abcdef", { client: "0123456789abcdef" }],
    ["route=GET%20/vm/instances/:id", { route: "GET /vm/instances/:id" }],
    ["status=420", { status: 420 }],
    ["since=2026-01-31", { since: "2026-01-31T00:00:00.000Z" }],
    ["until=2026-01-31T12:00:00%2B02:00", { until: "2026-01-31T10:00:00.000Z" }],
    ["since=2026-01-31T12:00Z&status=&client=", { since: "2026-01-31T12:00:00.000Z" }],
    ["", {}],
  ])("translates ?%s into the store's query", async (query, asked) => {
    expect((await request(app()).get(`/api/audit?${query}`)).status).toBe(200);
    expect(memory.asked).toEqual([asked]);
  });

  test.each([
    ["limit", ["0", "501", "-1", "1.5", "x", "1e2"]],
    ["before", ["a b", "'", "1-", "9".repeat(16) + "-1"]],
    ["client", ["0123", "0123456789ABCDEF", "0123456789abcdef0"]],
    ["route", ["x", "GET vm", `GET /${"x".repeat(600)}`]],
    ["status", ["99", "600", "ok"]],
    ["since", ["yesterday", "2026-02-31", "2026-01-31T12:00:00", "2026-13-01", "1"]],
    ["until", ["2026-01-31 12:00", "2026-01-31T25:00:00Z"]],
    ["stauts", ["200"]],
    ["__proto__", ["1"]],
    ["constructor", ["1"]],
  ])("reports an invalid %s", async (parameter, values) => {
    for (const value of values) {
      const response = await request(app()).get(`/api/audit?${parameter}=${encodeURIComponent(value)}`);
      expect(response.status).toBe(400);
      expect(response.body).toEqual({ errors: [{ parameter, reason: expect.any(String) }] });
    }
    expect(memory.asked).toEqual([]);
  });

  test("a trace is 503 while another one runs", async () => {
    const views = { explain: async () => ({}), trace: async () => undefined };
    expect(await request(app({ views })).get("/api/audit/a/trace")).toMatchObject({
      status: 503,
      body: { errors: [{ reason: "Another trace is running. Try again." }] },
    });
  });

  test("reports all invalid and repeated parameters together", async () => {
    const { body } = await request(app()).get("/api/audit?limit=0&status=200&status=404");
    expect(body.errors.map(({ parameter }: { parameter: string }) => parameter)).toEqual(["limit", "status"]);
  });

  test.each(["/api/audit", "/api/audit/a", "/api/audit/a/explain", "/api/audit/a/trace"])(
    "%s reports that auditing is off, and is 503 while the store is down",
    async (path) => {
      expect(await request(app({ audit: undefined })).get(path)).toMatchObject({
        status: 404,
        body: { errors: [{ reason: expect.stringContaining("AUDIT=off") }] },
      });
      memory.breakDown();
      const response = await request(app()).get(path);
      expect(response.status).toBe(503);
      expect(response.text).not.toContain("/secret/path");
      expect(errors).toHaveLength(1);
    },
  );
});

describe("errors of the admin listener", () => {
  test("an internal error gets a neutral 500, and is logged", async () => {
    const mappings = () => {
      throw new Error("the inside of it");
    };
    const response = await request(app({ mappings })).get("/api/mappings");
    expect(response).toMatchObject({
      status: 500,
      body: { errors: [{ reason: "Something went wrong here." }] },
    });
    expect(response.text).not.toMatch(/inside|at /);
    expect(errors).toEqual([new Error("the inside of it")]);
  });

  test.each(["post", "put", "delete", "patch"] as const)("%s gets 404", async (method) => {
    expect(await request(app())[method]("/api/audit")).toMatchObject({
      status: 404,
      body: { errors: [{ reason: "There is nothing here." }] },
    });
  });
});

test("the console links to the report if there is one", async () => {
  const report = (_request: unknown, response: { json: (body: object) => void }) =>
    response.json({ made: true });
  expect((await request(app()).get("/api")).body).toEqual({
    audit: true,
    report: false,
    sunset: false,
    rollout: false,
    parity: false,
    names: { client: "alpha", upstream: "v4" },
    states: describeStates({ client: "alpha", upstream: "v4" }, 7),
    exportFormats: EXPORT_FORMATS,
  });
  expect((await request(app({ report })).get("/api")).body).toMatchObject({ audit: true, report: true });
  expect((await request(app({ report })).get("/api/report")).body).toEqual({ made: true });
});

test("GET /api says which features are configured", async () => {
  const features = (["sunset", "rollout", "parity"] as const).map((name) => ({
    feature: { name, member: name, setting: "SUNSET_FILE" as const },
    parts: { status: () => ({}) },
    close: async () => {},
  }));
  expect((await request(app({ features })).get("/api")).body).toMatchObject({
    sunset: true,
    rollout: true,
    parity: true,
  });
});

describe("a feature", () => {
  const createFeature = (parts: AdminFeature["parts"]): AdminFeature => ({
    feature: { name: "sunset", member: "plan", setting: "SUNSET_FILE" },
    parts,
    close: async () => {},
  });
  const read = async (path: string, parts: AdminFeature["parts"]) =>
    (await request(app({ features: [createFeature(parts)] })).get(path)).body;

  test("has a page with its status and the blocks that its command prints", async () => {
    const blocks = [{ kind: "text", line: "ends tomorrow" }] as const;
    const parts = { status: () => ({ end: null }), describe: () => blocks };
    expect(await read("/api/pages/sunset", parts)).toEqual({ status: { end: null }, blocks });
  });

  test("that is not configured has an empty page", async () => {
    expect(await read("/api/pages/sunset", undefined)).toEqual({ status: null, blocks: [] });
  });

  test("says what it has no item of", async () => {
    const items = { name: "stage", read: async () => undefined };
    const { errors } = await read("/api/sunset/none", { items });
    expect(errors).toMatchObject([{ reason: "There is no stage of this id." }]);
  });
});

test("GET /metrics is Prometheus text", async () => {
  const response = await request(app()).get("/metrics");
  expect(response.headers["content-type"]).toBe(metrics.contentType);
  expect(response.text).toContain("process_cpu_seconds_total");
});

describe("reads by pages of other origins", () => {
  const DATA = [
    "/api/audit/export",
    "/api/audit/a",
    "/api/report",
    "/api/usage/clients",
    "/API/audit",
    "/metrics",
  ];
  test.each(DATA.flatMap((path) => ["cross-site", "same-site"].map((site) => [path, site] as const)))(
    "%s is not sent to a %s page",
    async (path, site) => {
      const response = await request(app({ host: "127.0.0.1" }))
        .get(path)
        .set("Sec-Fetch-Site", site);
      expect([response.status, response.body.errors]).toEqual([
        403,
        [{ reason: "A page of another origin can't read anything here." }],
      ]);
    },
  );

  test.each([
    ["/api/audit", "same-origin", 200],
    ["/api/audit", "none", 200],
    // A link to the console, and a probe.
    ["/", "cross-site", 200],
    ["/healthz", "cross-site", 200],
  ])("%s is sent where Sec-Fetch-Site is %s", async (path, site, status) => {
    const response = await request(app({ host: "127.0.0.1" }))
      .get(path)
      .set("Sec-Fetch-Site", site);
    expect(response.status).toBe(status);
  });
});

test.each(["null", "file://"])(
  "a change by a page of origin %s is rejected, also where the Host is empty",
  async (origin) => {
    const response = await request(app()).delete("/api/tokens").set({ origin, host: "" });
    expect([response.status, response.body.errors]).toEqual([
      403,
      [{ reason: "A page of another origin can't change anything here." }],
    ]);
  },
);

describe("host names of the admin listener", () => {
  test.each([
    ["127.0.0.1", "localhost:8081", 200],
    ["127.0.0.1", "127.0.0.1", 200],
    ["::1", "[::1]:8081", 200],
    ["127.0.0.2", "127.0.0.2:8081", 200],
    ["localhost", "LOCALHOST:8081", 200],
    ["127.0.0.1", "evil.example:8081", 421],
    ["127.0.0.1", "localhost.evil.example", 421],
    ["::1", "evil.example", 421],
    ["0:0:0:0:0:0:0:1", "evil.example", 421],
    ["::ffff:127.0.0.1", "evil.example", 421],
    ["::ffff:127.0.0.1", "127.0.0.1:8081", 200],
    ["0.0.0.0", "gateway.example", 200],
    [undefined, "gateway.example", 200],
  ])("bound to %s, a request to %s gets %i", async (host, name, status) => {
    const deps = host === undefined ? {} : { host };
    expect((await request(app(deps)).get("/api/audit").set("Host", name)).status).toBe(status);
    expect((await request(app(deps)).get("/healthz").set("Host", name)).status).toBe(200);
  });
});

describe("the console's pages", () => {
  const pages: [string, () => RequestListener][] = [
    ["the console", () => app()],
    ["the sign-in form", () => app({ token: TOKEN })],
  ];

  test.each(pages)(
    "%s has a strict content security policy, and no inline code that it would block",
    async (_, make) => {
      const { headers, text } = await request(make()).get("/");
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toMatch(/unsafe|upgrade-insecure-requests/);
      expect(headers["content-type"]).toMatch(/^text\/html/);
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers["x-powered-by"]).toBeUndefined();
      expect(text).not.toMatch(/<script(?![^>]* src="\/)[^>]*>|<style|\sstyle=|\son\w+=|javascript:/i);
    },
  );

  test("files that the pages refer to exist with the right type", async () => {
    const server = app();
    const { text } = await request(server).get("/");
    const named = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(named).toContain("/app.js");
    for (const path of named) {
      const response = await request(server).get(path);
      expect(response.status).toBe(200);
      expect(response.headers["content-type"]).toMatch(/^(text\/(javascript|css)|image\/svg\+xml)/);
    }
  });

  const scripts = readdirSync("src/console/public", { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".js"),
  );
  test.each(scripts)("%s never writes HTML from data", async (path) => {
    const { text } = await request(app()).get(`/${path}`);
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
  });
});

test("a damaged record is named in the response and in the log", async () => {
  const get: AuditStore["get"] = async (id) => readRecord(id, "{}");
  const { status, body } = await request(app({ audit: { ...memory.store, get } })).get("/api/audit/1-7");
  const reason = "The record 1-7 is damaged. The export as ndjson has its text as it is.";
  expect([status, body]).toEqual([500, { errors: [{ reason }] }]);
  expect(errors).toMatchObject([{ message: reason }]);
});

describe("GET /api/audit/export", () => {
  test("streams the filtered records, after their count", async () => {
    const response = await request(app()).get(
      "/api/audit/export?format=csv&client=0123456789abcdef&status=200",
    );
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      "content-type": expect.stringContaining("text/csv"),
      "content-disposition": 'attachment; filename="audit.csv"',
      "x-total-count": "2",
    });
    expect(memory.asked[0]).toMatchObject({ client: "0123456789abcdef", status: 200 });
  });

  test.each([
    ["format=xml", "format"],
    ["format=csv&format=har", "format"],
    ["limit=5", "limit"],
    ["before=1-1", "before"],
    ["status=abc", "status"],
    ["colour=red", "colour"],
  ])("rejects %s", async (query, parameter) => {
    const { status, body } = await request(app()).get(`/api/audit/export?${query}`);
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter }]);
  });

  test("reads no faster than its client, and stops when the client disconnects", async () => {
    let reads = 0;
    const page = { records: Array.from({ length: 100 }, () => `"${"x".repeat(10_000)}"`), next: "1-1" };
    const endless: AuditStore = {
      ...memory.store,
      texts: async () => {
        reads += 1;
        return page;
      },
    };
    const server = createServer(app({ audit: endless })).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = get({ host: "127.0.0.1", port, path: "/api/audit/export" });
    const [response] = (await once(client, "response")) as [IncomingMessage];
    const settled = async (): Promise<number> => {
      for (let before = -1; before !== reads; await wait(200)) before = reads;
      return reads;
    };
    // What the sockets hold, and no more.
    const held = await settled();
    expect(held).toBeLessThan(50);
    response.destroy();
    await new Promise((done) => server.close(done));
    expect(await settled()).toBeLessThanOrEqual(held + 1);
    expect(errors).toEqual([]);
  });

  test("gets 503 if the store cannot be read", async () => {
    memory.breakDown();
    expect((await request(app()).get("/api/audit/export")).status).toBe(503);
  });

  test.each(EXPORT_FORMATS)(
    "breaks off as %s, and is logged once, if the store cannot be read midway",
    async (format) => {
      const texts: AuditStore["texts"] = async (query) => {
        if (query.before !== undefined) memory.breakDown();
        return memory.store.texts(query);
      };
      const failing = app({ audit: { ...memory.store, texts } });
      const response = request(failing).get(`/api/audit/export?format=${format}`);
      await expect(response).rejects.toThrow(/aborted|socket hang up/);
      expect(errors).toEqual([expect.any(AuditUnavailableError)]);
    },
  );
});
