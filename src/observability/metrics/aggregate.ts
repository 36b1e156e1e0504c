import { Registry, type Aggregator } from "@prometheus-io/client";

/** The metrics of one process, as `Metrics.json` returns them. */
export type MetricValues = readonly MetricValue[];

interface MetricValue {
  readonly name: string;
  readonly type: string;
  readonly aggregator?: Aggregator;
}

/** Metrics of several processes are added up, except these. */
const AGGREGATORS: Readonly<Record<string, Aggregator>> = {
  process_start_time_seconds: "min",
  nodejs_eventloop_lag_p99_seconds: "max",
  alpha_gateway_replicas: "max",
  alpha_gateway_client_last_request_timestamp_seconds: "max",
  alpha_gateway_v4_breaker_open: "max",
  alpha_gateway_state_store_used_ratio: "max",
  alpha_gateway_pack_last_reload_successful: "min",
  alpha_gateway_upstream_tokens_last_reload_successful: "min",
  alpha_gateway_clients_file_last_reload_successful: "min",
  alpha_gateway_sunset_file_last_reload_successful: "min",
  alpha_gateway_notices_file_last_reload_successful: "min",
  alpha_gateway_rollout_file_last_reload_successful: "min",
  alpha_gateway_rollout_tripped: "max",
  alpha_gateway_rollout_blocked: "max",
  alpha_gateway_sunset_stages_active: "max",
  alpha_gateway_sunset_paused: "max",
  alpha_gateway_sunset_in_force: "min",
  alpha_gateway_candidate_last_reload_successful: "min",
  alpha_gateway_candidate_offered: "min",
  alpha_gateway_pack_promoted: "max",
  alpha_gateway_pack_promoted_missing: "max",
  alpha_gateway_pack_in_use_since_seconds: "min",
};

const aggregate = (processes: readonly MetricValues[]): Registry =>
  Registry.aggregate(
    processes.map((values) =>
      values.map((value) => ({
        ...value,
        aggregator: AGGREGATORS[value.name] ?? value.aggregator ?? "sum",
      })),
    ),
  );

/** Adds up the metrics of processes. The counters of a process that exited keep counting. */
export interface MetricsAggregate {
  /** All metrics in the Prometheus text format. @param processes The metrics of each process by its id. */
  text(processes: ReadonlyMap<number, MetricValues>): Promise<string>;
  /** Notes that a process has exited: its counters are kept, its gauges are dropped. */
  removeProcess(id: number): void;
}

/** Creates an aggregate of no processes. */
export function createMetricsAggregate(): MetricsAggregate {
  const latest = new Map<number, MetricValues>();
  let exited: Promise<MetricValues> = Promise.resolve([]);

  return {
    async text(processes) {
      for (const [id, values] of processes) latest.set(id, values);
      return aggregate([await exited, ...processes.values()]).metrics();
    },
    removeProcess(id) {
      const counters = (latest.get(id) ?? []).filter(({ type }) => type !== "gauge");
      latest.delete(id);
      exited = exited.then((before) => aggregate([before, counters]).getMetricsAsJSON());
    },
  };
}
