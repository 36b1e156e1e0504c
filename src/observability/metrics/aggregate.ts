import { Registry, type Aggregator } from "@prometheus-io/client";

/** The figures of one process, as `Metrics.json` gives them. */
export type MetricValues = readonly Figure[];

interface Figure {
  readonly name: string;
  readonly type: string;
  readonly aggregator?: Aggregator;
}

/** What several processes make together is the sum; of these it is not. */
const NOT_SUMS: Readonly<Record<string, Aggregator>> = {
  process_start_time_seconds: "min",
  nodejs_eventloop_lag_p99_seconds: "max",
  alpha_gateway_replicas: "max",
  alpha_gateway_v4_breaker_open: "max",
  alpha_gateway_pack_last_reload_successful: "min",
  alpha_gateway_pack_in_use_since_seconds: "min",
};

const aggregate = (processes: readonly MetricValues[]): Registry =>
  Registry.aggregate(
    processes.map((figures) =>
      figures.map((figure) => ({
        ...figure,
        aggregator: NOT_SUMS[figure.name] ?? figure.aggregator ?? "sum",
      })),
    ),
  );

/** Adds the figures of processes up. What one that ended had counted stays counted. */
export interface MetricsAggregate {
  /** In the Prometheus text format; `processes` by a name of each. */
  text(processes: ReadonlyMap<number, MetricValues>): Promise<string>;
  /** A process has ended: nothing of it goes up and down any more. */
  ended(process: number): void;
}

export function createMetricsAggregate(): MetricsAggregate {
  const last = new Map<number, MetricValues>();
  let departed: Promise<MetricValues> = Promise.resolve([]);

  return {
    async text(processes) {
      for (const [name, figures] of processes) last.set(name, figures);
      return aggregate([await departed, ...processes.values()]).metrics();
    },
    ended(process) {
      const figures = (last.get(process) ?? []).filter(({ type }) => type !== "gauge");
      last.delete(process);
      departed = departed.then((before) => aggregate([before, figures]).getMetricsAsJSON());
    },
  };
}
