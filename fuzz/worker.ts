/** One target in a thread of its own, so that one that hangs can be ended. */
import { parentPort as port, workerData } from "node:worker_threads";
import { watchCoverage } from "./coverage.ts";
import { fuzz } from "./loop.ts";
import type { Target } from "./target.ts";

export interface Job {
  /** Address of the module that exports the target. */
  readonly module: string;
  readonly runs: number;
  readonly seed: number;
  readonly corpus: readonly string[];
  /** How many runs were begun, then the length of the input that runs now. */
  readonly progress: Int32Array;
  readonly input: Uint16Array;
}

const { module, runs, seed, corpus, progress, input: shown } = workerData as Job;
const { target } = (await import(module)) as { target: Target };
const coverage = watchCoverage(target.covers);

function show(input: string): void {
  const length = Math.min(input.length, shown.length);
  for (let at = 0; at < length; at += 1) shown[at] = input.charCodeAt(at);
  Atomics.store(progress, 1, length);
  Atomics.add(progress, 0, 1);
}

const result = await fuzz(target, coverage, { runs, seed, corpus, before: show });
coverage.stop();
port?.postMessage(result, []);
