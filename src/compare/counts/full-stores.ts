/** Says where a bounded store of comparisons has no room: in a metric, and once an hour in the log. */
import type { Log, Metrics } from "../../base/index.ts";

/**
 * `cases`: those that prove a bound. `fields`: fields that differ, and their examples. `writes`: writes that comparisons
 * keep away from.
 */
export type BoundedStore = "cases" | "fields" | "writes";

/** Takes how many entries found no room: the store is full, or the share of their client. */
export type ReportFull = (store: BoundedStore, entries: number) => void;

/** Milliseconds between two lines about the same store. */
const LOG_EVERY_MS = 3_600_000;

/** Creates what reports full stores. @param clock milliseconds, monotonic */
export function createReportFull(
  { log, metrics }: { readonly log: Log; readonly metrics: Pick<Metrics, "countNoRoom"> },
  clock: () => number = () => performance.now(),
): ReportFull {
  const loggedAt = new Map<BoundedStore, number>();
  return (store, entries) => {
    metrics.countNoRoom(store, entries);
    const now = clock();
    if (now - (loggedAt.get(store) ?? -Infinity) < LOG_EVERY_MS) return;
    loggedAt.set(store, now);
    log.warn(
      { code: "AG_COMPARISONS_FULL", store },
      "a store of comparisons is full, or the share of one client in it: more is left out",
    );
  };
}
