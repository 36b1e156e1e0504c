import { setTimeout as wait } from "node:timers/promises";
import type { CancelSignal } from "../upstream/client.ts";

/** Waits for some milliseconds, or until a signal fires. A call that follows then fails without being sent. */
export async function pauseUntilAborted(ms: number, signal: CancelSignal): Promise<void> {
  const end = new AbortController();
  const onAbort = (): void => end.abort();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  await wait(ms, undefined, { signal: end.signal }).catch(() => {});
  signal.removeEventListener("abort", onAbort);
}
