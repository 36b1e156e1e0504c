/** The metrics of the audit store. */
import type { AuditStats } from "../../audit/store.ts";
import { PREFIX, type MetricRegistry } from "./instruments.ts";

/** Adds the metrics of an audit store. They are read at each scrape. */
export function addAuditMetrics({ addGauge, addTotal }: MetricRegistry, stats: () => AuditStats): void {
  addGauge(`${PREFIX}audit_queued`, "Audit records that wait for their commit.", () => stats().queued);
  addTotal(
    `${PREFIX}audit_record_bytes_total`,
    "Bytes of committed audit records, as JSON.",
    () => stats().recordBytes,
  );
  addTotal(
    `${PREFIX}audit_stored_bytes_total`,
    "Bytes of committed audit records in the store, compressed.",
    () => stats().storedBytes,
  );
  addTotal(`${PREFIX}audit_commit_seconds_count`, "Commits of audit records.", () => stats().commits);
  addTotal(
    `${PREFIX}audit_commit_seconds_sum`,
    "Time that commits of audit records took, in seconds.",
    () => stats().commitSeconds,
  );
  addTotal(`${PREFIX}audit_dropped_total`, "Lost audit records.", () => stats().dropped);
  addTotal(
    `${PREFIX}audit_evicted_total`,
    "Audit records deleted before AUDIT_RETENTION_DAYS, because AUDIT_SIZE_LIMIT was reached.",
    () => stats().evicted,
  );
  addTotal(`${PREFIX}audit_written_total`, "Committed audit records.", () => stats().written);
  addTotal(
    `${PREFIX}audit_errors_total`,
    "Failed commits and restarts of the audit store.",
    () => stats().errors,
  );
  addGauge(
    `${PREFIX}audit_otlp_queued`,
    "Audit records that wait to be sent to the collector.",
    () => stats().exported?.queued ?? 0,
  );
  addTotal(
    `${PREFIX}audit_otlp_sent_total`,
    "Audit records that the collector accepted.",
    () => stats().exported?.sent ?? 0,
  );
  addTotal(
    `${PREFIX}audit_otlp_dropped_total`,
    "Audit records that were not sent to the collector.",
    () => stats().exported?.dropped ?? 0,
  );
}
