/** Strangers in front of the old service: they leave connections to its clients, whatever they send and however slowly. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createGateway } from "../../../src/index.ts";
import { endsWithTest, temporaryFolder } from "../../support/ends-with-test.ts";
import { json, neverRespond, startFakeV4, type Responder } from "../../support/fake-v4.ts";
import { startObservingGateway, type ObservingGateway } from "../../support/observing-gateway.ts";
import { createRawClients, type RawClient } from "../../support/raw-client.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { startOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";

const CONNECTIONS = 8;
/** Milliseconds between two parts of an upload. */
const INTERVAL_MS = 50;

const hangs: Responder = (call, response) =>
  (call.path.includes("hangs") ? neverRespond : json(200, {}))(call, response);
const tokenHeader = (token: string | undefined) => token !== undefined && { authorization: `token ${token}` };

describe("while the gateway observes,", () => {
  let gateway: ObservingGateway;
  let aborts = new AbortController();
  let uploads = 0;
  const timers: NodeJS.Timeout[] = [];
  const clients = createRawClients(() => gateway.url);

  beforeEach(async () => {
    aborts = new AbortController();
    uploads = 0;
    gateway = await startObservingGateway({
      UPSTREAM_CONNECTIONS: String(CONNECTIONS),
      UPSTREAM_TIMEOUT_MS: "500",
      TRUST_PROXY: "127.0.0.1",
    });
    gateway.old.respondWith(hangs);
    gateway.old.onRequestHead(({ method }) => void (uploads += Number(method === "POST")));
  });
  afterEach(async () => {
    for (const timer of timers.splice(0)) clearInterval(timer);
    aborts.abort();
    clients.closeAll();
    await gateway.stop();
  });

  const ask = (network: number, path: string, token?: string): Promise<number> =>
    askFrom(`192.0.2.${network}`, path, token);

  async function askFrom(address: string, path: string, token?: string): Promise<number> {
    const { status } = await fetch(gateway.url + path, {
      headers: { "x-forwarded-for": address, ...tokenHeader(token) },
      signal: aborts.signal,
    });
    return status;
  }

  const countHanging = (): number => gateway.old.calls.filter(({ path }) => path === "/hangs").length;

  /** Calls that hang, of each network so many. The result waits until so many of them are at the old service. */
  async function hang(networks: number, each: number, atOldService: number, token?: string): Promise<void> {
    for (let index = 0; index < networks * each; index += 1)
      ask((index % networks) + 1, "/hangs", token && `${token}-${index}`).catch(() => {});
    await waitFor(() => countHanging() >= atOldService);
  }

  /** Starts an upload of which so many bytes come at a time. The result sends the rest. */
  async function upload(network: number, bytes: number, length = 10_000_000): Promise<RawClient> {
    const before = uploads;
    const client = await clients.open(
      `POST /upload HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.${network}\r\nContent-Length: ${length}\r\n\r\n`,
    );
    client.socket.on("error", () => {});
    let left = length;
    const timer = setInterval(() => {
      const next = Math.min(left, bytes);
      left -= next;
      if (next > 0 && !client.isEnded()) client.send("a".repeat(next));
    }, INTERVAL_MS);
    timers.push(timer);
    await waitFor(() => uploads > before);
    return client;
  }

  test("two networks without tokens leave connections to a third one, where nobody has a token", async () => {
    await hang(2, 20, 6);
    expect(await ask(3, "/things/1")).toBe(200);
    expect(countHanging()).toBe(6);
  });

  test("two networks with tokens that were made up leave connections to others, where a path needs none", async () => {
    for (let index = 0; index < 40; index += 1) await ask(1, "/things/1", `made-up-${index}`);
    await hang(2, 20, 7, "made-up");
    expect(await ask(3, "/things/1", "customer")).toBe(200);
    expect(countHanging()).toBe(7);
  });

  test("one IPv6 line with two accepted tokens leaves connections, and places in the queue, to another customer", async () => {
    for (const token of ["a", "b", "customer"]) expect(await ask(100, "/things/1", token)).toBe(200);
    const refused: number[] = [];
    for (let index = 0; index < 300; index += 1)
      askFrom(`2001:db8:7:${index}::1`, "/hangs", index % 2 ? "a" : "b").then(
        (status) => refused.push(status),
        () => {},
      );
    await waitFor(() => countHanging() >= CONNECTIONS - 1 && refused.length > 0);
    expect(await ask(100, "/things/1", "customer")).toBe(200);
    expect(countHanging()).toBe(CONNECTIONS - 1);
  });

  test("many networks without accepted tokens leave half to a client whose token the old service has accepted", async () => {
    expect(await ask(100, "/things/1", "customer")).toBe(200);
    await hang(20, 4, CONNECTIONS / 2, "made-up");
    const customer = Array.from({ length: 3 }, () => ask(100, "/things/1", "customer"));
    expect(new Set(await Promise.all(customer))).toEqual(new Set([200]));
    expect(countHanging()).toBe(CONNECTIONS / 2);
  });

  test("a token that the old service rejects is treated as unknown again", async () => {
    await ask(100, "/things/1", "customer");
    await ask(100, "/things/1", "leaver");
    gateway.old.respondWith(json(401, {}));
    await ask(100, "/things/1", "leaver");
    gateway.old.respondWith(hangs);
    for (let index = 0; index < 20; index += 1)
      for (const token of ["leaver", undefined]) ask(index, "/hangs", token).catch(() => {});
    await waitFor(() => countHanging() >= CONNECTIONS / 2);
    expect(await ask(100, "/things/1", "customer")).toBe(200);
    expect(countHanging()).toBe(CONNECTIONS / 2);
  });

  test("slow uploads are ended while a client waits, the slowest first, and a faster one is not", async () => {
    const faster = await upload(1, 5000, 200_000);
    const slow = await Promise.all(
      Array.from({ length: CONNECTIONS - 1 }, (_, index) => upload(2 + index, 30 + 20 * index)),
    );
    expect(await ask(100, "/things/1")).toBe(200);
    await slow[0]?.waitForEnd();
    expect(slow.filter((client) => client.isEnded())).toEqual([slow[0]]);
    const [response] = await faster.waitForResponses(1);
    expect(response?.status).toBe(200);
  });

  test("slow uploads continue while no client waits", async () => {
    const slow = await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, index) => upload(1 + index, 100, 6000)),
    );
    const responses = await Promise.all(slow.map((client) => client.waitForResponses(1)));
    expect(responses.map(([response]) => response?.status)).toEqual(slow.map(() => 200));
  });
});

test("/readyz and one line of the log report that clients wait because all connections are in use", async () => {
  const old = await startFakeV4();
  old.respondWith(hangs);
  const folder = temporaryFolder();
  const warnings: Record<string, unknown>[] = [];
  const ignore = (): void => {};
  const warn = (line: object): void => void warnings.push({ ...line });
  const gateway = createGateway({
    legacyUrl: old.url,
    port: 0,
    adminPort: 0,
    dataDir: folder,
    upstreamConnections: CONNECTIONS,
    upstreamTimeoutMs: 1000,
    trustProxy: "127.0.0.1",
    logger: { debug: ignore, info: ignore, warn, error: ignore, fatal: ignore, isLevelEnabled: () => false },
  });
  await gateway.start();
  endsWithTest(() => gateway.stop());
  const ask = (network: number): Promise<number> =>
    fetch(`${gateway.url}/hangs`, { headers: { "x-forwarded-for": `192.0.2.${network}` } }).then(
      ({ status }) => status,
    );
  const readReasons = async (): Promise<string[]> =>
    ((await (await fetch(`${gateway.adminUrl}/readyz`)).json()) as { reasons: string[] }).reasons;
  const calls = Array.from({ length: CONNECTIONS + 3 }, (_, index) => ask(index));
  const reasons = await waitFor(async () => {
    const all = await readReasons();
    return all.length > 0 && all;
  });
  expect(reasons).toEqual(["all connections to the old service for its own clients are in use"]);
  await Promise.all(calls);
  await waitFor(async () => (await readReasons()).length === 0);
  const codes = warnings.map(({ code }) => code);
  expect(codes.filter((code) => code === "AG_LEGACY_CONNECTIONS_EXHAUSTED")).toHaveLength(1);
});

test("clients without an accepted token leave half of the connections to accepted clients in a roll-out", async () => {
  const old = await startOldService();
  old.respondWith(hangs);
  const gateway: Gateway = await startGateway({
    LEGACY_URL: old.url,
    ROLLOUT_FILE: writeOperatorFile("data: shared\ncompare: { share: 0% }", "rollout.yaml"),
    UPSTREAM_CONNECTIONS: String(CONNECTIONS),
    UPSTREAM_TIMEOUT_MS: "500",
    TRUST_PROXY: "127.0.0.1",
  });
  const call = (network: number, as: string | null, path: string) =>
    gateway.request(`GET ${path}`, { as, headers: { "x-forwarded-for": `192.0.2.${network}` } });
  const countHanging = (): number => old.calls.filter(({ path }) => path.includes("hangs")).length;
  expect((await call(100, "full", "/vm/instances")).status).toBe(200);
  // A route that nobody knows says nothing about a token that it answers.
  for (let index = 0; index < 20; index += 1) await call(index, `made-up-${index}`, "/nowhere");
  const strangers = Array.from({ length: 60 }, (_, index) =>
    call(index % 20, index % 2 ? `made-up-${index % 20}` : null, "/nowhere?hangs"),
  );
  await waitFor(() => countHanging() >= CONNECTIONS / 2);
  expect((await call(100, "full", "/vm/instances")).status).toBe(200);
  expect(countHanging()).toBe(CONNECTIONS / 2);
  await Promise.all(strangers);
});
