/** Checks packs in a thread, so that a large or invalid one delays no request. */
import { Worker } from "node:worker_threads";
import { type Diagnostic, PackError, type ProductWords } from "../../base/index.ts";
import type { CheckedPack } from "./checked-pack.ts";
import type { PackFiles } from "./load-pack.ts";

/** What the thread gets. */
export interface PackCheckJob {
  readonly files: PackFiles;
  readonly words: ProductWords;
}

/** What the thread responds. */
export type PackCheckReply =
  | { readonly checked: CheckedPack }
  | { readonly diagnostics: readonly Diagnostic[] };

/** The shipped pack takes less than a second. */
const TIMEOUT_MS = 60_000;
/** The shipped pack takes 60 MB. */
const MAX_HEAP_MB = 512;

/** The thread of a check was ended before it had a result. */
class PackCheckError extends Error {
  override readonly name = "PackCheckError";
  readonly code = "AG_PACK_CHECK_ENDED";
}

/**
 * Parses and validates a pack in another thread.
 *
 * @param signal Ends the thread: the pack is no longer wanted.
 * @throws {PackError} With the diagnostics, without source lines. {Error} If the thread takes too long or too much memory.
 */
export async function checkInThread(job: PackCheckJob, signal: AbortSignal): Promise<CheckedPack> {
  signal.throwIfAborted();
  // After the build both files have the extension `.js`.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const thread = new Worker(new URL(`./pack-check-thread.${extension}`, import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<PackCheckReply>();
  thread.once("message", resolve).on("error", reject);
  const end = (reason: string) => (): void => reject(new PackCheckError(reason));
  thread.once("exit", end("the thread that checks the pack has ended"));
  signal.addEventListener("abort", end("another pack replaces it"), { once: true });
  const timer = setTimeout(end(`the check of the pack took more than ${TIMEOUT_MS} ms`), TIMEOUT_MS);
  // A pack that is being checked does not keep a program alive.
  timer.unref();
  thread.unref();
  try {
    const reply = await promise;
    if ("diagnostics" in reply) throw new PackError(reply.diagnostics);
    return reply.checked;
  } finally {
    clearTimeout(timer);
    void thread.terminate();
  }
}
