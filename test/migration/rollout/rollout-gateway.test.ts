/** A gateway with two sides: the old service for everybody, and the translation for whom ROLLOUT_FILE names. */
import { writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { json, neverRespond, raw, startFakeV4 } from "../../support/fake-v4.ts";
import { openGateway, type Gateway, type TestSettings, RECORDING } from "../../support/gateway.ts";
import { startOldService, type TestOldService } from "../../support/old-service.ts";
import { packHash } from "../../../src/pack/load/loaded-pack.ts";
import { readPack } from "../../../src/pack/load/load-pack.ts";
import { copyPack } from "../../support/pack-copy.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { request } from "../../support/request.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { waitFor } from "../../support/wait-for.ts";
import { createApplication, REGISTERED, type Application } from "../../gateway/oauth/application.ts";
import { ALONE, CLIENTS, isOld, LIST, startTwoSides, type TwoSides } from "./two-sides.ts";

let old: TestOldService;
beforeEach(async () => {
  old = await startOldService();
  old.respondWith(json(200, { from: "old" }));
});

const start = (rollout: string, settings?: TestSettings): Promise<TwoSides> =>
  startTwoSides(old, rollout, settings);

describe("a client that gets another name in the directory", () => {
  test("stays in its wave, under the old name until both files have the new one", async () => {
    const waves = (name: string): string =>
      `data: shared\nwaves: { first: [${name}] }\nnew: [{ waves: [first] }]`;
    const { gateway, call, rolloutFile, clientsFile } = await start(waves("billing"));
    const metricOf = async (name: string) =>
      new RegExp(`^alpha_gateway_${name}_file_last_reload_successful (.)$`, "m").exec(
        (await gateway.requestAdmin("GET /metrics")).text,
      )?.[1];
    writeFileSync(clientsFile, CLIENTS.replace("billing:", "invoices:"));
    await gateway.reload();
    expect(isOld(await call("billing"))).toBe(false);
    expect([await metricOf("clients"), await metricOf("rollout")]).toEqual(["0", "0"]);
    writeFileSync(rolloutFile, waves("invoices") + ALONE);
    await gateway.reload();
    expect(isOld(await call("billing"))).toBe(false);
    expect([await metricOf("clients"), await metricOf("rollout")]).toEqual(["1", "1"]);
  });
});

describe("who gets what", () => {
  test("clients of a wave get the translation, all other clients the old service, and each record contains its lane", async () => {
    const { gateway, call } = await start(
      "data: shared\nwaves: { first: [billing] }\nnew: [{ waves: [first] }]",
      RECORDING,
    );
    const answers = [await call("billing"), await call("reports"), await call(null)];
    expect(answers.map(isOld)).toEqual([false, true, true]);
    expect(answers[0]?.body.vms.length).toBeGreaterThan(0);
    const records = await gateway.readAudit();
    expect(records.map(({ lane, alpha }) => [lane, alpha.route])).toEqual([
      ["legacy", LIST],
      ["legacy", LIST],
      ["alpha", LIST],
    ]);
  });

  test("a request of the old side is passed on as it is, with its credentials and its body", async () => {
    const { call } = await start("data: shared");
    await call("billing", "POST /vm/instances", { body: { label: "x" } });
    const [{ method, path, headers, json: readJson } = old.calls[0]!] = old.calls;
    expect([method, path, headers.authorization?.startsWith("token "), readJson()]).toEqual([
      "POST",
      "/v4/vm/instances",
      true,
      { label: "x" },
    ]);
  });

  test("no cache gives a response of the old service to clients of the other side: Vary has what decides", async () => {
    const { call } = await start("data: shared");
    const { headers } = await call("billing");
    expect(headers.get("vary")).toBe("Authorization, User-Agent");
  });

  test("nor to another origin, where the gateway has CORS headers of its own", async () => {
    const { call } = await start("data: shared", { CORS_ORIGINS: "https://a.example" });
    const { headers } = await call("billing");
    expect(headers.get("vary")).toBe("Authorization, User-Agent, Origin");
  });

  test("one route of a client is translated, and its other routes are not", async () => {
    const { call } = await start(`data: shared\nnew: [{ clients: [billing], routes: [${LIST}] }]`);
    expect(isOld(await call("billing"))).toBe(false);
    expect(isOld(await call("billing", "GET /vm/instances/1"))).toBe(true);
    expect(isOld(await call("billing", "GET /nothing"))).toBe(true);
  });

  test("v4's own clients are not concerned", async () => {
    const { gateway } = await start("data: shared");
    const { sandbox } = gateway;
    const { body } = await request(gateway.app, "GET /v4/vm/instances", {
      headers: { authorization: `Bearer ${sandbox.tokens.full}` },
    });
    expect(body.data.length).toBeGreaterThan(0);
    expect(old.calls).toEqual([]);
  });

  test("the pages for clients are the gateway's on both sides", async () => {
    const { call } = await start("data: shared", { ...RECORDING, MIGRATION_PAGE: "on" });
    const { body } = await call("billing", "GET /openapi.json");
    expect(body.openapi).toMatch(/^3/);
  });

  test("a changed file counts for the next request; a wrong one changes nothing", async () => {
    const { gateway, call, rolloutFile } = await start("data: shared");
    expect(isOld(await call("billing"))).toBe(true);
    writeFileSync(rolloutFile, "data: shared\nnew: all" + ALONE);
    await gateway.reload();
    expect(isOld(await call("billing"))).toBe(false);
    writeFileSync(rolloutFile, "data: shared\nnew: [{ clients: [nobody] }]" + ALONE);
    await gateway.reload();
    expect(isOld(await call("billing"))).toBe(false);
    expect((await gateway.requestAdmin("GET /metrics")).text).toContain(
      "alpha_gateway_rollout_file_last_reload_successful 0",
    );
  });
});

test("a freeze of the sunset plan only admits clients that the old service served before", async () => {
  const SUNSET_FILE = writeOperatorFile("announced: 2026-01-01\nstages: [{ freeze: 2026-02-01 }]");
  const { gateway, call, rolloutFile } = await start("data: shared", { ...RECORDING, SUNSET_FILE });
  old.respondWith((received, response) =>
    json(received.headers.authorization?.includes("invented") ? 401 : 200, {})(received, response),
  );
  expect((await call(null)).status).toBe(200);
  expect((await call(null, LIST, { as: "invented" })).status).toBe(401);
  await waitFor(async () => {
    const { text } = await gateway.requestAdmin("GET /metrics");
    return text.includes(`{lane="legacy",route="${LIST}",status="401"} 1`);
  });
  writeFileSync(rolloutFile, "data: shared\nnew: all" + ALONE);
  await gateway.reload();
  expect((await call(null)).status).toBe(200);
  expect((await call(null, LIST, { as: "other" })).status).toBe(403);
  expect((await call(null, LIST, { as: "invented" })).status).toBe(403);
});

describe("a return without a person", () => {
  const fail = async (call: TwoSides["call"]): Promise<void> => {
    for (let index = 0; index < 4; index += 1) await call("billing");
  };

  test("comes after four failures of the translation, while the old service answers", async () => {
    const { gateway, call } = await start("data: shared\nnew: [{ clients: [billing] }]");
    await call("reports");
    await gateway.sandbox.close();
    await fail(call);
    expect(isOld(await call("billing"))).toBe(true);
    const { body } = await gateway.requestAdmin("GET /api/rollout");
    expect(body.rollout.trips).toEqual([
      expect.objectContaining({ kind: "route", name: LIST, by: "gateway" }),
    ]);
    expect(body.rollout.trips[0].records).toHaveLength(4);
    expect((await gateway.requestAdmin("GET /metrics")).text).toContain(
      `alpha_gateway_rollout_tripped{route="${LIST}"} 1`,
    );
  });

  test("is not put off by requests without a valid token", async () => {
    const { gateway, call } = await start("data: shared\nnew: [{ clients: [billing] }]");
    await call("reports");
    await gateway.sandbox.close();
    for (let index = 0; index < 3; index += 1) await call("billing");
    for (let index = 0; index < 150; index += 1)
      await call("billing", LIST, { as: null, headers: { "user-agent": "billing/1" } });
    await call("billing");
    expect(isOld(await call("billing"))).toBe(true);
  });

  test("does not come because of a candidate that fails for those who ask for it", async () => {
    const { folder, says } = copyPack();
    says("other");
    const { gateway, call } = await start("data: shared\nnew: [{ clients: [billing] }]", {
      CANDIDATE_MAPPINGS_DIR: folder,
      CLIENT_HEADER: "x-client",
      TRUST_PROXY: "127.0.0.1",
      CLIENTS_FILE: writeOperatorFile(
        "billing: { tester: true }\nreports: { tester: true, user_agents: [reports/*] }\n",
        "clients.yaml",
      ),
    });
    await gateway.reload();
    await call("reports");
    await gateway.sandbox.close();
    const headers = { "x-client": "billing", "x-pack": packHash(readPack(folder), { WORDS: {} }) };
    const fromOld = await call("reports", LIST, { headers: { ...headers, "x-client": "reports" } });
    expect([isOld(fromOld), fromOld.headers.get("x-pack")]).toEqual([true, null]);
    for (let index = 0; index < 8; index += 1)
      expect((await call("billing", LIST, { headers })).status).toBe(500);
    const { body } = await gateway.requestAdmin("GET /api/rollout");
    expect([body.rollout.trips, body.rollout.scores]).toEqual([[], []]);
  });

  test.each([
    ["answers with 500", json(500, {})],
    ["resets", raw("", "reset")],
    ["never responds", neverRespond],
  ])("does not come while the old service %s", async (_what, behaviour) => {
    const rollout = "data: shared\nnew: [{ clients: [billing] }]";
    const { gateway, call } = await start(rollout, {
      UPSTREAM_TIMEOUT_MS: "200",
    });
    old.respondWith(behaviour);
    // A client counts whose token was accepted.
    await call("billing");
    await call("reports");
    await gateway.sandbox.close();
    await fail(call);
    const before = old.calls.length;
    expect((await call("billing")).status).toBe(500);
    expect(old.calls.length).toBe(before);
    const metrics = (await gateway.requestAdmin("GET /metrics")).text;
    expect(metrics).toContain("alpha_gateway_rollout_blocked 1");
    expect(metrics).not.toContain("alpha_gateway_rollout_tripped{");
  });

  test("does not come while the old service hangs that has answered a moment ago, and comes once it answers", async () => {
    const { gateway, call } = await start("data: shared\nnew: [{ clients: [billing] }]");
    const trips = async () => (await gateway.requestAdmin("GET /api/rollout")).body.rollout.trips;
    for (let index = 0; index < 30; index += 1) await call("reports");
    old.respondWith(neverRespond);
    // It ends with the gateway.
    call("reports").catch(() => {});
    await waitFor(() => old.calls.length === 1);
    await wait(2100);
    await gateway.sandbox.close();
    await fail(call);
    await wait(500);
    expect(await trips()).toEqual([]);
    expect((await gateway.requestAdmin("GET /metrics")).text).toContain("alpha_gateway_rollout_blocked 1");
    old.respondWith(json(200, { from: "old" }));
    await call("reports");
    await waitFor(async () => (await trips()).length === 1);
  }, 30_000);

  test("does not come because of a window of the sunset plan", async () => {
    const SUNSET_FILE = writeOperatorFile(
      'announced: 2026-01-01\nstages: [{ brown_out: "* * * * *", for: 24h, from: 2026-01-01 }]',
    );
    const { gateway, call } = await start("data: shared\nnew: [{ clients: [billing] }]", { SUNSET_FILE });
    await call("reports");
    for (let index = 0; index < 8; index += 1) expect((await call("billing")).status).toBe(500);
    expect((await gateway.requestAdmin("GET /api/rollout")).body.rollout.trips).toEqual([]);
  });
});

describe("sign-ins", () => {
  async function register(gateway: Gateway): Promise<Application & { readonly id: string }> {
    const { body } = await gateway.requestV4("POST /account/oauth-clients", {
      body: { label: "app", redirect_uri: REGISTERED },
    });
    return { ...createApplication(gateway.app, body), id: body.id };
  }

  test("of an application go to its side; its tokens have no way back", async () => {
    const { gateway, call, rolloutFile, clientsFile } = await start(
      "data: shared\nnew: [{ clients: [billing] }]",
    );
    const application = await register(gateway);
    await application.visit(application.authorizeUrl({ client_id: application.id, scopes: "vms:view" }));
    await application.exchange("a code");
    expect(old.calls.map(({ method, path }) => `${method} ${path.split("?")[0]}`)).toEqual([
      "GET /oauth/authorize",
      "POST /oauth/token",
    ]);
    expect(old.calls[1]?.received().toString()).toContain(`client_id=${application.id}`);

    writeFileSync(clientsFile, `billing: { applications: [${application.id}] }\nreports: {}`);
    await gateway.reload();
    const { token } = await application.token("vms:view");
    expect(isOld(await call(null, LIST, { as: token }))).toBe(false);

    writeFileSync(rolloutFile, "data: shared" + ALONE);
    await gateway.reload();
    expect(isOld(await call(null, LIST, { as: token }))).toBe(false);
    expect(isOld(await call("billing"))).toBe(true);
    await waitFor(async () => {
      const { body } = await gateway.requestAdmin("GET /api/rollout");
      return body.rollout.noWayBack.includes("billing");
    });
    old.calls.length = 0;
    expect((await application.expire(token)).status).toBe(200);
    expect(old.calls).toEqual([]);
    await application.expire("a token of the old service");
    expect(old.calls.map(({ path }) => path)).toEqual(["/oauth/token/expire"]);
  });

  test("pass a form that comes in pieces, and one that is too large, on as they are", async () => {
    const { gateway } = await start("data: shared");
    const form = new FormData();
    form.set("client_id", "x");
    form.set("padding", "y".repeat(200_000));
    const application = createApplication(gateway.app);
    await application.post("/oauth/token", form);
    expect(old.calls[0]?.received().length).toBeGreaterThan(200_000);
  });
});

describe("a sign-in without a form", () => {
  test.each(["old", "new"])("is answered by the %s side", async (side) => {
    const { gateway } = await start(side === "new" ? "data: shared\nnew: all" : "data: shared");
    const { status } = await request(gateway.app, "POST /oauth/token", {
      headers: { "transfer-encoding": "chunked" },
    });
    expect([status, old.calls.length]).toEqual(side === "new" ? [400, 0] : [200, 1]);
  });
});

describe("cursors", () => {
  const PACK = {
    client: {
      base_path: "/api",
      pagination: { cursor: { parameter: "cursor" }, size: { parameter: "limit", default: 2, maximum: 10 } },
      responses: { list: { items: "$items", next: "$next_cursor" } },
    },
    upstream: {
      pagination: { cursor: { parameter: "after" }, size: { parameter: "limit", maximum: 10 } },
      responses: { list: { data: "$items", next: "$next_cursor" } },
    },
    book: {
      routes: [
        { client: "GET /books", upstream: "GET /items", response: "list" },
        { client: "DELETE /books/:id", upstream: "DELETE /items/:id" },
      ],
    },
  };

  test("do not choose where a write goes", async () => {
    const folder = writeSmallPack(PACK);
    const v4 = await startFakeV4();
    const gateway = await openGateway({
      UPSTREAM_URL: v4.url,
      LEGACY_URL: old.url,
      MAPPINGS_DIR: folder,
      ROLLOUT_FILE: writeOperatorFile("data: { replicated: 2s }", "rollout.yaml"),
    });
    await request(gateway.app, "DELETE /api/books/1?cursor=new:abc");
    expect(v4.calls).toEqual([]);
    expect(old.calls).toHaveLength(1);
  });

  test("go where they came from", async () => {
    const folder = writeSmallPack(PACK);
    const v4 = await startFakeV4();
    const rows = [1, 2].map((id) => ({ id, name: `No. ${id}` }));
    v4.respondWith(json(200, { data: rows, next: "abc/1" }), json(200, { data: rows, next: null }));
    const rolloutFile = writeOperatorFile("data: shared\nnew: all" + ALONE, "rollout.yaml");
    const gateway = await openGateway({
      UPSTREAM_URL: v4.url,
      LEGACY_URL: old.url,
      MAPPINGS_DIR: folder,
      ROLLOUT_FILE: rolloutFile,
    });
    const { body } = await request(gateway.app, "GET /api/books");
    expect(body.next).toBe("new:abc/1");
    writeFileSync(rolloutFile, "data: shared" + ALONE);
    await gateway.reload();
    const page = (cursor: string) =>
      request(gateway.app, `GET /api/books?limit=2&cursor=${encodeURIComponent(cursor)}`);
    expect((await page(body.next)).body.items).toHaveLength(2);
    expect(v4.calls.at(-1)?.path).toBe("/items?after=abc%2F1&limit=2");
    expect(isOld(await request(gateway.app, "GET /api/books"))).toBe(true);
    writeFileSync(rolloutFile, "data: shared\nnew: all" + ALONE);
    await gateway.reload();
    expect(isOld(await page("a cursor of the old service"))).toBe(true);
    expect(old.calls.at(-1)?.path).toBe("/api/books?limit=2&cursor=a%20cursor%20of%20the%20old%20service");
  });
});

describe("data: replicated", () => {
  test.each([
    ["a write", "PUT /vm/instances/1", {}],
    ["a GET that overrides its method in a header", `${LIST}/1`, { "x-http-method-override": "DELETE" }],
    ["a GET that overrides its method in the query", `${LIST}/1?_method=DELETE`, {}],
  ])("after %s a client stays with the old service until the lag is over", async (_what, write, headers) => {
    const { gateway, call, rolloutFile } = await start("data: { replicated: 60s }");
    await call("billing", write, { headers: { "user-agent": "billing/1", ...headers } });
    await call("reports");
    writeFileSync(rolloutFile, "data: { replicated: 60s }\nnew: [{ clients: [billing, reports] }]" + ALONE);
    await gateway.reload();
    expect([isOld(await call("billing")), isOld(await call("reports"))]).toEqual([true, false]);
  });

  test("a GET that overrides its method is none where the translation serves it", async () => {
    const { gateway, call, rolloutFile } = await start(
      "data: { replicated: 60s }\nnew: [{ clients: [billing] }]",
    );
    await call("billing", `${LIST}/1?_method=DELETE`);
    writeFileSync(rolloutFile, "data: { replicated: 60s }" + ALONE);
    await gateway.reload();
    expect(isOld(await call("billing"))).toBe(true);
  });
});
