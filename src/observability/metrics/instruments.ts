import { Counter, type Metric, type Registry } from "@prometheus-io/client";
import { ByLabels } from "./by-labels.ts";

/** What a figure is called. Label values are given in the order of the names, of which there are three at most. */
export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** Adds to a figure; `by` is not negative. */
export type Count = (by: number, ...labels: string[]) => void;

/** A counter that is counted here, and becomes the library's when it is scraped. */
export function addCounter(registry: Registry, { name, help, labelNames }: MetricDescription): Count {
  const sums = new ByLabels(() => ({ sum: 0 }));
  const counter: Counter<string> = new Counter<string>({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      counter.reset();
      for (const [labels, { sum }] of sums.entries(labelNames)) counter.inc(labels, sum);
    },
  });
  return (by, first = "", second, third) => void (sums.at(first, second, third).sum += by);
}

/** Adds one value, in the unit that the name says. */
export type Observe = (value: number, ...labels: string[]) => void;

/** Each value counts in the first bucket whose bound is not below it, and the last is without a bound. */
class Distribution {
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }
}

/**
 * A histogram as Prometheus has it, counted in arrays: the library's own makes a key of the labels for each value,
 * and a request has some ten of them.
 *
 * @param bounds of the buckets, ascending
 */
export function addHistogram(
  registry: Registry,
  { name, help, labelNames, bounds }: MetricDescription & { readonly bounds: readonly number[] },
): Observe {
  const distributions = new ByLabels(() => new Distribution(bounds));

  function* figures() {
    for (const [labels, { counts, sum }] of distributions.entries(labelNames)) {
      let count = 0;
      for (const [index, own] of counts.entries()) {
        count += own;
        const le = bounds[index] ?? "+Inf";
        yield { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
      }
      yield { metricName: `${name}_sum`, labels, value: sum };
      yield { metricName: `${name}_count`, labels, value: count };
    }
  }

  const metric = {
    name,
    help,
    type: "histogram",
    aggregator: "sum",
    get: () => Promise.resolve({ name, help, type: "histogram", aggregator: "sum", values: [...figures()] }),
  };
  // The registry takes whatever gives its figures; its types know the library's own kinds alone.
  registry.registerMetric(metric as unknown as Metric);

  return function observe(value, first = "", second, third) {
    const distribution = distributions.at(first, second, third);
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    distribution.counts[bucket] = (distribution.counts[bucket] ?? 0) + 1;
    distribution.sum += value;
  };
}
