/** Checks packs in a thread, so that a large or invalid one delays no request. */
import { type Diagnostic, errorText, PackError, type ProductWords, runInThread } from "../../base/index.ts";
import type { CheckedPack } from "./checked-pack.ts";
import type { PackFiles } from "./load-pack.ts";

/** The input of the thread. */
export interface PackCheckJob {
  readonly files: PackFiles;
  readonly words: ProductWords;
}

/** The response of the thread. */
export type PackCheckReply =
  | { readonly checked: CheckedPack }
  | { readonly diagnostics: readonly Diagnostic[] };

/** Time limit in milliseconds. The bundled pack takes less than a second. */
const TIMEOUT_MS = 60_000;
/** Memory limit in MB. The bundled pack needs 60 MB. */
const MAX_HEAP_MB = 512;

/** The thread of a check ended before it returned a result. */
class PackCheckError extends Error {
  override readonly name = "PackCheckError";
  readonly code = "AG_PACK_CHECK_ENDED";
}

/**
 * Parses and validates a pack in another thread.
 *
 * @param signal Ends the thread, because its result is no longer needed.
 * @throws {PackError} with the diagnostics, without source lines; {Error} if the thread takes too long or uses too much
 *   memory
 */
export async function checkInThread(job: PackCheckJob, signal: AbortSignal): Promise<CheckedPack> {
  const reply = await runInThread<PackCheckReply>(job, {
    from: import.meta.url,
    entry: "./pack-check-thread",
    timeoutMs: TIMEOUT_MS,
    maxHeapMb: MAX_HEAP_MB,
    signal,
  }).catch((error: unknown) => {
    throw new PackCheckError(
      signal.aborted ? "another pack replaces it" : `the check of the pack failed: ${errorText(error)}`,
    );
  });
  if ("diagnostics" in reply) throw new PackError(reply.diagnostics);
  return reply.checked;
}
