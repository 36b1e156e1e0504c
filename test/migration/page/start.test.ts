/** When the pages are on: settings, packs that have routes in their place, and programs that embed the gateway. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { alphaGateway, createGateway, SettingsError } from "../../../src/index.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/create-sandbox.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { RECORDING, openGateway, startGateway } from "../../support/gateway.ts";
import { copyPack } from "../../support/pack-copy.ts";
import { request } from "../../support/request.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";

const UPSTREAM = "http://127.0.0.1:9";

const route = (path: string): SmallPack => ({
  book: { routes: [{ client: `GET ${path}`, upstream: "GET /items/{id}" }] },
});

describe("MIGRATION_PAGE=on", () => {
  test("needs the audit", async () => {
    await expect(openGateway({ UPSTREAM_URL: UPSTREAM, MIGRATION_PAGE: "on", AUDIT: "off" })).rejects.toThrow(
      "MIGRATION_PAGE: it shows what the audit counts; set it to off, or AUDIT to full or metadata",
    );
  });

  test.each([
    ["/:id", "GET /:id, where the page migration would be"],
    ["/:id", "GET /:id, where the page openapi.json would be"],
  ])("is refused with a pack that has the route %s: it has %s", async (path, message) => {
    const folder = writeSmallPack(route(path));
    await expect(
      openGateway({ UPSTREAM_URL: UPSTREAM, ...RECORDING, MIGRATION_PAGE: "on", MAPPINGS_DIR: folder }),
    ).rejects.toThrow(`MIGRATION_PAGE: the pack has ${message}`);
  });
});

test("a pack that gets a route in the place of the page is refused, and the old one stays", async () => {
  const pack = copyPack();
  const gateway = await startGateway({ ...RECORDING, MIGRATION_PAGE: "on", MAPPINGS_DIR: pack.folder });
  const routes = (path: string) =>
    `object: thing\nfields: { id: id }\nroutes: [{ client: "GET ${path}", upstream: "GET /profile" }]\n`;
  const isReloaded = async () =>
    /^alpha_gateway_pack_last_reload_successful 1$/m.test((await gateway.requestAdmin("GET /metrics")).text);
  pack.write("thing.yaml", routes("/migration"));
  await gateway.reload();
  expect(await isReloaded()).toBe(false);
  expect((await gateway.request("GET /v4/migration")).body).toHaveProperty("routes");
  pack.write("thing.yaml", routes("/migrations"));
  await gateway.reload();
  expect(await isReloaded()).toBe(true);
});

describe("a pack whose clients have no credentials", () => {
  let gateway: SmallGateway;
  afterEach(() => gateway.stop());

  test("has no page to read, and a description", async () => {
    gateway = await startSmallGateway({}, { ...RECORDING, MIGRATION_PAGE: "on" });
    expect((await gateway.send("GET /migration")).status).toBe(401);
    const { status, body } = await gateway.send("GET /openapi.json");
    expect([status, Object.keys(body.paths)]).toEqual([200, ["/books/{id}"]]);
  });
});

describe("a pack with tokens in Basic credentials", () => {
  let gateway: SmallGateway;
  afterEach(() => gateway.stop());

  test("has the page for these, and its own challenge", async () => {
    gateway = await startSmallGateway(
      {
        client: { credentials: { basic: "username", realm: "books" } },
        upstream: { credentials: { scheme: "Bearer" } },
      },
      { ...RECORDING, MIGRATION_PAGE: "on" },
    );
    gateway.service.respondWith((call, response) => {
      const isKnown = call.headers.authorization === "Bearer mine";
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
      response.end(JSON.stringify(isKnown ? { id: 1, name: "one" } : {}));
    });
    const headers = (token: string) => ({
      authorization: `Basic ${Buffer.from(`${token}:`).toString("base64")}`,
    });
    await gateway.send("GET /books/1", { headers: headers("mine") });
    const { status, body } = await gateway.send("GET /migration", { headers: headers("mine") });
    expect([status, body.routes.map((each: { route: string }) => each.route)]).toEqual([
      200,
      ["GET /books/:id"],
    ]);
    expect(JSON.stringify(body)).not.toMatch(/alpha|v4/i);
    const unknown = await gateway.send("GET /migration", { headers: headers("other") });
    expect(unknown.status).toBe(401);
    expect(unknown.headers.get("www-authenticate")).toBe('Basic realm="books"');
  });
});

describe("a program that embeds the gateway", () => {
  let sandbox: Sandbox;
  let dataDir: string;
  beforeAll(async () => {
    sandbox = await startSandbox();
    dataDir = temporaryFolder();
  });
  afterAll(async () => {
    await sandbox.close();
  });
  const options = () => ({
    upstreamUrl: sandbox.url,
    migrationPage: "on" as const,
    auditDurability: "strict" as const,
    logLevel: "silent" as const,
  });
  const headers = () => ({ authorization: `token ${sandbox.tokens.full}` });

  test("has the page by its option, with createGateway", async () => {
    const gateway = createGateway({ ...options(), dataDir: join(dataDir, "a"), port: 0, adminPort: "off" });
    await gateway.start();
    await request(gateway.url, "GET /v4/vm/instances", { headers: headers() });
    const { body } = await request(gateway.url, "GET /v4/migration", { headers: headers() });
    expect(body.routes).toMatchObject([{ route: "GET /vm/instances", requests: 1 }]);
    await gateway.stop();
  });

  test("has it below its own path, with alphaGateway", async () => {
    const gateway = alphaGateway({ ...options(), dataDir: join(dataDir, "b") });
    const server: Server = createServer((incoming, response) =>
      gateway(incoming, response, () => response.writeHead(418).end()),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const { status, body } = await request(url, "GET /v4/migration", { headers: headers() });
      expect([status, body.routes]).toEqual([200, []]);
      expect((await request(url, "GET /v4/openapi.json")).status).toBe(200);
    } finally {
      server.close();
      await gateway.close();
    }
  });

  test("is told about an option that contradicts it", () => {
    expect(() => createGateway({ ...options(), audit: "off" })).toThrow(SettingsError);
  });
});
