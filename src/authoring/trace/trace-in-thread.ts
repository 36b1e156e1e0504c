/** Traces records in a thread: what serves requests never loads the traced form of a pack, and waits for no trace. */
import { Worker } from "node:worker_threads";
import { type AuditRecord, serializeRecord } from "../../audit/index.ts";
import type { ProductWords } from "../../base/index.ts";
import type { PackFiles } from "../../pack/index.ts";
import type { CatalogRow } from "./catalog-rows.ts";
import type { Trace } from "./trace.ts";

/** What the thread gets. */
export interface TraceJob {
  readonly files: PackFiles;
  readonly words: ProductWords;
  /** The record as JSON. */
  readonly record: string;
  /** The entries of catalogs that it may use. */
  readonly rows: readonly CatalogRow[];
}

/** The shipped pack takes a second. */
const TIMEOUT_MS = 30_000;
/** The shipped pack takes 60 MB. */
const MAX_HEAP_MB = 512;

let isBusy = false;

async function runThread(job: TraceJob): Promise<Trace> {
  // After the build both files have the extension `.js`.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const thread = new Worker(new URL(`./trace-thread.${extension}`, import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Trace>();
  thread.once("message", resolve).on("error", reject);
  thread.once("exit", () => reject(new Error("the thread of a trace has ended")));
  const end = (): void => reject(new Error(`a trace took more than ${TIMEOUT_MS} ms`));
  const timer = setTimeout(end, TIMEOUT_MS);
  timer.unref();
  thread.unref();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    void thread.terminate();
  }
}

/**
 * Traces a record under a pack, one at a time.
 *
 * @returns Undefined while another trace runs.
 * @throws {Error} If the thread takes too long or too much memory.
 */
export async function traceInThread(
  record: AuditRecord,
  { files, words, rows }: Omit<TraceJob, "record">,
): Promise<Trace | undefined> {
  if (isBusy) return undefined;
  isBusy = true;
  try {
    return await runThread({ files, words, rows, record: serializeRecord(record).parts.join("") });
  } finally {
    isBusy = false;
  }
}
