import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { AuditRecord } from "./record.ts";
import type { SqliteJob, SqlitePage, SqliteWorkerData } from "./sqlite-messages.ts";
import { AuditUnavailable } from "./store.ts";
import type { AuditDurability, AuditPage, AuditQuery, AuditStore } from "./store.ts";
import { superviseWorker } from "./supervised-worker.ts";
import type { SupervisedWorker } from "./supervised-worker.ts";
import { makeWriteQueue } from "./write-queue.ts";

export const AUDIT_FILE = "audit.db";

const GROUP_MS = 50;
const CALL_TIMEOUT_MS = 15_000;
const RESTART_MS = 100;
const DAY_MS = 86_400_000;
const PURGE_EVERY_MS = 600_000;
/** Small, so that a purge never holds up the commits between its steps for long. */
const PURGE_ROWS = 500;
const PURGE_STEP_MS = 50;

export interface SqliteStoreOptions {
  /** Where `audit.db` lives; made when missing. */
  readonly directory: string;
  readonly durability: AuditDurability;
  /** Records older than so many days are deleted, in small batches. */
  readonly retentionDays: number;
  /** Records waiting to be committed; above it the oldest are dropped. Default 10 000. */
  readonly maxQueued?: number;
  /** Characters of all of them together. Default 64 Mi. */
  readonly maxQueuedSize?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/**
 * Opens the embedded audit store: SQLite in a thread of its own.
 *
 * @throws {AuditUnavailable} naming file and remedy, where the file cannot be made or is no usable database.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<AuditStore> {
  const { directory, durability, retentionDays, clock = Date.now } = options;
  const file = join(directory, AUDIT_FILE);
  const synchronous = durability === "strict" ? "FULL" : "NORMAL";
  const worker = await openWorker(directory, { file, synchronous });
  const purge = startPurge(worker, () => new Date(clock() - retentionDays * DAY_MS).toISOString());
  const queue = makeWriteQueue({
    commit: (rows) => worker.call({ kind: "write", rows }),
    durability,
    groupMs: GROUP_MS,
    maxRows: options.maxQueued ?? 10_000,
    maxBytes: options.maxQueuedSize ?? 64 * 1024 * 1024,
  });
  let closing: Promise<void> | undefined;

  async function query(query: AuditQuery): Promise<AuditPage> {
    const { records, next } = (await worker.call({ kind: "query", query })) as SqlitePage;
    return { records: records.map((text) => JSON.parse(text) as AuditRecord), next };
  }

  async function get(id: string): Promise<AuditRecord | undefined> {
    const text = await worker.call({ kind: "get", id });
    return typeof text === "string" ? (JSON.parse(text) as AuditRecord) : undefined;
  }

  async function closeAll(): Promise<void> {
    purge.stop();
    await queue.close();
    await worker.close({ kind: "close" });
  }

  return {
    append: queue.push,
    query,
    get,
    ready: () => !closing && worker.ready() && queue.healthy(),
    stats: () => ({ ...queue.stats(), errors: queue.stats().errors + worker.deaths() }),
    close: () => (closing ??= closeAll()),
  };
}

async function openWorker(directory: string, data: SqliteWorkerData): Promise<SupervisedWorker<SqliteJob>> {
  // Compiled, the neighbour has the extension that this file has.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const script = new URL(`./sqlite-worker.${extension}`, import.meta.url);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // SQLite would make the file readable to all; its side files take over the mode of the file.
    closeSync(openSync(data.file, "a", 0o600));
    const spawn = () => new Worker(script, { workerData: data });
    return await superviseWorker({ spawn, timeoutMs: CALL_TIMEOUT_MS, restartMs: RESTART_MS });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = "Repair it, move it away to begin with an empty audit, or choose another directory.";
    throw new AuditUnavailable(`The audit database ${data.file} cannot be used. ${reason} ${remedy}`, {
      cause: error,
    });
  }
}

/** Deletes what is older than the cutoff: at once, then every ten minutes, one small batch at a time. */
function startPurge(worker: SupervisedWorker<SqliteJob>, cutoff: () => string): { stop: () => void } {
  let timer = setTimeout(step, 0);

  function step(): void {
    worker
      .call({ kind: "purge", before: cutoff(), limit: PURGE_ROWS })
      .then((deleted) => again(deleted === PURGE_ROWS ? PURGE_STEP_MS : PURGE_EVERY_MS))
      // A store that fails says so by its commits; the purge only comes back.
      .catch(() => again(PURGE_EVERY_MS));
  }

  let stopped = false;
  function again(pause: number): void {
    if (!stopped) timer = setTimeout(step, pause);
  }

  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
