import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricRegistry } from "./instruments.ts";

const MICRO = 1e-6;
const NANO = 1e-9;

/**
 * Adds the usual metrics of a Node.js process, under the names that dashboards use. The library's collector is not
 * used, because it starts an observer of garbage collections that can't be stopped. These values are read at each
 * scrape.
 *
 * @returns a function that stops the monitor of the event loop
 */
export function addProcessMetrics({ addGauge, addTotal }: MetricRegistry): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();

  addTotal("process_cpu_seconds_total", "CPU time, user and system, in seconds.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) * MICRO;
  });
  addGauge("process_start_time_seconds", "Start of the process, in seconds since the epoch.", () =>
    Math.round(Date.now() / 1000 - process.uptime()),
  );
  addGauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  addGauge("nodejs_heap_size_used_bytes", "Used heap.", () => process.memoryUsage().heapUsed);
  addGauge(
    "nodejs_external_memory_bytes",
    "Memory of buffers outside the heap.",
    () => process.memoryUsage().external,
  );
  addGauge(
    "nodejs_active_resources",
    "Handles and requests that keep the process running.",
    () => process.getActiveResourcesInfo().length,
  );
  addGauge(
    "nodejs_eventloop_lag_p99_seconds",
    "Delay of the event loop since the last scrape, 99th percentile.",
    () => {
      const seconds = delay.percentile(99) * NANO;
      delay.reset();
      return seconds;
    },
  );

  return () => void delay.disable();
}
