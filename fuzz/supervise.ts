import { once } from "node:events";
import { join } from "node:path";
import { setInterval } from "node:timers";
import { Worker } from "node:worker_threads";
import type { LoopResult } from "./loop.ts";
import { countsOf, inputOf, makeProgress, type Counts } from "./progress.ts";
import type { Job } from "./worker.ts";

/** An input that takes so long hangs: the slowest takes milliseconds. */
const HANG_MS = 20_000;

/** Milliseconds between two words about how far it is. */
const TELL_MS = 30_000;

export type Outcome = Omit<LoopResult, "found"> & {
  readonly found: readonly string[];
  readonly hang?: string;
  readonly seconds: number;
};

export interface Watch {
  readonly hangMs?: number;
  /** Hears every `tellMs` how far it is. */
  readonly tell?: (counts: Counts) => void;
  readonly tellMs?: number;
}

/** Fuzzes one target in a thread, and ends it when one input takes for ever. */
export async function supervise(
  job: Omit<Job, "progress">,
  { hangMs = HANG_MS, tell = () => undefined, tellMs = TELL_MS }: Watch = {},
): Promise<Outcome> {
  const started = performance.now();
  const progress = makeProgress();
  const workerData: Job = { ...job, progress };
  // A function that comes out of Node's compile cache tells less exactly what of it was run.
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
      hung.resolve({ runs, found: [], hang: inputOf(progress), seconds: seconds() });
    }
  }, hangMs / 10);
  const telling = setInterval(() => tell(countsOf(progress)), tellMs);

  try {
    const finished = once(worker, "message").then(([result]): Outcome => ({
      ...(result as LoopResult),
      seconds: seconds(),
    }));
    return await Promise.race([finished, hung.promise]);
  } finally {
    clearInterval(watch);
    clearInterval(telling);
    await worker.terminate();
  }
}
