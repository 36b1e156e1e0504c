import type { Transferable, Worker } from "node:worker_threads";
import { errorText, ThreadLink } from "../../../../base/index.ts";
import { AuditUnavailableError } from "../../store.ts";

const MAX_PAUSE_MS = 5000;

/** Options of a supervised worker. */
export interface SupervisedOptions<Job> {
  readonly spawn: () => Worker;
  /** The first job of each worker. */
  readonly open: Job;
  /** Time limit of one call in milliseconds. A worker that takes longer is replaced. */
  readonly timeoutMs: number;
  /** Time limit of the first job in milliseconds. */
  readonly openTimeoutMs: number;
  /** Milliseconds before a restart. Doubled after each failed restart, up to 5 seconds. */
  readonly restartMs: number;
}

/** A worker thread that is restarted automatically. */
export interface SupervisedWorker<Job> {
  /**
   * Runs a job. `transfer`: buffers that the worker gets without a copy.
   *
   * @throws {AuditUnavailableError} If the worker is down, exits, times out, or replies with an error.
   */
  readonly call: (job: Job, transfer?: readonly Transferable[]) => Promise<unknown>;
  readonly ready: () => boolean;
  /** Number of workers that exited or were terminated since the start. */
  readonly lostWorkers: () => number;
  /** Runs a last job if the worker is up, and terminates it. */
  readonly close: (last: Job) => Promise<void>;
}

function toUnavailableError(error: unknown): never {
  throw new AuditUnavailableError(`The audit store failed: ${errorText(error)}.`, { cause: error });
}

/**
 * Starts a worker thread and restarts it whenever it exits.
 *
 * @throws {AuditUnavailableError} If the first start fails, because that is a problem of the configuration.
 */
export async function superviseWorker<Job>(options: SupervisedOptions<Job>): Promise<SupervisedWorker<Job>> {
  const { spawn, open, timeoutMs, openTimeoutMs, restartMs } = options;
  let link: ThreadLink<Job> | undefined;
  let ready = false;
  let supervised = false;
  let deaths = 0;
  let failedStarts = 0;
  let restart: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    const started = new ThreadLink<Job>(spawn(), onLost);
    link = started;
    await started.call(open, { timeoutMs: openTimeoutMs }).catch((error: unknown) => {
      void started.end();
      toUnavailableError(error);
    });
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
    // If the start fails, `onLost` is called again.
    restart = setTimeout(() => void start().catch(() => {}), pause);
  }

  async function call(job: Job, transfer: readonly Transferable[] = []): Promise<unknown> {
    if (!link || !ready) throw new AuditUnavailableError("The audit store is not running.");
    return link.call(job, { timeoutMs, transfer }).catch(toUnavailableError);
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

/**
 * A worker that starts with its first job, because a thread that has nothing to do takes memory too. If the start fails,
 * the job fails, and the next one starts it again.
 */
export function startWithFirstJob<Job>(open: () => Promise<SupervisedWorker<Job>>): SupervisedWorker<Job> {
  let opening: Promise<SupervisedWorker<Job>> | undefined;
  let worker: SupervisedWorker<Job> | undefined;
  let isClosed = false;

  async function start(): Promise<SupervisedWorker<Job>> {
    try {
      return (worker = await open());
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }

  return {
    async call(job, transfer) {
      if (isClosed) throw new AuditUnavailableError("The audit store is not running.");
      return (await (opening ??= start())).call(job, transfer);
    },
    ready: () => worker?.ready() ?? true,
    lostWorkers: () => worker?.lostWorkers() ?? 0,
    async close(last) {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close(last);
    },
  };
}
