/** Without an audit the gateway does not read a request for a record. */
import { expect, test } from "@jest/globals";
import { RequestContext } from "../../../src/gateway/request/context.ts";
import type { AlphaRequest } from "../../../src/gateway/request/request.ts";
import { createMetrics } from "../../../src/base/metrics/metrics.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { createInFlightTracker } from "../../../src/gateway/http/in-flight.ts";
import { Recorder } from "../../../src/gateway/record/recorder.ts";
import { packIn } from "../../support/packs.ts";

/** A request that counts reads of its parts, and the log lines about it. */
function recordedWithoutAudit() {
  const lines: unknown[] = [];
  const inFlight = createInFlightTracker();
  const write = (line: unknown) => void lines.push(line);
  const log = { isLevelEnabled: () => true, debug: write, warn: write, error: write } as unknown as Log;
  const settings = { AUDIT: "off", AUDIT_BODY_LIMIT: 1024, AUDIT_DURABILITY: "relaxed" } as const;
  const metrics = createMetrics();
  const pack = packIn("mappings");
  const recorder = new Recorder({
    pack,
    settings,
    audit: undefined,
    metrics,
    log,
    inFlight,
    tracing: undefined,
  });
  metrics.close();
  let looks = 0;
  const request = {
    id: "r-1",
    startedAt: performance.now(),
    method: "POST",
    get path() {
      looks += 1;
      return "/v4/vm/instances";
    },
    get query() {
      looks += 1;
      return "\\".repeat(15_000);
    },
    headers: {
      get "user-agent"() {
        looks += 1;
        return ["\\".repeat(15_000)];
      },
    },
    address: "192.0.2.1",
    signal: new AbortController().signal,
  } as unknown as AlphaRequest;
  const context = Object.defineProperty(new RequestContext(), "body", {
    get() {
      looks += 1;
      return { bytes: Buffer.from('{"password":"hunter2hunter2"}') };
    },
  });
  return { recorder, request, context, lines, looks: () => looks, recorded: () => inFlight.idle(5000) };
}

const outcome = {
  status: 420,
  meaning: "limited" as const,
  response: { status: 420, headers: {}, body: Buffer.from("{}") },
};

test("AUDIT=off reads nothing of a request's path, query, headers and body", async () => {
  const { recorder, request, context, looks, recorded } = recordedWithoutAudit();
  void recorder.alpha(request, outcome, context);
  await recorder.forwarded({
    lane: "native",
    request,
    hash: undefined,
    application: undefined,
    isAccepted: true,
    isTrusted: true,
    isServed: true,
    route: null,
    status: 200,
    hasFailed: false,
    rejectedBy: undefined,
    calls: [{ status: 200, ms: 1 }],
    losses: new Set(),
    warnings: [],
    timings: { total: 1, upstream: 1, translation: 0 },
    beganAt: Date.now(),
    traceparent: undefined,
    forwarded: {
      upstreamStatus: 200,
      isComplete: true,
      bytesIn: 0,
      bytesOut: 0,
      sent: undefined,
      received: undefined,
    },
  });
  await recorded();
  expect(looks()).toBe(0);
});

test("AUDIT=off logs warnings without the values of secret names", async () => {
  const { recorder, request, context, lines, recorded } = recordedWithoutAudit();
  context.warnings.push('no rule for "hunter2hunter2"');
  void recorder.alpha(request, outcome, context);
  await recorded();
  expect(lines).toEqual([expect.objectContaining({ warnings: ['no rule for "[redacted]"'] })]);
});

test("AUDIT=off logs unexpected errors without the values of secret names", () => {
  const { recorder, request, context, lines } = recordedWithoutAudit();
  recorder.unexpected(new Error('"hunter2hunter2" is not a number'), request, context);
  expect(JSON.stringify(lines)).toContain("is not a number");
  expect(JSON.stringify(lines)).not.toContain("hunter2");
});
