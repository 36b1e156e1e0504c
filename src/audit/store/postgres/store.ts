import { createJobs } from "../sql/jobs.ts";
import { createStore } from "../create-store.ts";
import type { AuditStore, StoreOptions } from "../store.ts";
import { connectPostgres, DECISION_LIMITS } from "./driver.ts";

/** Milliseconds between two purges. Long, because replicas wait for each other. */
const PURGE_MS = 60_000;
/** Milliseconds between two probes. Long enough not to disturb a server that is down. */
const PROBE_MS = 2000;

/** Options of the PostgreSQL store. */
export interface PostgresStoreOptions extends StoreOptions {
  /** The address: `postgres://user:password@host:5432/database`. */
  readonly url: string;
}

/**
 * Opens the audit store that replicas share, in PostgreSQL. While the server is down, `ready` is false and records
 * wait in the queue. The store reconnects automatically.
 */
export function openPostgresStore(options: PostgresStoreOptions): AuditStore {
  const driver = connectPostgres(options.url);
  const decisionDriver = connectPostgres(options.url, DECISION_LIMITS);
  const jobs = createJobs(driver);
  const parts = {
    writer: jobs,
    reader: jobs,
    decider: createJobs(decisionDriver),
    fault: () => undefined,
    restarts: () => 0,
    async close() {
      await Promise.all([driver.close(), decisionDriver.close()]);
    },
  };
  return createStore(parts, options, { probeMs: PROBE_MS, purgeMs: PURGE_MS });
}
