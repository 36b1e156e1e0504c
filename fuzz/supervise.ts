import { once } from "node:events";
import { join } from "node:path";
import { setInterval } from "node:timers";
import { Worker } from "node:worker_threads";
import type { LoopResult } from "./loop.ts";
import { countsOf, inputOf, makeProgress, type Counts } from "./progress.ts";
import type { Job } from "./worker.ts";

/** An input that takes this long hangs. The slowest normal input takes milliseconds. */
const HANG_MS = 20_000;

/** Milliseconds between two progress reports. */
const REPORT_EVERY_MS = 30_000;

export type Outcome = Omit<LoopResult, "found"> & {
  readonly found: readonly string[];
  readonly hang?: string;
  readonly seconds: number;
};

export interface Watch {
  readonly hangMs?: number;
  /** Gets the counters every `reportEveryMs` milliseconds. */
  readonly report?: (counts: Counts) => void;
  readonly reportEveryMs?: number;
}

/** Fuzzes one target in a thread, and terminates it when an input hangs. */
export async function supervise(
  job: Omit<Job, "progress">,
  { hangMs = HANG_MS, report = () => undefined, reportEveryMs = REPORT_EVERY_MS }: Watch = {},
): Promise<Outcome> {
  const started = performance.now();
  const progress = makeProgress();
  const workerData: Job = { ...job, progress };
  // The coverage of a function from Node's compile cache is less exact.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };
  const worker = new Worker(join(import.meta.dirname, "worker.ts"), { workerData, env });
  const seconds = (): number => (performance.now() - started) / 1000;

  let last = 0;
  let since = performance.now();
  const hung = Promise.withResolvers<Outcome>();
  const watch = setInterval(() => {
    const { begun, runs } = countsOf(progress);
    if (begun !== last) {
      last = begun;
      since = performance.now();
    } else if (begun > 0 && performance.now() - since > hangMs) {
      hung.resolve({ runs, comparisons: 0, found: [], hang: inputOf(progress), seconds: seconds() });
    }
  }, hangMs / 10);
  const reportTimer = setInterval(() => report(countsOf(progress)), reportEveryMs);

  try {
    const finished = once(worker, "message").then(
      ([result]): Outcome => ({ ...(result as LoopResult), seconds: seconds() }),
      // An error that nobody handles, such as a rejected promise, ends the thread.
      (error: unknown): Outcome => {
        const { begun, runs } = countsOf(progress);
        if (begun === 0) throw error;
        const crash = { input: inputOf(progress), error: (error as Error).stack ?? String(error) };
        return { runs, comparisons: 0, found: [], crash, seconds: seconds() };
      },
    );
    return await Promise.race([finished, hung.promise]);
  } finally {
    clearInterval(watch);
    clearInterval(reportTimer);
    await worker.terminate();
  }
}
