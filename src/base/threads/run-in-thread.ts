import { startThread, ThreadLink } from "./thread-link.ts";

/** A thread for one job. */
interface OneJobOptions {
  /** The `import.meta.url` of the file that starts the thread. */
  readonly from: string;
  /** The file of the thread, relative to `from`, without its extension. */
  readonly entry: string;
  readonly timeoutMs: number;
  readonly maxHeapMb: number;
  /** Ends the thread when its result is no longer needed. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a job in its own thread, which does not keep the program alive.
 *
 * @throws {Error} with the error of the thread, or if it ends early, takes too long or uses too much memory
 */
export async function runInThread<Result>(
  job: unknown,
  { from, entry, timeoutMs, maxHeapMb, signal }: OneJobOptions,
): Promise<Result> {
  signal?.throwIfAborted();
  const thread = startThread(from, entry, { maxOldGenerationSizeMb: maxHeapMb });
  const link = new ThreadLink(thread);
  const abort = (): void => void link.end("its result is no longer wanted");
  signal?.addEventListener("abort", abort, { once: true });
  thread.unref();
  try {
    return (await link.call(job, { timeoutMs })) as Result;
  } finally {
    signal?.removeEventListener("abort", abort);
    void link.end();
  }
}
