/** Traces records in a thread, so that the serving thread never loads a traced pack, and never waits for a trace. */
import { type AuditRecord, serializeRecord } from "../../audit/index.ts";
import { type ProductWords, runInThread } from "../../base/index.ts";
import type { PackFiles } from "../../pack/index.ts";
import type { CatalogRow } from "./catalog-rows.ts";
import type { Trace } from "./trace.ts";

/** The input of the thread. */
export interface TraceJob {
  readonly files: PackFiles;
  readonly words: ProductWords;
  /** The record as JSON. */
  readonly record: string;
  /** The entries of catalogs that the record may use. */
  readonly rows: readonly CatalogRow[];
}

/** Time limit in milliseconds. The bundled pack takes a second. */
const TIMEOUT_MS = 30_000;
/** Memory limit in MB. The bundled pack needs 60 MB. */
const MAX_HEAP_MB = 512;

let isBusy = false;

/**
 * Traces a record under a pack, one at a time.
 *
 * @returns undefined while another trace runs
 * @throws {Error} if the thread takes too long or uses too much memory
 */
export async function traceInThread(
  record: AuditRecord,
  { files, words, rows }: Omit<TraceJob, "record">,
): Promise<Trace | undefined> {
  if (isBusy) return undefined;
  isBusy = true;
  try {
    const job: TraceJob = { files, words, rows, record: serializeRecord(record).parts.join("") };
    return await runInThread<Trace>(job, {
      from: import.meta.url,
      entry: "./trace-thread",
      timeoutMs: TIMEOUT_MS,
      maxHeapMb: MAX_HEAP_MB,
    });
  } finally {
    isBusy = false;
  }
}
