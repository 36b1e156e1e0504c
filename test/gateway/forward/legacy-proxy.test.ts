/** The forward to the old service beside a pack: the part that decides per request who answers calls it. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import express from "express";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createLegacyForward, openLegacy, type LegacyService } from "../../../src/gateway/forward/legacy.ts";
import { createInFlightTracker } from "../../../src/gateway/http/in-flight.ts";
import { createRequestContext, plainRequestOf } from "../../../src/gateway/http/request-context.ts";
import type { ForwardedExchange } from "../../../src/gateway/record/recorded-exchange.ts";
import { createMetrics } from "../../../src/base/metrics/metrics.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { readEnvironment } from "../../../src/base/settings/settings.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { json, neverRespond, plain, raw, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { waitFor } from "../../support/wait-for.ts";

const BODY_LIMIT = 100;

let old: FakeV4;
let server: Server;
let url: string;
let legacy: LegacyService | undefined;
const exchanges: ForwardedExchange[] = [];
const log = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Log;

beforeAll(async () => {
  old = await startFakeV4();
  const settings = readEnvironment({
    LEGACY_URL: old.url,
    UPSTREAM_TIMEOUT_MS: "125",
    MAPPINGS_DIR: "examples/library/pack",
    SANDBOX: "true",
  });
  const metrics = createMetrics();
  legacy = openLegacy(settings, { log, metrics, tls: undefined });
  metrics.close();
  if (!legacy) throw new Error("there is no old service");
  const pack = loadPack("examples/library/pack", { vm: "vm", orch: "orch" });
  const forward = createLegacyForward(
    settings,
    legacy,
    { pack, inFlight: createInFlightTracker() },
    { keptBytes: () => 0, forwarded: async () => {} },
  );
  const app = express();
  app.use(
    createRequestContext({
      trustProxy: [],
      tokenParameter: undefined,
      methodHeader: undefined,
      clientHeader: undefined,
      isSecretId: () => false,
    }),
  );
  app.use((request, response) =>
    forward(request, response, plainRequestOf(response), {
      isKnown: () => false,
      bodyLimit: BODY_LIMIT,
      onSent: () => {},
      onHead: () => {},
      onEnd: (exchange) => exchanges.push(exchange),
    }),
  );
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  legacy?.proxy.close();
});
beforeEach(() => {
  exchanges.length = 0;
  old.respondWith(json(200, {}));
});

const send = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(url + path, init);
  return { status: response.status, body: await response.text() };
};

async function lastExchange(): Promise<ForwardedExchange> {
  await waitFor(() => exchanges.length > 0);
  const [exchange] = exchanges;
  if (!exchange) throw new Error("there is none");
  return exchange;
}

describe("the observer of one request", () => {
  test("gets the status, all headers, and both bodies of the exchange", async () => {
    old.respondWith(json(201, { id: 1 }, { "x-old": "yes", server: "old/1" }));
    const body = '{"title":"x"}';
    await send("/old/books", { method: "POST", body, headers: { "content-type": "application/json" } });
    const { status, forwarded, hash } = await lastExchange();
    const { sent, received, upstreamStatus, isComplete } = forwarded;
    expect(received?.headers).toMatchObject({ "x-old": "yes", server: "old/1" });
    expect((await received?.decode())?.bytes.toString()).toBe('{"id":1}');
    expect((await sent?.decode())?.bytes.toString()).toBe(body);
    expect({ status, upstreamStatus, isComplete }).toEqual({
      status: 201,
      upstreamStatus: 201,
      isComplete: true,
    });
    expect(hash).toBeUndefined();
  });

  test("gets a body without its content coding", async () => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    old.respondWith(plain(200, gzipSync('{"a":1}'), headers));
    await send("/old/books");
    const decoded = await (await lastExchange()).forwarded.received?.decode();
    expect(decoded).toMatchObject({ lack: undefined, length: 7 });
    expect(decoded?.bytes.toString()).toBe('{"a":1}');
  });

  test("gets no more than its limit of a body, also of one that grows when it is decoded", async () => {
    const bytes = gzipSync(Buffer.alloc(10_000_000, "[1,"));
    old.respondWith(plain(200, bytes, { "content-type": "application/json", "content-encoding": "gzip" }));
    await send("/old/books");
    const decoded = await (await lastExchange()).forwarded.received?.decode();
    expect(decoded?.lack).toBe("it has more than 100 bytes");
    expect(decoded?.bytes.length).toBeLessThanOrEqual(BODY_LIMIT);
  });

  test("gets the length of a file, and nothing of it", async () => {
    old.respondWith(plain(200, "x".repeat(50), { "content-type": "application/pdf" }));
    await send("/old/books");
    expect(await (await lastExchange()).forwarded.received?.decode()).toMatchObject({
      isKept: false,
      length: 50,
    });
  });

  test("gets no answer where the old service gave none", async () => {
    old.respondWith(raw("", "reset"));
    await send("/old/books");
    expect((await lastExchange()).forwarded.received).toBeUndefined();
  });
});

describe("an error of the gateway has the shape and the status of the pack's errors", () => {
  test("where the old service breaks off", async () => {
    old.respondWith(raw("", "reset"));
    expect(await send("/old/books", { method: "POST", body: "x" })).toEqual({
      status: 500,
      body: '{"problems":[{"text":"The service could not process this request."}]}',
    });
  });

  test("where it does not respond in time", async () => {
    old.respondWith(neverRespond);
    expect(await send("/old/books")).toEqual({
      status: 500,
      body: '{"problems":[{"text":"The service did not respond in time."}]}',
    });
  });
});
