import { Counter, Gauge, Registry } from "@prometheus-io/client";

/** A registry of its own, never the global one, and figures that are read when it is scraped. */
export interface MetricRegistry {
  readonly registry: Registry;
  /** A figure that goes up and down. */
  readonly gauge: (name: string, help: string, read: () => number) => void;
  /** A figure that only grows, counted elsewhere. */
  readonly total: (name: string, help: string, read: () => number) => void;
}

export function createRegistry(): MetricRegistry {
  const registry = new Registry();
  const registers = [registry];

  function gauge(name: string, help: string, read: () => number): void {
    const metric: Gauge = new Gauge({ name, help, registers, collect: () => metric.set(read()) });
  }

  function total(name: string, help: string, read: () => number): void {
    const metric: Counter = new Counter({
      name,
      help,
      registers,
      collect: () => {
        metric.reset();
        metric.inc(read());
      },
    });
  }

  return { registry, gauge, total };
}
