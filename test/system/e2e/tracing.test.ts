/** Traces as a collector gets them, from a gateway as a process. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json as bodyOf } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { startSandbox } from "../../../src/sandbox/create-sandbox.ts";
import { createApplication, SECRET as CLIENT_SECRET } from "../../gateway/oauth/application.ts";
import { envelope, json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { PROGRAM_WITH_OPENTELEMETRY, serve, type Serving } from "./program.ts";

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2: server, 3: client. */
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly unknown[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

let v4: FakeV4;
let collector: Server;
let exports: Export[];
let paths: Set<string>;

beforeEach(async () => {
  v4 = await startFakeV4();
  exports = [];
  paths = new Set();
  async function collect(request: IncomingMessage, response: ServerResponse): Promise<void> {
    paths.add(request.url ?? "");
    exports.push((await bodyOf(request)) as Export);
    response.setHeader("content-type", "application/json").end("{}");
  }
  collector = createServer((request, response) => void collect(request, response)).listen(0, "127.0.0.1");
  await once(collector, "listening");
});

afterEach(async () => {
  collector.closeAllConnections();
  collector.close();
});

const spans = (): Span[] =>
  exports.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => [...scope.spans])),
  );

const attributesOf = ({ attributes }: Span): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const SECRET = "planted-s3cret";

function serveTraced(env: Readonly<Record<string, string>>): Promise<Serving> {
  const { port } = collector.address() as AddressInfo;
  return serve(temporaryFolder(), {
    script: [PROGRAM_WITH_OPENTELEMETRY],
    env: {
      UPSTREAM_URL: v4.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRET}`,
      ...env,
    },
  });
}

/** All spans are with the collector then. */
async function end(gateway: Serving): Promise<void> {
  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
}

/** Sends one alpha and one native request, and stops the gateway. */
async function traced(env: Readonly<Record<string, string>>): Promise<void> {
  const gateway = await serveTraced(env);
  for (const scheme of ["token", "Bearer"]) {
    const response = await fetch(`${gateway.url}/v4/vm/instances?password=${SECRET}`, {
      headers: { authorization: `${scheme} ${SECRET}`, traceparent: `00-${TRACE}-${PARENT}-01` },
    });
    await response.arrayBuffer();
  }
  await end(gateway);
}

const alphaCall = () => v4.calls.find(({ path }) => path.includes("page_size"));

test("a request has a span in its client's trace, and each v4 request a child span that v4 receives", async () => {
  v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "*" }));
  await traced({ OTEL_SERVICE_NAME: "the-gateway" });

  const alpha = spans().find(({ name }) => name === "GET /vm/instances")!;
  expect(alpha).toMatchObject({ kind: 2, traceId: TRACE, parentSpanId: PARENT });
  expect(attributesOf(alpha)).toMatchObject({
    "http.request.method": "GET",
    "http.route": "/vm/instances",
    "http.response.status_code": 200,
    "alpha_gateway.lane": "alpha",
  });
  const call = spans().find(({ kind }) => kind === 3)!;
  expect(call).toMatchObject({ name: "GET", traceId: TRACE, parentSpanId: alpha.spanId });
  expect(attributesOf(call)).toMatchObject({ "url.path": "/v4/vm/instances" });
  expect(alphaCall()?.headers["traceparent"]).toBe(`00-${TRACE}-${call.spanId}-01`);

  const native = spans().filter(({ kind, name }) => kind === 2 && name === "GET");
  expect(native).toMatchObject([{ traceId: TRACE, parentSpanId: PARENT }]);
  expect([...paths]).toEqual(["/v1/traces"]);
  expect(JSON.stringify(exports)).toContain('"the-gateway"');
  expect(JSON.stringify(exports)).not.toContain(SECRET);
}, 60_000);

test("failed spans have an error status", async () => {
  v4.respondWith((_call, response) => void response.destroy());
  await traced({});
  const failed = spans().filter(({ status }) => status.code === 2);
  expect(failed.map(({ name }) => name)).toEqual(expect.arrayContaining(["GET", "GET /vm/instances"]));
}, 60_000);

test("requests to the login server have spans: an exchange in its request's trace, a refresh in its own", async () => {
  const sandbox = await startSandbox({ tokenSeconds: 1 });
  const gateway = await serveTraced({ UPSTREAM_URL: sandbox.url, AUTH_URL: sandbox.authUrl });
  const app = createApplication(gateway.url);
  const code = (await app.signIn("vms:view")).searchParams.get("code") ?? "";
  const { access_token: token } = (await app.exchange(code)).body;
  await wait(1100);
  const response = await fetch(`${gateway.url}/v4/vm/instances`, {
    headers: { authorization: `token ${token}` },
  });
  expect(response.status).toBe(200);
  await end(gateway);
  await sandbox.close();

  const exchange = spans().find(({ name }) => name === "POST /oauth/token");
  const [asked, renewal, ...more] = spans().filter(({ kind, name }) => kind === 3 && name === "POST");
  expect(asked).toMatchObject({ traceId: exchange?.traceId, parentSpanId: exchange?.spanId });
  expect(renewal?.parentSpanId ?? "").toBe("");
  expect(more).toEqual([]);
  for (const call of [asked!, renewal!]) {
    expect(attributesOf(call)).toEqual({
      "http.request.method": "POST",
      "url.path": "/oauth/token",
      "http.response.status_code": 200,
    });
  }
  for (const secret of [CLIENT_SECRET, code, token])
    expect(JSON.stringify(exports).includes(secret)).toBe(false);
}, 60_000);

test("a failing login server gives an error span, and receives the trace", async () => {
  v4.respondWith((_call, response) => void response.destroy());
  const gateway = await serveTraced({ AUTH_URL: v4.url });
  const { status } = await createApplication(gateway.url).exchange("a-code");
  expect(status).toBe(500);
  await end(gateway);

  const call = spans().find(({ kind, name }) => kind === 3 && name === "POST");
  expect(call?.status).toMatchObject({ code: 2 });
  const result = v4.calls.find(({ path }) => path === "/oauth/token");
  expect(result?.headers["traceparent"]).toBe(`00-${call?.traceId}-${call?.spanId}-01`);
}, 60_000);

test.each([
  { OTEL_TRACES_SAMPLER: "always_off" },
  { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" },
  { OTEL_TRACES_EXPORTER: "none" },
  { OTEL_SDK_DISABLED: "true" },
])(
  "%j sends no spans, and v4 still receives the client's trace",
  async (env) => {
    v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "*" }));
    await traced(env);
    expect(spans()).toEqual([]);
    expect(alphaCall()?.headers["traceparent"]).toContain(TRACE);
  },
  60_000,
);

test("an unreachable collector delays no response and no exit", async () => {
  v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "*" }));
  const gateway = await serve(temporaryFolder(), {
    script: [PROGRAM_WITH_OPENTELEMETRY],
    env: { UPSTREAM_URL: v4.url, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" },
  });
  const response = await fetch(`${gateway.url}/v4/vm/instances`, { headers: { authorization: "token t" } });
  expect(response.status).toBe(200);
  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
}, 60_000);
