import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../storage/make-folder.ts";
import { Worker } from "node:worker_threads";
import { readPage } from "../record-pages.ts";
import { limitsOf, startPurge, type PurgeResult } from "../purge.ts";
import type { EraseRequest, Erasure } from "../erase.ts";
import { readRecord } from "../read-record.ts";
import type { AuditRecord } from "../record.ts";
import { AuditUnavailableError } from "../store.ts";
import type { AuditStore, StoreOptions, TextPage } from "../store.ts";
import type { ClientUsage, DayUsage, RouteUsage, TokenActivity, TokenUsage } from "../usage.ts";
import { RecentBytes } from "../client-shares.ts";
import { createBatch } from "../segment.ts";
import type { CallSpan } from "../call-spans.ts";
import type { LossUsage } from "../loss-usage.ts";
import { NameLists } from "../name-lists.ts";
import type { RouteCallers } from "../callers.ts";
import type { SentUsage } from "../sent-usage.ts";
import type { StoredRow } from "../stored-row.ts";
import { GROUP_MS, createWriteQueue, MAX_QUEUED } from "../write-queue.ts";
import {
  packBatch,
  type ReaderJob,
  type SqliteWorkerData,
  type WriterJob,
  type WrittenBatch,
} from "./worker-messages.ts";
import type { ErasePosition, EraseStep } from "./erase.ts";
import { startWithFirstJob, superviseWorker } from "./supervised-worker.ts";
import type { SupervisedWorker } from "./supervised-worker.ts";

/** Name of the database file. */
export const AUDIT_FILE = "audit.db";

const CALL_TIMEOUT_MS = 15_000;
/** Opening may include changes of a large database. */
const OPEN_TIMEOUT_MS = 600_000;
const RESTART_MS = 100;
/** Without traffic nothing else would notice that the file can't be written, or is lost. */
const PROBE_MS = 1000;

/** Options of the SQLite store. */
export interface SqliteStoreOptions extends StoreOptions {
  /** The folder of `audit.db`. It is created if it is missing. */
  readonly directory: string;
  /** The thread for writing, from `startSqliteThread`. Default: another one. */
  readonly thread?: Worker | undefined;
}

/**
 * Starts a thread that loads its modules and waits for the file that it has to open. It is ended by the store that gets it, or
 * by `terminate`.
 */
export function startSqliteThread(): Worker {
  // After the build both files have the extension `.js`.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const thread = new Worker(new URL(`./worker.${extension}`, import.meta.url));
  // If it fails before a store gets it, the store starts another one.
  return thread.on("error", () => {});
}

/**
 * Opens the embedded audit store: SQLite, with a thread for writing, and one for reading that starts with the first query.
 * Several processes may open the same file.
 *
 * @throws {AuditUnavailableError} If the file can't be created or is not a usable database. The message names the file and
 *   the remedy.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<AuditStore> {
  const { directory, thread, durability } = options;
  const file = join(directory, AUDIT_FILE);
  const synchronous = durability === "strict" ? "FULL" : "NORMAL";
  const { writer, reader } = await openWorkers(directory, { role: "writer", file, synchronous }, thread);
  const purge = startPurge({
    step: () => writer.call({ kind: "purge", ...limitsOf(options) }) as Promise<PurgeResult>,
  });

  const recent = new RecentBytes();
  /** The buffer of the last batch. New memory for each batch would cost as much as filling it. */
  let spare: ArrayBuffer | undefined;

  const lists = new NameLists("sent");
  const lossLists = new NameLists("lost");

  async function commit(rows: readonly StoredRow[]): Promise<number> {
    for (const row of rows) {
      lists.add(row);
      lossLists.add(row);
    }
    const names = lists.waiting();
    const lossNames = lossLists.waiting();
    const batch = packBatch(createBatch(rows, recent, spare));
    spare = undefined;
    const written = (await writer.call({ kind: "write", batch, names, lossNames }, [
      batch.bytes.buffer,
    ])) as WrittenBatch;
    lists.confirm(names);
    lossLists.confirm(lossNames);
    spare = written.buffer;
    return written.storedBytes;
  }

  const queue = createWriteQueue({
    commit,
    durability,
    groupMs: GROUP_MS,
    ...MAX_QUEUED,
    ...options.queue,
    onFault: options.onFault,
  });
  const probe = setInterval(queue.probe, PROBE_MS).unref();
  let closing: Promise<void> | undefined;

  async function texts(query: ReaderJob & { kind: "page" }): Promise<TextPage> {
    return (await reader.call(query)) as TextPage;
  }

  async function get(id: string): Promise<AuditRecord | undefined> {
    const text = await reader.call({ kind: "get", id });
    return typeof text === "string" ? readRecord(id, text) : undefined;
  }

  async function erase(request: EraseRequest, onRecords?: (done: number) => void): Promise<Erasure> {
    const { keys } = request;
    let from: ErasePosition | undefined;
    let records = 0;
    do {
      const step = (await writer.call({ kind: "erase", keys, from })) as EraseStep;
      records += step.records;
      from = step.next;
      onRecords?.(records);
    } while (from);
    return (await writer.call({ kind: "eraseSummaries", request, records })) as Erasure;
  }

  function fault(): string | undefined {
    if (closing) return "The audit store is closed.";
    if (!writer.ready() || !reader.ready()) return "The audit store is not running.";
    return queue.fault();
  }

  async function closeAll(): Promise<void> {
    purge.stop();
    clearInterval(probe);
    await queue.close();
    await Promise.all([writer.close({ kind: "close" }), reader.close({ kind: "close" })]);
  }

  return {
    append: queue.push,
    texts: (query) => texts({ kind: "page", query }),
    query: async (query) => readPage(await texts({ kind: "page", query }), options),
    get,
    count: async (query) => (await reader.call({ kind: "count", query })) as number,
    clients: async (query) => (await reader.call({ kind: "clients", query })) as ClientUsage[],
    tokens: async ({ client }) => (await reader.call({ kind: "tokens", client })) as TokenUsage[],
    activity: async ({ fingerprint }) =>
      (await reader.call({ kind: "activity", fingerprint })) as TokenActivity,
    sent: async (query) => (await reader.call({ kind: "sent", query })) as SentUsage[],
    losses: async (query) => (await reader.call({ kind: "losses", query })) as LossUsage[],
    spans: async (query) => (await reader.call({ kind: "spans", query })) as CallSpan[],
    callers: async (query) => (await reader.call({ kind: "callers", query })) as RouteCallers,
    usage: async (query) => (await reader.call({ kind: "usage", query })) as RouteUsage[],
    days: async (query) => (await reader.call({ kind: "days", query })) as DayUsage[],
    erase,
    erasures: async () => (await reader.call({ kind: "erasures" })) as Erasure[],
    ready: () => fault() === undefined,
    fault,
    stats: () => ({
      ...queue.stats(),
      errors: queue.stats().errors + writer.lostWorkers() + reader.lostWorkers(),
      evicted: purge.evicted(),
    }),
    close: () => (closing ??= closeAll()),
  };
}

interface Workers {
  readonly writer: SupervisedWorker<WriterJob>;
  readonly reader: SupervisedWorker<ReaderJob>;
}

async function openWorkers(
  directory: string,
  data: SqliteWorkerData,
  thread: Worker | undefined,
): Promise<Workers> {
  const { file } = data;
  try {
    makeFolder(directory);
    // SQLite would create a file that everybody can read. Its journal files get the mode of this file.
    closeSync(openSync(file, "a", 0o600));
    const writer = await openWorker<WriterJob>(data, thread);
    const reader = startWithFirstJob(() => openWorker<ReaderJob>({ role: "reader", file }));
    return { writer, reader };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = "Repair it, move it away to begin with an empty audit, or choose another directory.";
    throw new AuditUnavailableError(`The audit database ${file} cannot be used. ${reason} ${remedy}`, {
      cause: error,
    });
  }
}

function openWorker<Job>(data: SqliteWorkerData, started?: Worker): Promise<SupervisedWorker<Job>> {
  let next = started;
  function spawn(): Worker {
    // The id of a thread that has ended is -1.
    const thread = next && next.threadId !== -1 ? next : startSqliteThread();
    next = undefined;
    thread.postMessage(data, []);
    return thread;
  }
  return superviseWorker<Job>({
    spawn,
    timeoutMs: CALL_TIMEOUT_MS,
    openTimeoutMs: OPEN_TIMEOUT_MS,
    restartMs: RESTART_MS,
  });
}
