import { Counter } from "@prometheus-io/client";
import {
  addCounter,
  addGaugeByLabel,
  addHistogram,
  addLabelledGauge,
  createRegistry,
  PREFIX,
  type Distribution,
  type HostRegistry,
  type MetricRegistry,
  type MetricValue,
} from "./instruments.ts";
import { CLIENT_GONE } from "./client-gone.ts";
import { addProcessMetrics } from "./process-metrics.ts";

const NONE = "none";

/** Seconds: from the gateway's own processing time to the longest time-out of v4. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Seconds: most stages take microseconds. One that waits for a store, or for another request, takes seconds. */
const STAGE_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

/** The result of one request: its audit record, or the same members if auditing is off. */
export interface RequestMetrics {
  readonly lane: string;
  readonly alpha: { readonly route: string | null; readonly status: number };
  readonly v4: readonly { readonly status: number | null }[];
  /** Milliseconds. */
  readonly timings: { readonly total: number; readonly upstream: number };
  readonly losses?: readonly string[];
}

/** Observes the milliseconds that a request spent in one stage of the pipeline. Stages are a fixed list. */
type ObserveStage = (stage: string, ms: number) => void;

export interface Metrics {
  /**
   * Observes one request.
   *
   * @param rejectedBy Why the gateway itself rejected it, one word of a fixed list (`limit`, `scope`, …). It becomes a
   *   label, so it must never be text that a client sent.
   */
  readonly observeRequest: (request: RequestMetrics, rejectedBy?: string) => void;
  /**
   * Counts a request of a client. @param name the client's name in the client directory; undefined if the directory
   * does not contain it
   */
  readonly countClientRequest: (lane: string, name: string | undefined) => void;
  /** Counts a message that was rejected before it became a request. The reason is one word of a fixed list. */
  readonly countRejection: (reason: string, status: number) => void;
  /** Finds the observer for the stages of a route's requests. */
  readonly stagesOf: (route: string | null) => ObserveStage;
  /** Counts reads of a cache, separately for hits and misses. The names of caches are a fixed list. */
  readonly countCacheReads: (cache: string, isHit: boolean, count?: number) => void;
  /** Counts a request to which a stage of the sunset plan applies. The operator's file names the stages. */
  readonly countStage: (stage: string, kind: string) => void;
  /** Counts attempts to send a notice, and notices that were dropped. Both labels are fixed lists. */
  readonly countNotice: (event: string, result: string, count?: number) => void;
  /**
   * Counts a comparison of two responses. All labels have fixed sets of values, except the route, which comes from the
   * pack.
   */
  readonly countComparison: (source: string, route: string, result: string, reason?: string) => void;
  /** Counts entries for which a bounded store of comparisons has no room. The label is a fixed list. */
  readonly countNoRoom: (store: string, entries: number) => void;
  /** Counts the check of a token. The result is one word of a fixed list. */
  readonly countTokenCheck: (result: string) => void;
  /** Adds a gauge whose value is read at each scrape. Its name is prefixed with `alpha_gateway_`. */
  readonly addGauge: (name: string, help: string, read: () => number) => void;
  /** Adds a gauge with a value for each route. Routes that are not returned have no value. */
  readonly addRouteGauge: (
    name: string,
    help: string,
    read: () => Iterable<readonly [route: string, value: number]>,
  ) => void;
  /** Adds a counter whose value is stored elsewhere. Its name gets the prefix. */
  readonly addTotal: (name: string, help: string, read: () => number) => void;
  /** All metrics in the Prometheus text format. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
  /** Stops the monitor of the event loop, and removes the metrics from the registry of the embedding program. */
  readonly close: () => void;
}

/** The metrics of requests. They are labelled with the route's name in the pack, never with a path. */
const createRequestMetrics = (registry: MetricRegistry["registry"]) => ({
  requests: addCounter(registry, {
    name: `${PREFIX}requests_total`,
    help: "Requests by `lane`, route and status.",
    labelNames: ["lane", "route", "status"],
  }),
  clientRequests: addCounter(registry, {
    name: `${PREFIX}client_requests_total`,
    help: "Requests by `lane` and client.",
    labelNames: ["lane", "client"],
  }),
  clientLastRequest: addLabelledGauge(registry, {
    name: `${PREFIX}client_last_request_timestamp_seconds`,
    help: "Time of the last request by `lane` and client, in seconds since the epoch.",
    labelNames: ["lane", "client"],
  }),
  requestSeconds: addHistogram(registry, {
    name: `${PREFIX}request_seconds`,
    help: "Time from a request to its complete response.",
    labelNames: ["lane", "route"],
    bounds: REQUEST_BUCKETS,
  }),
  upstreamSeconds: addHistogram(registry, {
    name: `${PREFIX}upstream_seconds`,
    help: "Time of a request's v4 calls.",
    labelNames: ["lane", "route"],
    bounds: REQUEST_BUCKETS,
  }),
  upstreamResponses: addCounter(registry, {
    name: `${PREFIX}upstream_answers_total`,
    help: "v4 responses by class of status, or none.",
    labelNames: ["lane", "class"],
  }),
  rejections: addCounter(registry, {
    name: `${PREFIX}refusals_total`,
    help: "Requests that the gateway rejected, by reason and status.",
    labelNames: ["reason", "status"],
  }),
  losses: addCounter(registry, {
    name: `${PREFIX}losses_total`,
    help: "Requests with a loss, by route.",
    labelNames: ["route"],
  }),
  cacheReads: addCounter(registry, {
    name: `${PREFIX}cache_reads_total`,
    help: "Reads of a cache, by cache and result (hit or miss).",
    labelNames: ["cache", "result"],
  }),
  // A histogram by stage and route would contain thousands of values.
  stageSeconds: addHistogram(registry, {
    name: `${PREFIX}stage_seconds`,
    help: "Time of a request in a stage of the pipeline.",
    labelNames: ["stage"],
    bounds: STAGE_BUCKETS,
  }),
  routeStageSeconds: addCounter(registry, {
    name: `${PREFIX}route_stage_seconds_total`,
    help: "Time of requests in a stage of the pipeline, as a sum by route.",
    labelNames: ["route", "stage"],
  }),
});
/** The metrics of the operator's features. */
const createFeatureMetrics = (registry: MetricRegistry["registry"]) => ({
  stageRequests: addCounter(registry, {
    name: `${PREFIX}sunset_requests_total`,
    help: "Requests that a stage of the sunset plan rejected or changed, by stage and kind.",
    labelNames: ["stage", "kind"],
  }),
  notices: addCounter(registry, {
    name: `${PREFIX}notices_total`,
    help: "Notices by event and result: sent, failed (an attempt), dropped, or limited (too many in an hour).",
    labelNames: ["event", "result"],
  }),
  // There are few comparisons, and they have one more label than the counters of requests.
  comparisons: new Counter({
    name: `${PREFIX}comparisons_total`,
    help: "Comparisons by source, route, result and reason.",
    labelNames: ["source", "route", "result", "reason"],
    registers: [registry],
  }),
  noRoom: addCounter(registry, {
    name: `${PREFIX}comparisons_no_room_total`,
    help: "Comparison entries dropped because the store was full, by store: cases, fields or writes.",
    labelNames: ["store"],
  }),
  tokenChecks: addCounter(registry, {
    name: `${PREFIX}token_checks_total`,
    help: "Checks of new tokens, by result: accepted, refused, failed or skipped.",
    labelNames: ["result"],
  }),
});
/** The label of clients that the directory does not contain. */
const OTHER = "other";
/** Maximum number of client names, including names of earlier directories. */
const MAX_CLIENT_NAMES = 2000;

/**
 * Creates the observer for the stages of a request, by route. A request has eight stages. It makes one look-up for
 * each of them, instead of one for each label.
 */
function createStages(
  series: Pick<ReturnType<typeof createRequestMetrics>, "stageSeconds" | "routeStageSeconds">,
): Metrics["stagesOf"] {
  const byRoute = new Map<string, ObserveStage>();

  function ofRoute(route: string): ObserveStage {
    const stages = new Map<string, { readonly all: Distribution; readonly ofRoute: MetricValue }>();
    return function observeStage(stage, ms) {
      let found = stages.get(stage);
      if (!found) {
        found = { all: series.stageSeconds(stage), ofRoute: series.routeStageSeconds(route, stage) };
        stages.set(stage, found);
      }
      found.all.observe(ms / 1000);
      found.ofRoute.value += ms / 1000;
    };
  }

  return function stagesOf(route) {
    const name = route ?? NONE;
    const stages = byRoute.get(name) ?? ofRoute(name);
    byRoute.set(name, stages);
    return stages;
  };
}

/**
 * Creates the metrics of one gateway.
 *
 * @param host The registry of the embedding program, which contains its own metrics of the process. Default: the
 *   metrics of the process are added
 * @throws {Error} if `host` already contains the metrics of a gateway
 */
export function createMetrics(host?: HostRegistry): Metrics {
  const instruments = createRegistry(host);
  const { registry } = instruments;
  const stopMonitor = host ? (): void => {} : addProcessMetrics(instruments);
  const series = { ...createRequestMetrics(registry), ...createFeatureMetrics(registry) };
  const clientNames = new Set<string>();

  /** Limits the number of names: renaming adds names, and a counter is never removed. */
  function boundedName(name: string | undefined): string {
    if (name === undefined || (!clientNames.has(name) && clientNames.size >= MAX_CLIENT_NAMES)) return OTHER;
    clientNames.add(name);
    return name;
  }

  function observeRequest(request: RequestMetrics, rejectedBy?: string): void {
    const { alpha, v4, timings } = request;
    const route = alpha.route ?? NONE;
    series.requests(
      request.lane,
      route,
      alpha.status === CLIENT_GONE ? "aborted" : String(alpha.status),
    ).value += 1;
    series.requestSeconds(request.lane, route).observe(timings.total / 1000);
    if (v4.length > 0) series.upstreamSeconds(request.lane, route).observe(timings.upstream / 1000);
    for (const { status } of v4) series.upstreamResponses(request.lane, statusClass(status)).value += 1;
    if (request.losses && request.losses.length > 0) series.losses(route).value += 1;
    if (rejectedBy !== undefined) series.rejections(rejectedBy, String(alpha.status)).value += 1;
  }

  const stagesOf = createStages(series);

  return {
    observeRequest,
    countClientRequest(lane, name) {
      const client = boundedName(name);
      series.clientRequests(lane, client).value += 1;
      series.clientLastRequest(lane, client).value = Math.floor(Date.now() / 1000);
    },
    countRejection: (reason, status) => void (series.rejections(reason, String(status)).value += 1),
    stagesOf,
    countCacheReads: (cache, isHit, count = 1) =>
      void (series.cacheReads(cache, isHit ? "hit" : "miss").value += count),
    countStage: (stage, kind) => void (series.stageRequests(stage, kind).value += 1),
    countNotice: (event, result, count = 1) => void (series.notices(event, result).value += count),
    countComparison: (source, route, result, reason = "") =>
      series.comparisons.inc({ source, route, result, reason }),
    countNoRoom: (store, entries) => void (series.noRoom(store).value += entries),
    countTokenCheck: (result) => void (series.tokenChecks(result).value += 1),
    addGauge: (name, help, read) => instruments.addGauge(PREFIX + name, help, read),
    addRouteGauge: (name, help, read) =>
      addGaugeByLabel(registry, { name: PREFIX + name, help, labelNames: ["route"] }, read),
    addTotal: (name, help, read) => instruments.addTotal(PREFIX + name, help, read),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close() {
      stopMonitor();
      registry.clear();
    },
  };
}

function statusClass(status: number | null): string {
  return status === null ? NONE : `${Math.trunc(status / 100)}xx`;
}
