import { setTimeout as wait } from "node:timers/promises";
import type { Wait } from "../../../pack/index.ts";
import type { CancelSignal } from "../../upstream/deadline-signal.ts";
import type { AuthorizedRequest } from "../authorized-request.ts";
import { requestWithoutBody, type PreparedRequest } from "../prepared-request.ts";

/** Waits for some milliseconds, or until a signal fires. A call that follows then fails without being sent. */
export async function pauseUntilAborted(ms: number, signal: CancelSignal): Promise<void> {
  const end = new AbortController();
  const onAbort = (): void => end.abort();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  await wait(ms, undefined, { signal: end.signal }).catch(() => {});
  signal.removeEventListener("abort", onAbort);
}

/**
 * Waits until v4 shows that the call can be made: alpha queues calls that v4 rejects while it is busy. After the
 * longest time, or where v4 does not say, the call is made anyway and v4 decides.
 */
export async function waitUntil(
  { endpoint, until, intervalMs, timeoutMs }: Wait,
  { values }: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<void> {
  const { upstream, request } = authorized;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const response = await upstream.call(requestWithoutBody(endpoint, values));
    if (!response.success || (await until(response.json, authorized))) return;
    if (performance.now() + intervalMs > deadline) return;
    await pauseUntilAborted(intervalMs, request.signal);
  }
}
