import { CLIENT_GONE, type AuditRecord, type RecordedCall } from "../../audit/record.ts";
import type { AuditStats } from "../../audit/store.ts";
import type { MetricValues } from "./aggregate.ts";
import { addCounter, addHistogram } from "./instruments.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { createRegistry } from "./registry.ts";
import { addStageMetrics } from "./stages.ts";

const PREFIX = "alpha_gateway_";
const NONE = "none";
/** From what the gateway takes for itself to the longest time-out of v4, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** How one request ended: an audit record is one, and so is what is known of it where auditing is off. */
export interface RequestMetrics extends Pick<AuditRecord, "lane"> {
  readonly alpha: Pick<AuditRecord["alpha"], "route" | "status">;
  readonly v4: readonly Pick<RecordedCall, "status">[];
  /** Milliseconds. */
  readonly timings: Pick<AuditRecord["timings"], "total" | "upstream">;
  readonly losses?: readonly string[];
}

export interface Metrics {
  /**
   * Counts one request.
   *
   * @param refusal What the gateway itself refused it for, one word of a fixed list (`limit`, `scope`, …):
   * it becomes a label, so nothing that a client chose may go in.
   */
  readonly observe: (outcome: RequestMetrics, refusal?: string) => void;
  /** Counts the time that a request spent at one stop of the road, one of a fixed list, in milliseconds. */
  readonly stage: (stage: string, route: string | null, ms: number) => void;
  /** Counts what was looked for in a cache, one of a fixed list, and was at hand or not. */
  readonly cache: (cache: string, hit: boolean, count?: number) => void;
  /** Adds a figure that is read with each scrape; its name gets the prefix `alpha_gateway_`. */
  readonly gauge: (name: string, help: string, read: () => number) => void;
  /** Adds the figures of an audit store. */
  readonly watchAudit: (stats: () => AuditStats) => void;
  /** All figures in the Prometheus text format. */
  readonly text: () => Promise<string>;
  /** All figures as data, for the process that adds up those of several. */
  readonly json: () => Promise<MetricValues>;
  readonly contentType: string;
  /** Stops what runs in the background. */
  readonly close: () => void;
}

/** Makes the metrics of one process. Requests are labelled by the route's name in the pack, never by a path. */
export function createMetrics(): Metrics {
  const all = createRegistry();
  const { registry } = all;
  const stop = addProcessMetrics(all);

  const requests = addCounter(registry, {
    name: `${PREFIX}requests_total`,
    help: "Requests answered, by lane, route of the pack, and the status that the client was told; aborted: it went away.",
    labelNames: ["lane", "route", "status"],
  });
  const seconds = addHistogram(registry, {
    name: `${PREFIX}request_seconds`,
    help: "Time from a request to its whole answer.",
    labelNames: ["lane", "route"],
    bounds: BUCKETS,
  });
  const upstreamSeconds = addHistogram(registry, {
    name: `${PREFIX}upstream_seconds`,
    help: "Time that a request spent in calls of v4, of requests that made any.",
    labelNames: ["lane", "route"],
    bounds: BUCKETS,
  });
  const upstreamAnswers = addCounter(registry, {
    name: `${PREFIX}upstream_answers_total`,
    help: "Answers of v4 by class of status; none is a call that got no answer.",
    labelNames: ["lane", "class"],
  });
  const refusals = addCounter(registry, {
    name: `${PREFIX}refusals_total`,
    help: "Requests that the gateway refused by itself, by reason.",
    labelNames: ["reason"],
  });
  const losses = addCounter(registry, {
    name: `${PREFIX}losses_total`,
    help: "Answers that could not keep all that v4 said, by route of the pack.",
    labelNames: ["route"],
  });
  const caches = addCounter(registry, {
    name: `${PREFIX}cache_reads_total`,
    help: "What was looked for among things known, by cache, and whether it was there (hit) or not (miss).",
    labelNames: ["cache", "result"],
  });
  const stages = addStageMetrics(registry, PREFIX);

  function observe({ lane, alpha, v4, timings, losses: lost }: RequestMetrics, refusal?: string): void {
    const route = alpha.route ?? NONE;
    requests(1, lane, route, alpha.status === CLIENT_GONE ? "aborted" : String(alpha.status));
    seconds(timings.total / 1000, lane, route);
    if (v4.length > 0) upstreamSeconds(timings.upstream / 1000, lane, route);
    for (const { status } of v4) upstreamAnswers(1, lane, statusClass(status));
    if (lost && lost.length > 0) losses(1, route);
    if (refusal !== undefined) refusals(1, refusal);
  }

  function gauge(name: string, help: string, read: () => number): void {
    all.gauge(PREFIX + name, help, read);
  }

  function watchAudit(stats: () => AuditStats): void {
    gauge("audit_queued", "Audit records waiting to be committed.", () => stats().queued);
    all.total(`${PREFIX}audit_dropped_total`, "Audit records lost.", () => stats().dropped);
    all.total(
      `${PREFIX}audit_evicted_total`,
      "Audit records deleted before AUDIT_RETENTION_DAYS, since all took more than AUDIT_SIZE_LIMIT.",
      () => stats().evicted,
    );
    all.total(`${PREFIX}audit_written_total`, "Audit records committed.", () => stats().written);
    all.total(
      `${PREFIX}audit_errors_total`,
      "Commits and restarts of the audit store that failed.",
      () => stats().errors,
    );
  }

  return {
    observe,
    stage: (stage, route, ms) => stages(stage, route ?? NONE, ms / 1000),
    cache: (cache, hit, count = 1) => caches(count, cache, hit ? "hit" : "miss"),
    gauge,
    watchAudit,
    text: () => registry.metrics(),
    json: () => registry.getMetricsAsJSON(),
    contentType: registry.contentType,
    close: stop,
  };
}

function statusClass(status: number | null): string {
  return status === null ? NONE : `${Math.trunc(status / 100)}xx`;
}
