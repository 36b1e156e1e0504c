/** What callers without an accepted token can do to the audit: little, and never at the cost of a record. */
import { expect, test } from "@jest/globals";
import { RequestContext } from "../../../src/gateway/request/context.ts";
import type { AlphaRequest } from "../../../src/gateway/request/request.ts";
import { UpstreamActivity } from "../../../src/gateway/calls/instrument-call.ts";
import { createMetrics } from "../../../src/base/metrics/metrics.ts";
import type { Log } from "../../../src/base/log/log.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import { createInFlightTracker } from "../../../src/gateway/http/in-flight.ts";
import { Recorder } from "../../../src/gateway/record/recorder.ts";
import { packIn } from "../../support/packs.ts";
import { collectGarbage } from "../../support/garbage.ts";

const pack = packIn("mappings");
const outcome = {
  status: 400,
  meaning: "refused" as const,
  response: { status: 400, headers: {}, body: Buffer.from("{}") },
};

function record(
  body: Buffer,
  change: (activity: UpstreamActivity) => void = () => {},
  sent: Partial<AlphaRequest> = {},
) {
  const records: AuditRecord[] = [];
  const lines: { code?: string }[] = [];
  const addLine = (line: object) => lines.push(line);
  const log = { isLevelEnabled: () => false, error: addLine, warn: addLine } as unknown as Log;
  const audit = { append: (each: AuditRecord) => void records.push(each) } as unknown as AuditStore;
  const settings = { AUDIT: "full", AUDIT_BODY_LIMIT: 65_536, AUDIT_DURABILITY: "strict" } as const;
  const metrics = createMetrics();
  const recorder = new Recorder({
    pack,
    settings,
    audit,
    metrics,
    log,
    inFlight: createInFlightTracker(),
    tracing: undefined,
  });
  metrics.close();
  const request = {
    id: "r-1",
    startedAt: performance.now(),
    method: "POST",
    path: "/v4/vm/instances",
    query: "",
    headers: {},
    address: "192.0.2.1",
    signal: new AbortController().signal,
    ...sent,
  } as unknown as AlphaRequest;
  const context = new RequestContext();
  const credentials = { token: "made-up-token", hash: "0".repeat(64) };
  context.client = { credentials, tokenInfo: undefined, isAccepted: false };
  context.body = { bytes: body };
  const activity = new UpstreamActivity(context.warnings);
  context.upstream = activity;
  change(activity);
  void recorder.alpha(request, outcome, context);
  return { record: records[0], lines };
}

test("a body above one kilobyte is not recorded for a rejected request with an unaccepted token", () => {
  const large = Buffer.from(`{${"\u0001".repeat(66_000)}`);
  expect(record(large).record?.alpha.body).toBeUndefined();
  expect(JSON.stringify(record(Buffer.from('{"label":"x"}')).record?.alpha.body)).toBe('{"label":"x"}');
  const knownClientRecord = record(large, (activity) => void (activity.isTokenAccepted = true)).record;
  expect(knownClientRecord?.alpha.body).toMatchObject({ truncated: true });
  expect(JSON.stringify(knownClientRecord).length).toBeLessThan(3 * 65_536);
});

test("a record that cannot be written is replaced by a minimal one with a warning, and logged with a code", () => {
  const { record: minimal, lines } = record(Buffer.from("{}"), (activity) => {
    activity.calls.push({
      method: "GET",
      path: "/v4/x",
      filter: null,
      status: 200,
      ms: 1,
      get response(): never {
        throw new RangeError("Cannot create a string longer than 0x1fffffe8 characters");
      },
    });
  });
  expect(minimal).toMatchObject({ alpha: { method: "POST", status: 400 }, v4: [] });
  expect(minimal?.warnings).toHaveLength(1);
  expect(lines).toContainEqual(expect.objectContaining({ code: "AG_AUDIT_RECORD_FAILED" }));
});

test("a record does not keep the rest of a header or a target in memory that it has the start of", () => {
  const rest = "x".repeat(16_000);
  const sentBy = (n: number): Partial<AlphaRequest> => ({
    path: `/v4/${n}${rest}`,
    query: `a=${n}${rest}`,
    headers: { "user-agent": [`client ${n} ${rest}`], "x-filter": [`{"label":"${n}${rest}"}`] },
  });
  const records: unknown[] = [];
  const before = memoryInUse();
  for (let n = 0; n < 500; n += 1) records.push(record(Buffer.from("{}"), undefined, sentBy(n)).record);
  // The records have 3 kB each of such texts, and the requests had 64 kB.
  expect(memoryInUse() - before).toBeLessThan(8_000_000);
  expect(records).toHaveLength(500);
});

function memoryInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
