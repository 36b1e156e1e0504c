import { Counter, Gauge, type Metric, Registry } from "@prometheus-io/client";

/** The prefix of the names of all metrics of the gateway. */
export const PREFIX = "alpha_gateway_";

/** A registry, and gauges and counters whose values are read at each scrape. */
export interface MetricRegistry {
  readonly registry: Registry;
  readonly addGauge: (name: string, help: string, read: () => number) => void;
  /** Adds a counter whose value is stored elsewhere. */
  readonly addTotal: (name: string, help: string, read: () => number) => void;
}

/** A registry of the embedding program, of `prom-client` or `@prometheus-io/client`. */
export interface HostRegistry {
  /** The types of a metric differ between the packages. A registry only uses `name`, `help`, `type` and `get()`. */
  registerMetric(metric: never): void;
  getSingleMetric(name: string): unknown;
  removeSingleMetric(name: string): void;
}

/** A registry that forwards its metrics to another one. */
class SharedRegistry extends Registry {
  readonly #host: HostRegistry;

  constructor(host: HostRegistry) {
    super();
    this.#host = host;
  }

  /** @throws {Error} if the other registry already contains a metric of this name */
  override registerMetric(metric: Metric): void {
    // Both packages have these members, and neither declares them.
    const { name, help, type, aggregator } = metric as unknown as Readonly<Record<string, string>>;
    this.#host.registerMetric({ name, help, type, aggregator, get: () => metric.get() } as never);
    super.registerMetric(metric);
  }

  /** Removes its metrics, even from the other registry. */
  override clear(): void {
    for (const { name } of this.getMetricsAsArray()) this.#host.removeSingleMetric(name);
    super.clear();
  }
}

/**
 * Creates an empty registry. It is not the library's global registry, because a process may run several gateways.
 *
 * @param host Receives the same metrics, until the registry is cleared.
 */
export function createRegistry(host?: HostRegistry): MetricRegistry {
  const registry = host ? new SharedRegistry(host) : new Registry();
  const add =
    (kind: MetricKind) =>
    (name: string, help: string, read: () => number): void =>
      addMetric(registry, kind, { name, help, labelNames: [] }, () => [[{}, read()]]);
  return { registry, addGauge: add(Gauge), addTotal: add(Counter) };
}

/**
 * A value for each combination of up to three label values. Own code for speed: the library builds a key from all
 * labels for each observation, and a request makes about ten observations.
 */
class ByLabels<T> {
  readonly #create: () => T;
  readonly #values = new Map<string, Map<string, Map<string, T>>>();

  constructor(create: () => T) {
    this.#create = create;
  }

  /** Returns the value of a combination. Creates it if it is new. */
  at(first: string, second = "", third = ""): T {
    return this.#values.get(first)?.get(second)?.get(third) ?? this.#add(first, second, third);
  }

  /** Returns all values with their labels. The names are in the order in which {@link at} takes the label values. */
  *entries(names: readonly string[]): Generator<[labels: Record<string, string>, T]> {
    for (const [first, bySecond] of this.#values)
      for (const [second, byThird] of bySecond)
        for (const [third, value] of byThird) {
          const labels = [first, second, third];
          yield [Object.fromEntries(names.map((name, index) => [name, labels[index] ?? ""])), value];
        }
  }

  #add(first: string, second: string, third: string): T {
    const bySecond = this.#values.get(first) ?? new Map<string, Map<string, T>>();
    const byThird = bySecond.get(second) ?? new Map<string, T>();
    const value = this.#create();
    this.#values.set(first, bySecond.set(second, byThird.set(third, value)));
    return value;
  }
}

interface MetricDescription {
  readonly name: string;
  readonly help: string;
  /** At most three names. Label values are passed in this order. */
  readonly labelNames: readonly string[];
}

/** A value of a metric with some label values. Counters only grow. */
export interface MetricValue {
  value: number;
}

/** Finds the value of a metric for some label values. Frequent callers keep the result. */
type FindByLabels<T> = (first?: string, second?: string, third?: string) => T;

/** A class of the library. */
type MetricKind = typeof Gauge | typeof Counter;

/** Adds a metric whose values are read at each scrape. Values that are no longer read disappear. */
function addMetric(
  registry: Registry,
  Kind: MetricKind,
  { name, help, labelNames }: MetricDescription,
  read: () => Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>,
): void {
  // Both classes have the methods that are used here.
  const metric: Gauge<string> = new (Kind as typeof Gauge)<string>({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      metric.reset();
      for (const [labels, value] of read()) metric.inc(labels, value);
    },
  });
}

/** Adds a metric that counts on its own, and sets the library's metric at each scrape. */
const addByLabels =
  (kind: MetricKind) =>
  (registry: Registry, description: MetricDescription): FindByLabels<MetricValue> => {
    const values = new ByLabels<MetricValue>(() => ({ value: 0 }));
    addMetric(registry, kind, description, () =>
      values.entries(description.labelNames).map(([labels, { value }]) => [labels, value] as const),
    );
    return (first = "", second, third) => values.at(first, second, third);
  };

export const addCounter = addByLabels(Counter);
export const addLabelledGauge = addByLabels(Gauge);

/** Adds a gauge with one label. */
export function addGaugeByLabel(
  registry: Registry,
  description: MetricDescription,
  read: () => Iterable<readonly [label: string, value: number]>,
): void {
  const [label = ""] = description.labelNames;
  addMetric(registry, Gauge, description, () =>
    Array.from(read(), ([labelValue, value]) => [{ [label]: labelValue }, value] as const),
  );
}

/** The values of a histogram for some label values. */
export class Distribution {
  readonly #bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** Counts a value in the first bucket whose bound is at least the value. The last bucket has no bound. */
  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

/**
 * Adds a histogram that counts in arrays.
 *
 * @param bounds Upper bounds of the buckets, ascending.
 */
export function addHistogram(
  registry: Registry,
  { name, help, labelNames, bounds }: MetricDescription & { readonly bounds: readonly number[] },
): FindByLabels<Distribution> {
  const distributions = new ByLabels(() => new Distribution(bounds));

  function* samples() {
    for (const [labels, { counts, sum }] of distributions.entries(labelNames)) {
      let count = 0;
      for (const [index, inBucket] of counts.entries()) {
        count += inBucket;
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
    get: () => Promise.resolve({ name, help, type: "histogram", aggregator: "sum", values: [...samples()] }),
  };
  // The registry accepts any object with `get`; its types only allow the library's own classes.
  registry.registerMetric(metric as unknown as Metric);

  return (first = "", second, third) => distributions.at(first, second, third);
}
