import type { Worker } from "node:worker_threads";
import { mergeRejections } from "./store/merge-rejections.ts";
import type { AuditStore } from "./store/store.ts";
import { errorText, type Log, type Settings, withOpenTelemetry } from "../base/index.ts";
import { filterHeadersOf, type Pack } from "../pack/index.ts";
import type { ClientDirectory } from "./clients/client-directory.ts";
import { namedKeys } from "./usage/client-keys.ts";
import { openAuditStore } from "./store/open-audit-store.ts";

interface AuditContext {
  readonly log: Log;
  readonly pack: Pack;
  /** Returns the network of an address. Rejected requests from one network share records. */
  readonly networkOf: (address: string) => string;
  /** The names of clients. */
  readonly directory: () => ClientDirectory;
}

/** Logs the number of unreadable records. */
export const reportDamaged =
  (log: Log) =>
  (records: number): void =>
    log.error(
      { code: "AG_AUDIT_RECORD_DAMAGED", records },
      "damaged records of the audit store were left out",
    );

/**
 * Opens the audit of a gateway that serves requests: its store, and the export to a collector.
 *
 * @param thread The thread of the store, if it was already started.
 * @returns undefined if auditing is off
 * @throws {AuditUnavailableError}
 */
export async function openAudit(
  settings: Settings,
  { log, pack, networkOf, directory }: AuditContext,
  thread: Worker | undefined,
): Promise<AuditStore | undefined> {
  if (settings.AUDIT === "off") return undefined;
  const options = {
    durability: settings.AUDIT_DURABILITY,
    retentionDays: settings.AUDIT_RETENTION_DAYS,
    usageRetentionDays: settings.USAGE_RETENTION_DAYS,
    sizeLimit: settings.AUDIT_SIZE_LIMIT,
    onFault: (error: unknown) =>
      log.error({ code: "AG_AUDIT_STORE_FAILED", err: error }, "the audit store failed"),
    onRecovery: () => log.info({}, "the audit store can be written again"),
    onRefused: (requestId: string, error: unknown) =>
      log.error(
        { code: "AG_AUDIT_RECORD_LOST", requestId, error: errorText(error) },
        "the audit store refused a record",
      ),
    onDamaged: reportDamaged(log),
    namedClients: () => namedKeys(directory()),
    onTooManyClients: () =>
      log.warn(
        { code: "AG_AUDIT_TOO_MANY_CLIENTS" },
        "there are too many clients, names or losses: summaries of those that called on one day only are deleted, the oldest first, and then some of the clients with the most",
      ),
  };
  const withExport = await loadAuditExport(settings, { log, pack });
  const store = await openAuditStore(settings, options, thread);
  return mergeRejections(withExport(store), { networkOf });
}

/** Wraps a store so that records are also sent to a collector, if the settings name a collector. */
async function loadAuditExport(
  { AUDIT_OTLP: url }: Pick<Settings, "AUDIT_OTLP">,
  { log, pack }: Pick<AuditContext, "log" | "pack">,
): Promise<(store: AuditStore) => AuditStore> {
  if (url === undefined) return (store) => store;
  const { exportToCollector } = await withOpenTelemetry(
    "AUDIT_OTLP",
    () => import("./export/otlp/audit-export.ts"),
  );
  return (store) =>
    exportToCollector(store, {
      url,
      filterHeaders: filterHeadersOf(pack),
      onFault: (message, dropped) =>
        log.warn(
          { code: "AG_AUDIT_EXPORT_FAILED", message, dropped },
          "audit records were not sent to the OpenTelemetry collector; the audit store has them",
        ),
    });
}
