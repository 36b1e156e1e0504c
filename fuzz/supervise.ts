import { once } from "node:events";
import { join } from "node:path";
import { setInterval } from "node:timers";
import { Worker } from "node:worker_threads";
import type { LoopResult } from "./loop.ts";
import type { Job } from "./worker.ts";

/** An input that takes so long hangs: the slowest takes milliseconds. */
const HANG_MS = 20_000;

const LONGEST_SHOWN = 65_536;

export type Outcome = Omit<LoopResult, "found"> & {
  readonly found: readonly string[];
  readonly hang?: string;
  readonly seconds: number;
};

/** Fuzzes one target in a thread, and ends it when one input takes for ever. */
export async function supervise(
  job: Omit<Job, "progress" | "input">,
  { hangMs = HANG_MS }: { readonly hangMs?: number } = {},
): Promise<Outcome> {
  const begun = performance.now();
  const progress = new Int32Array(new SharedArrayBuffer(8));
  const input = new Uint16Array(new SharedArrayBuffer(2 * LONGEST_SHOWN));
  const workerData: Job = { ...job, progress, input };
  const worker = new Worker(join(import.meta.dirname, "worker.ts"), { workerData });
  const seconds = (): number => (performance.now() - begun) / 1000;

  let last = 0;
  let since = performance.now();
  const hung = Promise.withResolvers<Outcome>();
  const watch = setInterval(() => {
    const now = Atomics.load(progress, 0);
    if (now !== last) {
      last = now;
      since = performance.now();
    } else if (now > 0 && performance.now() - since > hangMs) {
      const text = String.fromCharCode(...input.slice(0, Atomics.load(progress, 1)));
      hung.resolve({ runs: now, found: [], blocks: 0, hang: text, seconds: seconds() });
    }
  }, hangMs / 10);

  try {
    const finished = once(worker, "message").then(([result]): Outcome => ({
      ...(result as LoopResult),
      seconds: seconds(),
    }));
    return await Promise.race([finished, hung.promise]);
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
}
