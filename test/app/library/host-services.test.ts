/** What an application gives to `alphaGateway`, and what it can ask of the gateway. */
import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  trace,
  type Context,
  type ContextManager,
} from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Registry as OtherRegistry } from "@prometheus-io/client";
import express from "express";
import { pino } from "pino";
import { Registry } from "prom-client";
import request from "supertest";
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import {
  alphaGateway,
  AuditUnavailableError,
  createGateway,
  loadPack,
  PackError,
  type AlphaGateway,
  type AlphaGatewayOptions,
} from "../../../src/index.ts";
import type { GatewayLogger } from "../../../src/base/log/log.ts";
import type { HostTracer } from "../../../src/app/tracing/open-tracing.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/create-sandbox.ts";
import { endsWithTest, temporaryFolder } from "../../support/ends-with-test.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

let sandbox: Sandbox;
const mappings = loadPack("mappings");

beforeAll(async () => {
  sandbox = await startSandbox();
  endsWithTest(() => sandbox.close());
});

const optionsOf = (options: AlphaGatewayOptions): AlphaGatewayOptions => ({
  upstream: sandbox.url,
  mappings,
  shutdownGraceMs: 200,
  dataDir: temporaryFolder(),
  logLevel: "silent",
  ...options,
});

function create(options: AlphaGatewayOptions = {}) {
  const gateway = alphaGateway(optionsOf(options));
  endsWithTest(() => gateway.close());
  const app = express();
  app.use(gateway);
  return { gateway, ...requestsTo(app) };
}

function requestsTo(target: Parameters<typeof request>[0]) {
  const get = (path: string) => request(target).get(path);
  const list = () => get("/v4/vm/instances").set("authorization", `token ${sandbox.tokens.full}`);
  return { get, list };
}

describe("logger", () => {
  test("a logger of pino gets the log, at its own level", async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ level: "debug", name: "shop" }, { write: (line) => lines.push(JSON.parse(line)) });
    const { list } = create({ logger });
    await list();
    expect(lines).toContainEqual(expect.objectContaining({ name: "shop", level: 20, msg: "request" }));
  });

  test("lines of requests are not written to a logger without levels", async () => {
    const messages: string[] = [];
    const keep = (_context: object, message: string) => void messages.push(message);
    const logger = { debug: keep, info: keep, warn: keep, error: keep, fatal: keep };
    const { list } = create({ logger });
    await list();
    expect(messages).not.toContain("request");
  });

  test("repeated failures of one kind are written once", async () => {
    const codes: unknown[] = [];
    const keep = (line: object) => void codes.push((line as { code?: string }).code);
    const logger = { debug: keep, info: keep, warn: keep, error: keep, fatal: keep };
    const { gateway } = create({ logger });
    const app = express();
    app.use(express.json(), gateway);
    for (let count = 0; count < 5; count += 1) await request(app).get("/v4/datacenters");
    expect(codes.filter((code) => code === "AG_BODY_ALREADY_READ")).toHaveLength(1);
  });
});

describe.each([
  ["prom-client", () => new Registry()],
  ["@prometheus-io/client", () => new OtherRegistry()],
])("metrics of %s", (_package, createRegistry) => {
  test("a registry gets the gateway's metrics, without those of the process, until the gateway is closed", async () => {
    const metrics = createRegistry();
    const { gateway, list } = create({ metrics });
    await list();

    const text = await metrics.metrics();
    expect(text).toMatch(/^alpha_gateway_requests_total\{.*status="200".*\} 1$/m);
    expect(text).toMatch(/^alpha_gateway_request_seconds_bucket\{.*le="\+Inf".*\} 1$/m);
    expect(text).toMatch(/^alpha_gateway_replicas 1$/m);
    expect(text).not.toContain("process_cpu_seconds_total");

    await gateway.close();
    expect(await metrics.metrics()).not.toContain("alpha_gateway");
  });

  test("a registry that has the metrics of another gateway keeps a second one from opening", async () => {
    const metrics = createRegistry();
    const first = create({ metrics });
    expect((await first.list()).status).toBe(200);
    const second = create({ metrics });
    expect((await second.list()).status).toBe(500);
    expect(await second.gateway.ready()).toEqual([expect.stringContaining("alpha_gateway_requests_total")]);
  });
});

const throws = (): never => {
  throw new Error("down");
};
const rejects = (): Promise<never> => Promise.reject(new Error("down"));

describe("a logger that fails decides no request", () => {
  const records = async (gateway: AlphaGateway) => (await gateway.audit?.query({}))?.records ?? [];
  let written: jest.SpiedFunction<typeof process.stderr.write>;
  const onUnhandled = jest.fn();
  beforeEach(() => {
    written = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    process.on("unhandledRejection", onUnhandled);
    onUnhandled.mockClear();
  });
  afterEach(() => {
    written.mockRestore();
    process.off("unhandledRejection", onUnhandled);
  });

  test.each<[string, () => unknown]>([
    ["throws", throws],
    ["returns promises that are rejected", rejects],
  ])("where it %s: its failure is written once", async (_, fail) => {
    const methods = { debug: fail, info: fail, warn: fail, error: fail, fatal: fail, isLevelEnabled: fail };
    const { gateway, list } = create({ logger: methods as GatewayLogger, auditDurability: "strict" });
    expect([(await list()).status, (await list()).status]).toEqual([200, 200]);
    expect(await records(gateway)).toHaveLength(2);
    await gateway.close();
    const lines = written.mock.calls.filter(([line]) => String(line).includes("AG_LOGGER_FAILED"));
    expect(lines).toHaveLength(1);
    expect(onUnhandled).not.toHaveBeenCalled();
  });

  const failing = (call: () => unknown) =>
    new Proxy({}, { get: (_target, name) => (name === "then" ? undefined : call) });
  test.each<[string, () => unknown]>([
    ["throws", throws],
    ["returns a promise that is rejected", rejects],
    ["has spans that throw", () => failing(throws)],
    ["has spans that return promises that are rejected", () => failing(rejects)],
    ["has no spans", () => undefined],
    ["has spans with other ids", () => failing(() => ({ traceId: "x\r\nx: y", spanId: 1, traceFlags: 1 }))],
  ])("nor does a tracer that %s", async (_, startSpan) => {
    const codes: unknown[] = [];
    const keep = (line: object) => void codes.push((line as { code?: string }).code);
    const logger = { debug: keep, info: keep, warn: keep, error: keep, fatal: keep };
    const tracer: HostTracer = { startSpan };
    const { gateway, list } = create({ tracer, logger, auditDurability: "strict" });
    const native = request(express().use(gateway))
      .get("/v4/vm/instances")
      .set("authorization", `Bearer ${sandbox.tokens.full}`);
    expect([(await list()).status, (await native).status]).toEqual([200, 200]);
    expect(await records(gateway)).toHaveLength(2);
    expect(codes.filter((code) => code === "AG_TRACER_FAILED").length).toBeLessThanOrEqual(1);
    expect(codes).not.toContain("AG_UNEXPECTED_ERROR");
    expect(onUnhandled).not.toHaveBeenCalled();
  });
});

describe("tracer", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = provider.getTracer("shop");

  afterEach(() => exporter.reset());

  test("starts a span for each request, and below it one for each call of v4", async () => {
    const { list } = create({ tracer });
    await list();
    const spans = exporter.getFinishedSpans();
    const server = spans.find(({ kind }) => kind === SpanKind.SERVER);
    expect(server).toMatchObject({ name: "GET /vm/instances" });
    const call = spans.find(
      ({ parentSpanContext }) => parentSpanContext?.spanId === server?.spanContext().spanId,
    );
    expect(call).toMatchObject({ kind: SpanKind.CLIENT });
  });

  test("spans of requests belong to the active span of the application", async () => {
    const contexts = new AsyncLocalStorage<Context>();
    const manager = {
      active: () => contexts.getStore() ?? ROOT_CONTEXT,
      with: (active: Context, run: () => unknown) => contexts.run(active, run),
      bind: <T>(_context: Context, target: T) => target,
      enable: () => manager,
      disable: () => manager,
    };
    context.setGlobalContextManager(manager as unknown as ContextManager);
    try {
      const { gateway } = create({ tracer });
      const app = express();
      const outer = tracer.startSpan("outer");
      app.use((_request, _response, next) => context.with(trace.setSpan(context.active(), outer), next));
      app.use(gateway);
      await request(app).get("/v4/datacenters");
      outer.end();
      const server = exporter.getFinishedSpans().find(({ kind }) => kind === SpanKind.SERVER);
      expect(server?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
    } finally {
      context.disable();
    }
  });
});

test("services without their methods are refused at creation", () => {
  const wrong = { logger: {}, metrics: { registerMetric: () => {} }, tracer: "tracer" };
  expect(() => alphaGateway(optionsOf(wrong as unknown as AlphaGatewayOptions))).toThrow(
    expect.objectContaining({
      problems: [
        "logger: it has no debug, info, warn, error, fatal",
        "metrics: it has no getSingleMetric, removeSingleMetric",
        "tracer: it has no startSpan",
      ],
    }),
  );
});

describe.each([
  ["alphaGateway", async (options: AlphaGatewayOptions) => create(options)],
  [
    "createGateway",
    async (options: AlphaGatewayOptions) => {
      const gateway = createGateway({ ...optionsOf(options), port: 0, adminPort: "off" });
      await gateway.start();
      endsWithTest(() => gateway.stop());
      return { gateway, ...requestsTo(gateway.url) };
    },
  ],
])("a gateway of %s", (_name, start) => {
  test("gives its metrics", async () => {
    const { gateway, list } = await start({});
    await list();
    const text = await gateway.metrics();
    expect(text).toMatch(/^alpha_gateway_requests_total\{.*status="200".*\} 1$/m);
    expect(text).toContain("process_cpu_seconds_total");
  });

  test("gives its audit records", async () => {
    const { gateway, list } = await start({ auditDurability: "strict" });
    await list();
    expect(await gateway.audit?.count()).toBe(1);
    const { records = [] } = (await gateway.audit?.query({ status: 200 })) ?? {};
    expect(records).toMatchObject([{ alpha: { route: "GET /vm/instances" } }]);
    expect(await gateway.audit?.get(records[0]?.id ?? "")).toEqual(records[0]);
  });

  test("has no audit if that is off", async () => {
    const { gateway } = await start({ audit: "off" });
    expect(gateway.audit).toBeUndefined();
  });

  test("reloads its pack, and keeps the active one where the new one is invalid", async () => {
    const routes = [{ client: "GET /places/:id", upstream: "GET /v4/regions/{id}" }];
    const pack = writeSmallPack({ book: { fields: { title: "id" }, routes } });
    const file = join(pack, "book.yaml");
    const first = readFileSync(file, "utf8");
    const { gateway, get } = await start({ mappings: pack });
    const readPlace = async () => (await get("/places/us-east")).body;
    expect(await readPlace()).toEqual({ title: "us-east" });
    writeFileSync(file, first.replace("title:", "name:"));
    await gateway.reload();
    expect(await readPlace()).toEqual({ name: "us-east" });

    writeFileSync(file, "object: [");
    await expect(gateway.reload()).rejects.toThrow(PackError);
    expect(await readPlace()).toEqual({ name: "us-east" });

    // A reload that another one replaces has the result of the newest.
    writeFileSync(file, first);
    const replaced = [gateway.reload()];
    writeFileSync(file, "object: [");
    replaced.push(gateway.reload(), gateway.reload());
    expect(await Promise.allSettled(replaced)).toMatchObject(
      replaced.map(() => ({ status: "rejected", reason: { name: "PackError" } })),
    );
    expect(await readPlace()).toEqual({ name: "us-east" });
  });
});

test("a closed gateway gives neither metrics nor records", async () => {
  const { gateway } = create();
  await gateway.close();
  await expect(gateway.metrics()).rejects.toThrow("The gateway is closed.");
  await expect(gateway.audit?.count()).rejects.toThrow(AuditUnavailableError);
});
