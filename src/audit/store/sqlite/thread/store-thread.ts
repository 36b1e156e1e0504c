import type { Transferable, Worker } from "node:worker_threads";
import { errorText, ThreadLink } from "../../../../base/index.ts";
import { AuditUnavailableError } from "../../store.ts";

const MAX_PAUSE_MS = 5000;

/** Options of a thread of a store. */
interface StoreThreadOptions<Job> {
  readonly spawn: () => Worker;
  /** The first job of each worker. */
  readonly open: Job;
  /** Time limit of one call in milliseconds. A worker that takes longer is replaced. */
  readonly timeoutMs: number;
  /** Time limit of the first job in milliseconds. */
  readonly openTimeoutMs: number;
  /** Milliseconds before a worker that has ended is replaced. Doubled after each failed start, up to 5 seconds. */
  readonly restartMs: number;
}

function toUnavailableError(error: unknown): never {
  throw new AuditUnavailableError(`The audit store failed: ${errorText(error)}.`, { cause: error });
}

/** A thread that starts with its first job, because it uses memory, and restarts after it has ended. */
export class StoreThread<Job> {
  readonly #options: StoreThreadOptions<Job>;
  #link: Promise<ThreadLink<Job>> | undefined;
  #wasOpen = false;
  #isReady = true;
  #isClosed = false;
  #lostWorkers = 0;
  #failedStarts = 0;
  /** The timer of the pause before a worker is replaced. */
  #restart: NodeJS.Timeout | undefined;

  constructor(options: StoreThreadOptions<Job>) {
    this.#options = options;
  }

  /** Whether the worker is not being replaced. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Number of workers that ended since the start. */
  get lostWorkers(): number {
    return this.#lostWorkers;
  }

  /**
   * Runs a job. `transfer`: buffers that are transferred to the worker without a copy.
   *
   * @throws {AuditUnavailableError} If the worker is replaced, does not start, exits, times out, or replies with an
   *   error.
   */
  async call(job: Job, transfer: readonly Transferable[] = []): Promise<unknown> {
    const link = await this.start();
    return link.call(job, { timeoutMs: this.#options.timeoutMs, transfer }).catch(toUnavailableError);
  }

  /**
   * Starts the worker if it does not run.
   *
   * @throws {AuditUnavailableError} if the start fails, or during the pause before the next attempt. After a
   *   failed first start, the next call tries again
   */
  async start(): Promise<ThreadLink<Job>> {
    if (this.#isClosed || this.#restart) throw new AuditUnavailableError("The audit store is not running.");
    return (this.#link ??= this.#open());
  }

  /** Runs a last job if the worker is up, and ends it. */
  async close(last: Job): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    const link = await this.#link?.catch(() => undefined);
    await link?.call(last, { timeoutMs: this.#options.timeoutMs }).catch(() => {});
    await link?.end();
  }

  async #open(): Promise<ThreadLink<Job>> {
    const { spawn, open, openTimeoutMs } = this.#options;
    const link = new ThreadLink<Job>(spawn(), () => this.#onLost());
    await link.call(open, { timeoutMs: openTimeoutMs }).catch((error: unknown) => {
      void link.end();
      toUnavailableError(error);
    });
    this.#wasOpen = true;
    this.#isReady = true;
    this.#failedStarts = 0;
    return link;
  }

  #onLost(): void {
    this.#link = undefined;
    if (!this.#wasOpen || this.#isClosed) return;
    this.#isReady = false;
    this.#lostWorkers += 1;
    const pause = Math.min(this.#options.restartMs * 2 ** this.#failedStarts, MAX_PAUSE_MS);
    this.#failedStarts += 1;
    this.#restart = setTimeout(() => {
      this.#restart = undefined;
      // If the start fails, `#onLost` is called again.
      void this.start().catch(() => {});
    }, pause);
  }
}
