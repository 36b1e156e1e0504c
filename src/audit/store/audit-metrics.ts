/** The metrics of the audit store. */
import type { Metrics } from "../../base/index.ts";
import type { AuditStats } from "./store.ts";

/** Adds the metrics of an audit store. They are read at each scrape. */
export function addAuditMetrics(
  { addGauge, addTotal }: Pick<Metrics, "addGauge" | "addTotal">,
  stats: () => AuditStats,
): void {
  addGauge("audit_queued", "Audit records that wait for their commit.", () => stats().queued);
  addTotal("audit_record_bytes_total", "Bytes of committed records, as JSON.", () => stats().recordBytes);
  addTotal("audit_stored_bytes_total", "Bytes of committed records, compressed.", () => stats().storedBytes);
  addTotal("audit_commit_seconds_count", "Commits of audit records.", () => stats().commits);
  addTotal(
    "audit_commit_seconds_sum",
    "Seconds that commits of audit records took.",
    () => stats().commitSeconds,
  );
  addTotal("audit_dropped_total", "Lost audit records.", () => stats().dropped);
  addTotal(
    "audit_evicted_total",
    "Audit records deleted because of AUDIT_SIZE_LIMIT.",
    () => stats().evicted,
  );
  addTotal(
    "audit_clients_evicted_total",
    "Clients that lost summaries early, once for each kind.",
    () => stats().evictedClients,
  );
  addTotal("audit_written_total", "Committed audit records.", () => stats().written);
  addTotal("audit_errors_total", "Failed commits and restarts of the audit store.", () => stats().errors);
  addGauge(
    "audit_otlp_queued",
    "Audit records that wait for the collector.",
    () => stats().exported?.queued ?? 0,
  );
  addTotal(
    "audit_otlp_sent_total",
    "Audit records that the collector accepted.",
    () => stats().exported?.sent ?? 0,
  );
  addTotal(
    "audit_otlp_dropped_total",
    "Audit records not sent to the collector.",
    () => stats().exported?.dropped ?? 0,
  );
}
