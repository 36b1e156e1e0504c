import type { Transferable, Worker } from "node:worker_threads";
import { errorText, ThreadLink } from "../../../../base/index.ts";
import { AuditUnavailableError } from "../../store.ts";

/** Options of a thread of a store. */
interface StoreThreadOptions<Job> {
  readonly spawn: () => Worker;
  /** The first job of each worker. */
  readonly open: Job;
  /** Time limit of one call in milliseconds. A worker that takes longer is replaced. */
  readonly timeoutMs: number;
  /** Time limit of the first job in milliseconds. */
  readonly openTimeoutMs: number;
  /** Milliseconds before a worker that has ended is replaced, unless a call needs it earlier. */
  readonly restartMs: number;
}

function toUnavailableError(error: unknown): never {
  throw new AuditUnavailableError(`The audit store failed: ${errorText(error)}.`, { cause: error });
}

/** A thread that starts with its first job, because it takes memory, and starts again whenever it ends. */
export class StoreThread<Job> {
  readonly #options: StoreThreadOptions<Job>;
  #link: Promise<ThreadLink<Job>> | undefined;
  #wasOpen = false;
  #isReady = true;
  #isClosed = false;
  #lostWorkers = 0;
  #restart: NodeJS.Timeout | undefined;

  constructor(options: StoreThreadOptions<Job>) {
    this.#options = options;
  }

  /** False while a worker is replaced. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Number of workers that ended since the start. */
  get lostWorkers(): number {
    return this.#lostWorkers;
  }

  /**
   * Runs a job. `transfer`: buffers that the worker gets without a copy.
   *
   * @throws {AuditUnavailableError} If the worker does not start, exits, times out, or replies with an error.
   */
  async call(job: Job, transfer: readonly Transferable[] = []): Promise<unknown> {
    const link = await this.start();
    return link.call(job, { timeoutMs: this.#options.timeoutMs, transfer }).catch(toUnavailableError);
  }

  /** Starts the worker, if it does not run. @throws {AuditUnavailableError} If that fails. Calls try it again. */
  async start(): Promise<ThreadLink<Job>> {
    if (this.#isClosed) throw new AuditUnavailableError("The audit store is not running.");
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
    return link;
  }

  #onLost(): void {
    this.#link = undefined;
    if (!this.#wasOpen || this.#isClosed) return;
    this.#isReady = false;
    this.#lostWorkers += 1;
    // If the start fails, this is called again.
    this.#restart = setTimeout(() => void this.start().catch(() => {}), this.#options.restartMs);
  }
}
