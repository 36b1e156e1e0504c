import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { errorText, makeFolder } from "../../../base/index.ts";
import { Worker, type Transferable } from "node:worker_threads";
import { limitsOf, startPurge } from "../purge.ts";
import type { EraseRequest, Erasure } from "../erase.ts";
import { readPage, readRecord } from "../../record/read-record.ts";
import type { AuditRecord } from "../../record/record.ts";
import { AuditUnavailableError } from "../store.ts";
import type { AuditStore, StoreOptions } from "../store.ts";
import { RecentBytes } from "../client-shares.ts";
import { createBatch } from "../segment.ts";
import { NameLists } from "../../usage/name-lists.ts";
import type { StoredRow } from "../stored-row.ts";
import { GROUP_MS, createWriteQueue, MAX_QUEUED } from "../write-queue.ts";
import {
  packBatch,
  type DecisionJob,
  type JobResults,
  type ReaderJob,
  type SqliteWorkerData,
  type WriterJob,
} from "./thread/worker-messages.ts";
import type { ErasePosition } from "./erase.ts";
import { startWithFirstJob, superviseWorker } from "./thread/supervised-worker.ts";
import type { SupervisedWorker } from "./thread/supervised-worker.ts";

/** Name of the database file. */
export const AUDIT_FILE = "audit.db";

/** What a thread may take for its young objects. They are the rows of a batch or a page; V8 would let them grow to 128 MB. */
const YOUNG_MB = 8;

const CALL_TIMEOUT_MS = 15_000;
/** Requests wait for it, and what they ask takes a millisecond. */
const DECISION_TIMEOUT_MS = 5000;
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
  const thread = new Worker(new URL(`./thread/worker.${extension}`, import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  // If it fails before a store gets it, the store starts another one.
  return thread.on("error", () => {});
}

/** Returns the function that runs jobs of a worker, each with its result. */
const callerOf =
  <Job extends { readonly kind: keyof JobResults }>({ call }: Pick<SupervisedWorker<Job>, "call">) =>
  <Called extends Job>(job: Called, transfer?: readonly Transferable[]) =>
    call(job, transfer) as Promise<JobResults[Called["kind"]]>;

/**
 * Opens the embedded audit store: SQLite, with a thread for writing, one for reading, and one for reading what requests
 * wait for. Those for reading start with their first query.
 * Several processes may open the same file.
 *
 * @throws {AuditUnavailableError} If the file can't be created or is not a usable database. The message names the file and
 *   the remedy.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<AuditStore> {
  const { directory, thread, durability } = options;
  const file = join(directory, AUDIT_FILE);
  const synchronous = durability === "strict" ? "FULL" : "NORMAL";
  const { writer, reader, decider } = await openWorkers(
    directory,
    { role: "writer", file, synchronous },
    thread,
  );
  const write = callerOf(writer);
  const read = callerOf(reader);
  const decide = callerOf(decider);
  const purge = startPurge({
    step: () => write({ kind: "purge", ...limitsOf(options) }),
    onTooManyClients: options.onTooManyClients,
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
    const written = await write({ kind: "write", batch, names, lossNames }, [batch.bytes.buffer]);
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

  async function get(id: string): Promise<AuditRecord | undefined> {
    const text = await read({ kind: "get", id });
    return text === undefined ? undefined : readRecord(id, text);
  }

  async function erase(request: EraseRequest, onRecords?: (done: number) => void): Promise<Erasure> {
    const { keys } = request;
    let from: ErasePosition | undefined;
    let records = 0;
    do {
      const step = await write({ kind: "erase", keys, from });
      records += step.records;
      from = step.next;
      onRecords?.(records);
    } while (from);
    return write({ kind: "eraseSummaries", request, records });
  }

  function fault(): string | undefined {
    if (closing) return "The audit store is closed.";
    if (![writer, reader, decider].every((worker) => worker.ready()))
      return "The audit store is not running.";
    return queue.fault();
  }

  async function closeAll(): Promise<void> {
    purge.stop();
    clearInterval(probe);
    await queue.close();
    await Promise.all([writer, reader, decider].map((worker) => worker.close({ kind: "close" })));
  }

  return {
    append: queue.push,
    texts: (query) => read({ kind: "page", query }),
    query: async (query) => readPage(await read({ kind: "page", query }), options),
    get,
    count: (query) => read({ kind: "count", query }),
    clients: (query) => read({ kind: "clients", query }),
    tokens: (query) => read({ kind: "tokens", query }),
    activity: ({ fingerprint }) => read({ kind: "activity", fingerprint }),
    sent: (query) => read({ kind: "sent", query }),
    losses: (query) => read({ kind: "losses", query }),
    spans: (query) => read({ kind: "spans", query }),
    callers: (query) => read({ kind: "callers", query }),
    usage: (query) => read({ kind: "usage", query }),
    days: (query) => read({ kind: "days", query }),
    erase,
    erasures: () => read({ kind: "erasures" }),
    decisions: {
      wasServed: (query) => decide({ kind: "past", query }),
      callsOf: (query) => decide({ kind: "calls", query }),
      tokenPage: (query) => decide({ kind: "tokenPage", query }),
    },
    ready: () => fault() === undefined,
    fault,
    stats: () => ({
      ...queue.stats(),
      errors: [writer, reader, decider].reduce(
        (sum, worker) => sum + worker.lostWorkers(),
        queue.stats().errors,
      ),
      evicted: purge.evicted(),
      evictedClients: purge.evictedClients(),
    }),
    close: () => (closing ??= closeAll()),
  };
}

interface Workers {
  readonly writer: SupervisedWorker<WriterJob>;
  readonly reader: SupervisedWorker<ReaderJob>;
  readonly decider: SupervisedWorker<DecisionJob>;
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
    const writer = await openWorker<WriterJob>(data, CALL_TIMEOUT_MS, thread);
    const reader = startWithFirstJob(() => openWorker<ReaderJob>({ role: "reader", file }, CALL_TIMEOUT_MS));
    const decider = startWithFirstJob(() =>
      openWorker<DecisionJob>({ role: "decider", file }, DECISION_TIMEOUT_MS),
    );
    return { writer, reader, decider };
  } catch (error) {
    const reason = errorText(error);
    const remedy = "Repair it, move it away to begin with an empty audit, or choose another directory.";
    throw new AuditUnavailableError(`The audit database ${file} cannot be used. ${reason} ${remedy}`, {
      cause: error,
    });
  }
}

function openWorker<Job>(
  data: SqliteWorkerData,
  timeoutMs: number,
  started?: Worker,
): Promise<SupervisedWorker<Job>> {
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
    timeoutMs,
    openTimeoutMs: OPEN_TIMEOUT_MS,
    restartMs: RESTART_MS,
  });
}
