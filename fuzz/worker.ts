/** One target in a thread of its own, so that one that hangs can be ended. */
import { parentPort as port, workerData } from "node:worker_threads";
import { watchCoverage } from "./coverage.ts";
import { fuzz } from "./loop.ts";
import { showDone, showInput, type Progress } from "./progress.ts";
import type { Target } from "./target.ts";

export interface Job {
  /** Address of the module that exports the target. */
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
  tell: (done, found) => showDone(progress, done, found),
});
coverage.stop();
port?.postMessage(result, []);
