/** `alphaGateway`: the gateway as middleware of an Express application. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import express, { type Express } from "express";
import request from "supertest";
import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  alphaGateway,
  loadPack,
  SettingsError,
  type AlphaGateway,
  type AlphaGatewayOptions,
  type MappingPack,
} from "../../../src/index.ts";
import { openExistingAuditStore } from "../../../src/audit/store/open-audit-store.ts";
import { endsWithTest, temporaryFolder } from "../../support/ends-with-test.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/create-sandbox.ts";

let sandbox: Sandbox;
let pack: MappingPack;

beforeAll(async () => {
  sandbox = await startSandbox();
  endsWithTest(() => sandbox.close());
  pack = loadPack("mappings");
});

/** Middleware with a data folder of its own. */
function create(options: AlphaGatewayOptions = {}): AlphaGateway {
  const gateway = alphaGateway({
    upstream: sandbox.url,
    authUrl: sandbox.authUrl,
    mappings: pack,
    dataDir: temporaryFolder(),
    logLevel: "silent",
    shutdownGraceMs: 200,
    ...options,
  });
  endsWithTest(() => gateway.close());
  return gateway;
}

/** A logger that keeps what it gets. */
function collectLines() {
  const lines: [level: string, message: string, context: object][] = [];
  const at = (level: string) => (context: object, message: string) =>
    void lines.push([level, message, context]);
  const logger = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    fatal: at("fatal"),
  };
  return { logger, lines };
}

/** An application with routes of its own around the gateway. */
function application(gateway: AlphaGateway, path = "/"): Express {
  const app = express();
  app.use(path, gateway);
  app.post("/orders", express.json(), (request, response) => void response.json({ ordered: request.body }));
  app.get("/logout-page", (_request, response) => void response.send("Goodbye"));
  app.use((_request, response) => void response.status(404).send("not here"));
  return app;
}

const asToken = () => `token ${sandbox.tokens.full}`;

describe("an application with alphaGateway", () => {
  test("serves alpha, and its own routes beside it", async () => {
    const gateway = create();
    const app = application(gateway);
    expect(await gateway.ready()).toEqual(["starting"]);

    const alpha = await request(app).get("/v4/vm/instances?page=2").set("authorization", asToken());
    expect(alpha.status).toBe(200);
    expect(alpha.body).toMatchObject({ page: 2, vms: expect.any(Array) });
    expect(await gateway.ready()).toEqual([]);

    const appResponse = await request(app).post("/orders").send({ book: 7 });
    expect(appResponse.body).toEqual({ ordered: { book: 7 } });
    expect((await request(app).get("/logout-page")).text).toBe("Goodbye");
  });

  test("without a login server, OAuth paths are left to the application", async () => {
    const app = application(create({ authUrl: undefined }));
    expect((await request(app).get("/logout")).text).toBe("not here");
  });

  test("applies the rate limit, the token cache and the audit of its options", async () => {
    const dataDir = temporaryFolder();
    const gateway = create({ dataDir, rateLimit: "2/60", audit: "metadata" });
    const app = application(gateway);
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { status } = await request(app).get("/v4/vm/instances").set("authorization", asToken());
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 200, 420]);

    await gateway.close();
    const audit = await openExistingAuditStore({ DATA_DIR: dataDir, DATABASE_URL: undefined });
    const { records } = await audit.query({});
    await audit.close();
    expect(records.map(({ alpha }) => alpha.status)).toEqual([420, 200, 200]);
  });
});

describe("opening and closing", () => {
  test("a store that cannot be opened gives 500 in alpha's error shape, and ready says why", async () => {
    const file = join(temporaryFolder(), "no-folder");
    writeFileSync(file, "");
    const gateway = create({ dataDir: file });
    const app = application(gateway);
    for (const path of ["/v4/datacenters", "/v4/vm/instances"]) {
      const { status, body } = await request(app).get(path);
      expect(status).toBe(500);
      expect(body).toEqual({ errors: [{ reason: expect.stringContaining("not available") }] });
    }
    expect(await gateway.ready()).toEqual([expect.stringContaining(file)]);
    expect((await request(app).get("/logout-page")).text).toBe("Goodbye");
  });

  test("close commits the audit, and later requests get 500 in alpha's error shape", async () => {
    const dataDir = temporaryFolder();
    const gateway = create({ dataDir });
    const app = application(gateway);
    await request(app).get("/v4/datacenters");
    await Promise.all([gateway.close(), gateway.close()]);

    const { status, body } = await request(app).get("/v4/datacenters");
    expect(status).toBe(500);
    expect(body).toEqual({ errors: [{ reason: expect.any(String) }] });
    expect(await gateway.ready()).toEqual(["closed"]);
    expect(readFileSync(join(dataDir, "audit.db")).length).toBeGreaterThan(0);
  });

  test("close waits for an opening in progress", async () => {
    const gateway = create();
    await gateway.close();
    expect(await gateway.ready()).toEqual(["closed"]);
  });

  test.each([
    ["a request without a body", (app: Express) => request(app).get("/v4/datacenters")],
    ["a request with one", (app: Express) => request(app).post("/v4/vm/instances").send({ type: "g6" })],
  ])("after a body parser, %s gets 500, and the log says what to do", async (_what, send) => {
    const { logger, lines } = collectLines();
    const app = express();
    app.use(express.json(), create({ logger }));
    const { status, body } = await send(app).set("authorization", asToken());
    expect(status).toBe(500);
    expect(body).toEqual({ errors: [{ reason: expect.any(String) }] });
    expect(lines).toEqual([
      [
        "error",
        "a body parser, such as express.json(), is mounted before the gateway: mount the gateway before it",
        { code: "AG_BODY_ALREADY_READ" },
      ],
    ]);
  });

  test("invalid options are reported at creation, and listeners are not an option", () => {
    const invalid = { upstream: "v4.example.org", port: 8080, rateLimit: "many" };
    expect(() => alphaGateway(invalid as unknown as AlphaGatewayOptions)).toThrow(
      expect.objectContaining({
        name: SettingsError.name,
        problems: [
          "port: there is no such option",
          expect.stringMatching(/^upstreamUrl: /),
          expect.stringMatching(/^rateLimit: /),
        ],
      }),
    );
    expect(() => alphaGateway({})).toThrow(/upstreamUrl: it is required; .* set sandbox to true/);
  });
});
