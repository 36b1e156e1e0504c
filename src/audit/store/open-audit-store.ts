import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { AUDIT_FILE, openSqliteStore, startSqliteThread } from "./sqlite/store.ts";
import { AuditUnavailableError, type AuditStore, type StoreOptions } from "./store.ts";
import type { Settings } from "../../base/index.ts";

type StoreSettings = Pick<Settings, "DATABASE_URL" | "DATA_DIR">;

/** Starts the thread of the audit store, if it has one, before the store is opened. */
export const startAuditThread = ({
  AUDIT,
  DATABASE_URL,
}: Pick<Settings, "AUDIT" | "DATABASE_URL">): Worker | undefined =>
  AUDIT === "off" || DATABASE_URL !== undefined ? undefined : startSqliteThread();

/**
 * Opens the audit store of the settings, in PostgreSQL or in the data folder.
 *
 * @param thread A thread for the store that was already started.
 * @throws {AuditUnavailableError}
 */
export async function openAuditStore(
  { DATABASE_URL: url, DATA_DIR: directory }: StoreSettings,
  options: StoreOptions,
  thread?: Worker,
): Promise<AuditStore> {
  if (url === undefined) return openSqliteStore({ ...options, directory, thread });
  // This module is only loaded if it is used.
  const { openPostgresStore } = await import("./postgres/store.ts");
  return openPostgresStore({ ...options, url });
}

/**
 * Opens the store of a gateway to read its records. It deletes no records, regardless of their age.
 *
 * @throws {AuditUnavailableError} also if the store does not exist yet
 */
export async function openExistingAuditStore(settings: StoreSettings): Promise<AuditStore> {
  const { DATABASE_URL: url, DATA_DIR: directory } = settings;
  if (url === undefined && !existsSync(join(directory, AUDIT_FILE)))
    throw new AuditUnavailableError(
      `There is no audit store in ${directory}: set DATA_DIR, or DATABASE_URL, to that of the gateway.`,
    );
  if (url !== undefined) {
    const { hasAuditTables } = await import("./postgres/driver.ts");
    if (!(await hasAuditTables(url)))
      throw new AuditUnavailableError(
        "There is no audit store in this database: set DATABASE_URL to that of the gateway.",
      );
  }
  const unlimited = {
    retentionDays: 36_500,
    usageRetentionDays: 36_500,
    sizeLimit: Number.MAX_SAFE_INTEGER,
    summaryRows: Number.MAX_SAFE_INTEGER,
    summaryTokens: Number.MAX_SAFE_INTEGER,
  };
  return openAuditStore(settings, { durability: "relaxed", ...unlimited });
}
