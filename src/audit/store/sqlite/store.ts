import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { errorText, makeFolder, startThread } from "../../../base/index.ts";
import { createStore } from "../create-store.ts";
import { AuditUnavailableError, type AuditStore, type StoreOptions } from "../store.ts";
import type { SqliteUse } from "./driver.ts";
import { remoteJobs, type ThreadJob } from "./thread/messages.ts";
import { StoreThread } from "./thread/store-thread.ts";

/** Name of the database file. */
export const AUDIT_FILE = "audit.db";

/** Limit in MB of a thread's young objects, which are the rows of a batch or a page. V8 would let them grow to 128 MB. */
const YOUNG_MB = 8;

const CALL_TIMEOUT_MS = 15_000;
/** Time limit in milliseconds. Requests wait for these queries, which usually take a millisecond. */
const DECISION_TIMEOUT_MS = 5000;
/** Time limit in milliseconds. Opening may include changes of a large database. */
const OPEN_TIMEOUT_MS = 600_000;
const RESTART_MS = 200;
/** Milliseconds between two probes. Short, because the file may be lost. */
const PROBE_MS = 1000;
/** Milliseconds between two purges. Short enough that a busy store does not exceed its size limit by much. */
const PURGE_MS = 10_000;

/** Options of the SQLite store. */
interface SqliteStoreOptions extends StoreOptions {
  /** The folder of `audit.db`. It is created if it is missing. */
  readonly directory: string;
  /** The thread for writing, from `startSqliteThread`. Default: a new thread. */
  readonly thread?: Worker | undefined;
}

/**
 * Starts a thread that loads its modules and waits for the file that it has to open. The store that receives it ends
 * it, or `terminate`.
 */
export const startSqliteThread = (): Worker =>
  startThread(import.meta.url, "./thread/worker", { maxYoungGenerationSizeMb: YOUNG_MB })
    // If it fails before a store receives it, the store starts a new thread.
    .on("error", () => {});

type SqliteThread = StoreThread<ThreadJob>;

function createThread(use: SqliteUse, timeoutMs: number, started?: Worker): SqliteThread {
  let next = started;
  function spawn(): Worker {
    // The id of a thread that has ended is -1.
    const thread = next && next.threadId !== -1 ? next : startSqliteThread();
    next = undefined;
    return thread;
  }
  const open = { method: "open", argument: use } as const;
  return new StoreThread({ spawn, open, timeoutMs, openTimeoutMs: OPEN_TIMEOUT_MS, restartMs: RESTART_MS });
}

async function openWriter({ directory, durability, thread }: SqliteStoreOptions): Promise<SqliteThread> {
  const file = join(directory, AUDIT_FILE);
  try {
    makeFolder(directory);
    // SQLite would create a file that any user can read. Its journal files get the mode of this file.
    closeSync(openSync(file, "a", 0o600));
    const synchronous = durability === "strict" ? "FULL" : "NORMAL";
    const writer = createThread({ file, synchronous }, CALL_TIMEOUT_MS, thread);
    await writer.start();
    return writer;
  } catch (error) {
    const reason = errorText(error);
    const remedy = "Repair it, move it away to begin with an empty audit, or choose another directory.";
    throw new AuditUnavailableError(`The audit database ${file} can't be used. ${reason} ${remedy}`, {
      cause: error,
    });
  }
}

/**
 * Opens the embedded audit store: SQLite, with a thread for writing, one for reading, and one for reading data that
 * requests wait for. The reading threads start with their first query. Several processes may open the same file.
 *
 * @throws {AuditUnavailableError} If the file can't be created or is not a usable database. The message names the file
 *   and the remedy.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<AuditStore> {
  const file = join(options.directory, AUDIT_FILE);
  const writer = await openWriter(options);
  const reader = createThread({ file }, CALL_TIMEOUT_MS);
  const decider = createThread({ file }, DECISION_TIMEOUT_MS);
  const threads = [writer, reader, decider];
  const parts = {
    writer: remoteJobs(writer),
    reader: remoteJobs(reader),
    decider: remoteJobs(decider),
    fault: () => (threads.every(({ isReady }) => isReady) ? undefined : "The audit store is not running."),
    restarts: () => threads.reduce((sum, { lostWorkers }) => sum + lostWorkers, 0),
    async close() {
      await Promise.all(threads.map((each) => each.close({ method: "close" })));
    },
  };
  return createStore(parts, options, { probeMs: PROBE_MS, purgeMs: PURGE_MS });
}
