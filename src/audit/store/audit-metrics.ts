/** The metrics of the audit store. */
import type { Metrics } from "../../base/index.ts";
import type { AuditStats } from "./store.ts";

const GAUGES: readonly (readonly [name: string, help: string, read: (stats: AuditStats) => number])[] = [
  ["queued", "Audit records that wait for their commit.", ({ queued }) => queued],
  ["otlp_queued", "Audit records that wait for the collector.", ({ exported }) => exported?.queued ?? 0],
];

const TOTALS: typeof GAUGES = [
  ["record_bytes_total", "Bytes of committed records, as JSON.", ({ recordBytes }) => recordBytes],
  ["stored_bytes_total", "Bytes of committed records, compressed.", ({ storedBytes }) => storedBytes],
  ["commit_seconds_count", "Commits of audit records.", ({ commits }) => commits],
  ["commit_seconds_sum", "Seconds that commits of audit records took.", (stats) => stats.commitSeconds],
  ["dropped_total", "Lost audit records.", ({ dropped }) => dropped],
  ["evicted_total", "Audit records deleted because of AUDIT_SIZE_LIMIT.", ({ evicted }) => evicted],
  [
    "clients_evicted_total",
    "Clients that lost summaries early, once for each kind.",
    ({ evictedClients }) => evictedClients,
  ],
  ["written_total", "Committed audit records.", ({ written }) => written],
  ["errors_total", "Failed commits and restarts of the audit store.", ({ errors }) => errors],
  ["otlp_sent_total", "Audit records that the collector accepted.", ({ exported }) => exported?.sent ?? 0],
  [
    "otlp_dropped_total",
    "Audit records not sent to the collector.",
    ({ exported }) => exported?.dropped ?? 0,
  ],
];

/** Adds the metrics of an audit store. They are read at each scrape. */
export function addAuditMetrics(
  { addGauge, addTotal }: Pick<Metrics, "addGauge" | "addTotal">,
  stats: () => AuditStats,
): void {
  for (const [name, help, read] of GAUGES) addGauge(`audit_${name}`, help, () => read(stats()));
  for (const [name, help, read] of TOTALS) addTotal(`audit_${name}`, help, () => read(stats()));
}
