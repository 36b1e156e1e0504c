import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricRegistry } from "./registry.ts";

const MICRO = 1e-6;
const NANO = 1e-9;

/**
 * The usual figures of a Node process, under the names that dashboards know.
 *
 * The library's own collection starts a garbage collection observer that nothing can stop; these are read
 * when asked for, and the one monitor that runs is stopped by the function that comes back.
 */
export function addProcessMetrics({ gauge, total }: MetricRegistry): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();

  total("process_cpu_seconds_total", "CPU seconds spent, user and system.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) * MICRO;
  });
  gauge("process_start_time_seconds", "Start of the process, in seconds since the epoch.", () =>
    Math.round(Date.now() / 1000 - process.uptime()),
  );
  gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  gauge("nodejs_heap_size_used_bytes", "Used heap.", () => process.memoryUsage().heapUsed);
  gauge(
    "nodejs_external_memory_bytes",
    "Memory of buffers outside the heap.",
    () => process.memoryUsage().external,
  );
  gauge(
    "nodejs_active_resources",
    "Handles and requests that keep the process alive.",
    () => process.getActiveResourcesInfo().length,
  );
  gauge(
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
