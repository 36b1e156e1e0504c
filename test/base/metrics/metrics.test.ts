import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createMetrics } from "../../../src/base/metrics/metrics.ts";
import type { Metrics, RequestMetrics } from "../../../src/base/metrics/metrics.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { addAuditMetrics } from "../../../src/audit/store/audit-metrics.ts";

const outcome: RequestMetrics = {
  lane: "alpha",
  alpha: { route: "GET /vm/instances", status: 200 },
  v4: [{ status: 200 }],
  timings: { total: 20, upstream: 12.5 },
};

describe("the metrics", () => {
  let metrics: Metrics;
  beforeEach(() => {
    metrics = createMetrics();
  });
  afterEach(() => metrics.close());

  /** The value of one line, or undefined where there is no such line. */
  async function value(line: string): Promise<number | undefined> {
    const found = (await metrics.text()).split("\n").find((text) => text.startsWith(`${line} `));
    return found === undefined ? undefined : Number(found.slice(line.length));
  }

  test.each([
    [
      "requests by pipeline, route and status",
      'requests_total{lane="alpha",route="GET /vm/instances",status="200"}',
      2,
    ],
    ["requests without a route", 'requests_total{lane="native",route="none",status="404"}', 1],
    ["seconds", 'request_seconds_sum{lane="alpha",route="GET /vm/instances"}', 0.04],
    ["their distribution", 'request_seconds_bucket{le="0.025",lane="alpha",route="GET /vm/instances"}', 2],
    ["seconds of v4", 'upstream_seconds_sum{lane="alpha",route="GET /vm/instances"}', 0.025],
    [
      "no seconds of v4 where it was not called",
      'upstream_seconds_sum{lane="native",route="none"}',
      undefined,
    ],
    ["responses of v4", 'upstream_answers_total{lane="alpha",class="2xx"}', 2],
    ["upstream requests without a response", 'upstream_answers_total{lane="alpha",class="none"}', 1],
    ["rejections", 'refusals_total{reason="limit",status="404"}', 1],
  ])("count %s", async (_, line, count) => {
    metrics.observeRequest(outcome);
    metrics.observeRequest({ ...outcome, v4: [{ status: 200 }, { status: null }] });
    const lost = { ...outcome, lane: "native", alpha: { route: null, status: 404 }, v4: [] } as const;
    metrics.observeRequest(lost, "limit");
    expect(await value(`alpha_gateway_${line}`)).toEqual(count);
  });

  test("are updated from an audit record", async () => {
    metrics.observeRequest(sampleRecord("x", { status: 500, route: null }));
    expect(await value('alpha_gateway_requests_total{lane="alpha",route="none",status="500"}')).toBe(1);
  });

  test("read the audit store with each scrape", async () => {
    let queued = 3;
    const sizes = { evictedClients: 3, recordBytes: 800, storedBytes: 200, commits: 3, commitSeconds: 0.25 };
    addAuditMetrics(metrics, () => ({ queued, dropped: 2, written: 7, errors: 1, evicted: 4, ...sizes }));
    expect(await value("alpha_gateway_audit_queued")).toBe(3);
    queued = 0;
    expect(await value("alpha_gateway_audit_queued")).toBe(0);
    expect(await value("alpha_gateway_audit_dropped_total")).toBe(2);
    expect(await value("alpha_gateway_audit_written_total")).toBe(7);
    expect(await value("alpha_gateway_audit_errors_total")).toBe(1);
    expect(await value("alpha_gateway_audit_evicted_total")).toBe(4);
    expect(await value("alpha_gateway_audit_clients_evicted_total")).toBe(3);
    expect(await value("alpha_gateway_audit_record_bytes_total")).toBe(800);
    expect(await value("alpha_gateway_audit_stored_bytes_total")).toBe(200);
    expect(await value("alpha_gateway_audit_commit_seconds_count")).toBe(3);
    expect(await value("alpha_gateway_audit_commit_seconds_sum")).toBe(0.25);
  });

  test.each([
    "process_cpu_seconds_total",
    "process_start_time_seconds",
    "process_resident_memory_bytes",
    "nodejs_heap_size_used_bytes",
    "nodejs_active_resources",
  ])("describe the process: %s", async (name) => expect(await value(name)).toBeGreaterThan(0));

  test("are separate for two gateways in one process", async () => {
    const other = createMetrics();
    other.observeRequest(outcome);
    expect(
      await value('alpha_gateway_requests_total{lane="alpha",route="GET /vm/instances",status="200"}'),
    ).toBeUndefined();
    other.close();
  });

  test("are Prometheus text", () => expect(metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/));
});
