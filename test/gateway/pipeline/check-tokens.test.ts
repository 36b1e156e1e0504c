/** Tokens that v4 never saw, because their clients only read catalogs: v4 is asked about them after the response. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { acceptGoodTokens, json, neverRespond, type Responder } from "../../support/fake-v4.ts";
import {
  startGatewayWithFakeV4,
  waitFor,
  type GatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { RECORDING, type TestSettings } from "../../support/gateway.ts";

const CATALOG = "GET /datacenters";
const CHECK = "/v4/profile";

let gateway: GatewayWithFakeV4;
async function start(settings: TestSettings = {}, responder: Responder = acceptGoodTokens): Promise<void> {
  gateway = await startGatewayWithFakeV4({ ...RECORDING, TRUST_PROXY: "127.0.0.1", ...settings });
  gateway.v4.respondWith(responder);
}

const read = (as: string | null, address = "192.0.2.1") =>
  gateway.request(CATALOG, { as, headers: { "x-forwarded-for": address, "user-agent": "regions/1" } });

/** How many checks had a result so far. */
async function checks(result: string): Promise<number> {
  const { text } = await gateway.requestAdmin("GET /metrics");
  return Number(new RegExp(`token_checks_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}
const checked = (result: string, count = 1) => waitFor(async () => (await checks(result)) === count);

/** Who is counted, with how many requests. */
const clients = async (): Promise<unknown[]> =>
  (await gateway.requestAdmin("GET /api/usage/clients")).body.clients.map(
    ({ client, requests }: { client: string | null; requests: number }) => [
      client?.replace(/^[0-9a-f]{16}$/, "token") ?? "nobody",
      requests,
    ],
  );

describe("a token that v4 accepts, and that reads a catalog once", () => {
  let dataDir: string;
  const printed = captureCommands();
  beforeEach(async () => {
    dataDir = temporaryFolder();
    await start({ DATA_DIR: dataDir });
  });

  test("is a client from this call on: in the summaries, in the states and for the command", async () => {
    expect((await read("good")).status).toBe(200);
    await waitFor(async () => JSON.stringify(await clients()) === '[["token",1]]');
    const { body } = await gateway.requestAdmin("GET /api/usage/clients");
    expect(body.clients[0]).toMatchObject({ state: "not begun", userAgent: "regions/1" });
    expect(await runCommandLine(["clients", `--data-dir=${dataDir}`])).toBe(0);
    expect(printed()).toContain(body.clients[0].client);
  });

  test("costs v4 one call, however often it reads catalogs", async () => {
    await Promise.all(Array.from({ length: 20 }, () => read("good")));
    await checked("accepted");
    for (let n = 0; n < 5; n += 1) await read("good");
    expect(gateway.v4.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([`GET ${CHECK}`]);
    await waitFor(async () => JSON.stringify(await clients()) === '[["token",25]]');
  });

  test("has a record of the check, without what v4 says of its user", async () => {
    gateway.v4.respondWith(json(200, { email: "someone@example.com" }, { "x-oauth-scopes": "*" }));
    await read("good");
    // It may have the same millisecond as the record of the request.
    const record = await waitFor(async () =>
      (await gateway.readAudit()).find(({ alpha }) => alpha.route === "token check"),
    );
    expect(record).toMatchObject({
      requests: 0,
      client: { accepted: true },
      v4: [{ method: "GET", path: CHECK, status: 200 }],
    });
    expect(JSON.stringify(record)).not.toContain("someone");
  });
});

describe("the cost of invented tokens", () => {
  const times = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
  /** Reads a catalog with each of 200 tokens, within a minute, and waits until all checks have ended. */
  async function read200(addressOf: (n: number) => string): Promise<void> {
    for (const n of times(200)) expect((await read(`invented-${n}`, addressOf(n))).status).toBe(200);
    await waitFor(
      async () => (await checks("refused")) + (await checks("failed")) + (await checks("skipped")) === 200,
    );
  }
  const expectNoClient = async () => {
    expect(await clients()).toEqual([["unaccepted", 200]]);
    const { records } = (await gateway.requestAdmin("GET /api/audit?limit=500")).body;
    expect(
      records.filter(({ alpha }: { alpha: { route: string } }) => alpha.route === "token check"),
    ).toEqual([]);
  };

  test("is 20 calls for 200 tokens of one address", async () => {
    await start();
    await read200(() => "192.0.2.1");
    expect(gateway.v4.calls).toHaveLength(20);
    expect(await checks("skipped")).toBe(180);
    await expectNoClient();
  });

  test("is 60 calls for 200 tokens of as many addresses", async () => {
    await start();
    await read200((n) => `10.0.${n >> 8}.${n & 255}`);
    expect(gateway.v4.calls).toHaveLength(60);
    await expectNoClient();
  });

  test("is one call for one token, which stays nobody's, and its public catalogs are served", async () => {
    await start({ TOKEN_NEGATIVE_TTL_SECONDS: "1" });
    for (let n = 0; n < 5; n += 1) expect((await read("invented")).status).toBe(200);
    await checked("refused");
    expect((await read("invented")).status).toBe(200);
    expect(gateway.v4.calls).toHaveLength(1);
    expect(await clients()).toEqual([["unaccepted", 6]]);
  });

  test("leaves the tokens of others behind the address their checks, if v4 accepts them", async () => {
    await start();
    for (const n of times(30)) {
      await read(`good-${n}`);
      await checked("accepted", n + 1);
    }
    expect((await clients()).length).toBe(30);
  });
});

describe("a v4 that does not say anything", () => {
  test("delays no response, also of further requests with the token", async () => {
    await start({ UPSTREAM_TIMEOUT_MS: "60000" }, neverRespond);
    expect((await read("good")).status).toBe(200);
    await waitFor(() => gateway.v4.calls.length === 1);
    expect((await read("good")).status).toBe(200);
    expect((await read("good")).status).toBe(200);
    expect(gateway.v4.calls).toHaveLength(1);
  });

  test.each<[string, Responder]>([
    ["500", json(500, {})],
    ["429", json(429, {})],
  ])("leaves the token unproven until another call shows it: %s", async (_name, fault) => {
    await start({}, fault);
    expect((await read("good")).status).toBe(200);
    await checked("failed");
    expect(await clients()).toEqual([["unaccepted", 1]]);
    gateway.v4.respondWith(acceptGoodTokens);
    await gateway.request("GET /vm/instances", { as: "good" });
    expect(await clients()).toEqual([["token", 2]]);
  });
});

describe("v4 is not asked", () => {
  test("about a request without a token: it is nobody's", async () => {
    await start();
    await read(null);
    expect(await clients()).toEqual([["nobody", 1]]);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("about a token that v4 has accepted", async () => {
    await start();
    await gateway.request("GET /vm/instances", { as: "good" });
    await read("good");
    await read("good");
    expect(gateway.v4.calls).toHaveLength(1);
  });

  test("if nothing counts clients: without an audit and a plan", async () => {
    await start({ AUDIT: "off" });
    await read("good");
    expect(gateway.v4.calls).toEqual([]);
  });
});
