import type { Worker } from "node:worker_threads";
import { AuditUnavailableError } from "../store.ts";
import { createWorkerLink } from "./worker-link.ts";
import type { WorkerLink } from "./worker-link.ts";

const MAX_PAUSE_MS = 5000;

export interface SupervisedOptions {
  readonly spawn: () => Worker;
  /** Milliseconds for one call; a worker that takes longer is replaced. */
  readonly timeoutMs: number;
  /** Milliseconds for the start. */
  readonly openTimeoutMs: number;
  /** Milliseconds before a restart; doubled with each restart that fails, up to 5 seconds. */
  readonly restartMs: number;
}

export interface SupervisedWorker<Job> {
  /** @throws {AuditUnavailableError} when the worker is down, dies over the job, is late, or answers with an error. */
  readonly call: (job: Job) => Promise<unknown>;
  readonly ready: () => boolean;
  /** Workers lost since the start. */
  readonly lostWorkers: () => number;
  /** Does one last job, where the worker is up, and ends it. */
  readonly close: (last: Job) => Promise<void>;
}

/**
 * Keeps one worker thread alive: a dead one is replaced until it comes up again.
 *
 * @throws {AuditUnavailableError} where the first one does not come up: that is a fault of the set-up.
 */
export async function superviseWorker<Job>(options: SupervisedOptions): Promise<SupervisedWorker<Job>> {
  const { spawn, restartMs } = options;
  let link: WorkerLink<Job> | undefined;
  let ready = false;
  let supervised = false;
  let deaths = 0;
  let failedStarts = 0;
  let restart: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    link = createWorkerLink<Job>({ ...options, worker: spawn(), onLost });
    await link.opened;
    ready = true;
    failedStarts = 0;
  }

  function onLost(): void {
    link = undefined;
    ready = false;
    if (!supervised) return;
    deaths += 1;
    const pause = Math.min(restartMs * 2 ** failedStarts, MAX_PAUSE_MS);
    failedStarts += 1;
    // A start that fails comes back here by `onLost`.
    restart = setTimeout(() => void start().catch(() => {}), pause);
  }

  async function call(job: Job): Promise<unknown> {
    if (!link || !ready) throw new AuditUnavailableError("The audit store is not running.");
    return link.call(job);
  }

  async function close(last: Job): Promise<void> {
    supervised = false;
    clearTimeout(restart);
    const closing = link;
    if (ready) await call(last).catch(() => {});
    await closing?.end();
  }

  await start();
  supervised = true;
  return { call, close, ready: () => ready, lostWorkers: () => deaths };
}
