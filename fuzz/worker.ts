/** Runs one target in a worker thread, so that it can be terminated when it hangs. */
import { parentPort as port, workerData } from "node:worker_threads";
import { watchCoverage } from "./coverage.ts";
import { fuzz } from "./loop.ts";
import { showDone, showInput, type Progress } from "./progress.ts";
import type { Target } from "./target.ts";

export interface Job {
  /** URL of the module that exports the target. */
  readonly module: string;
  readonly runs: number;
  readonly seed: number;
  readonly corpus: readonly string[];
  readonly progress: Progress;
}

const { module, runs, seed, corpus, progress } = workerData as Job;
const { target } = (await import(module)) as { target: Target };
const coverage = watchCoverage(target.covers);

const result = await fuzz(target, coverage, {
  runs,
  seed,
  corpus,
  before: (input) => showInput(progress, input),
  report: (done, found) => showDone(progress, done, found),
});
coverage.stop();
port?.postMessage(result, []);
