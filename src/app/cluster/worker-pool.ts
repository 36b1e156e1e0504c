import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { PrimaryApi, WorkerApi } from "./rpc-api.ts";
import { createRpc, type RpcPeer } from "./ipc-rpc.ts";

/** Pause before a worker is restarted. It doubles with each worker in a row that exited early. */
const RESTART_MS = 100;
const MAX_RESTART_MS = 5000;
const EARLY_EXIT_MS = 10_000;

/** Time in addition to the grace time of requests, for a worker to commit the audit and close its stores. */
const CLOSE_MS = 3000;

export interface WorkerPoolOptions {
  readonly size: number;
  /** Variables in addition to the primary's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly api: Omit<PrimaryApi, "listening" | "refused">;
  /** Called for each worker that exits unexpectedly, with its exit code or signal. */
  readonly onExit: (worker: number, how: string) => void;
}

/** A worker could not start. Its log says why. */
class WorkerStartError extends Error {
  override readonly name = "WorkerStartError";
  readonly code = "AG_WORKER_START_FAILED";
}

/** The processes that serve requests. Those that exit are restarted. */
export class WorkerPool {
  /** The port that all workers share. */
  port = 0;
  readonly #options: WorkerPoolOptions;
  readonly #serving = new Map<Worker, RpcPeer<WorkerApi>>();
  /** All that live, each with a promise of its exit code or signal. */
  readonly #alive = new Map<Worker, Promise<string>>();
  readonly #draining = new AbortController();
  #earlyExits = 0;
  #reopenedPort: Readonly<Record<string, string>> = {};

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** Resolves once all workers accept requests. @throws As {@link startWorkerPool} */
  async start(): Promise<void> {
    // All workers accept connections from one queue of the operating system. If the primary distributed them, those on
    // their way to a worker that is killed would get no response and would not be closed.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: "advanced" });
    try {
      await Promise.all(Array.from({ length: this.#options.size }, () => this.#startWorker()));
    } catch (error) {
      await this.drain(0);
      throw error;
    }
  }

  /** Calls each worker that accepts requests. @returns The results by worker number. */
  async each<T>(call: (worker: RpcPeer<WorkerApi>) => Promise<T>): Promise<ReadonlyMap<number, T>> {
    return new Map(
      await Promise.all([...this.#serving].map(async ([{ id }, peer]) => [id, await call(peer)] as const)),
    );
  }

  /** Lets all workers drain, and resolves once all have exited. */
  async drain(graceMs: number): Promise<void> {
    this.#draining.abort();
    for (const worker of this.#alive.keys()) {
      const peer = this.#serving.get(worker);
      if (peer) peer.call("drain").catch(() => {});
      else worker.process.kill("SIGKILL");
    }
    const deadline = setTimeout(() => {
      for (const worker of this.#alive.keys()) worker.process.kill("SIGKILL");
    }, graceMs + CLOSE_MS);
    await Promise.all(this.#alive.values());
    clearTimeout(deadline);
  }

  /** Resolves once the worker accepts requests. @throws {WorkerStartError} If it exits before. */
  async #startWorker(): Promise<void> {
    // With the last worker the system closes the port: those that follow open the same one again, and no other.
    if (this.#alive.size === 0 && this.port > 0) this.#reopenedPort = { PORT: String(this.port) };
    const worker = cluster.fork({ ...this.#options.environment, ...this.#reopenedPort });
    const startedAt = performance.now();
    const listening = Promise.withResolvers<number>();
    const peer = createRpc<WorkerApi>(worker, {
      ...this.#options.api,
      listening: listening.resolve,
      refused: (reason: string) => listening.reject(new WorkerStartError(reason)),
    });
    // After an error of the channel the worker exits.
    worker.on("error", () => {});
    const exit = once(worker, "exit").then(([code, signal]) => {
      this.#alive.delete(worker);
      return String(signal ?? `exit code ${code}`);
    });
    this.#alive.set(worker, exit);
    const failed = exit.then((how): never => {
      throw new WorkerStartError(`A worker exited before it accepted requests: ${how}.`);
    });
    this.port = await Promise.race([listening.promise, failed]);
    this.#serving.set(worker, peer);
    void exit.then((how) => {
      this.#serving.delete(worker);
      this.#earlyExits = performance.now() - startedAt < EARLY_EXIT_MS ? this.#earlyExits + 1 : 0;
      return this.#restart(worker.id, how);
    });
  }

  async #restart(worker: number, how: string): Promise<void> {
    const { signal } = this.#draining;
    if (signal.aborted) return;
    this.#options.onExit(worker, how);
    const pause = Math.min(RESTART_MS * 2 ** this.#earlyExits, MAX_RESTART_MS);
    await wait(pause, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await this.#startWorker().catch((error: Error) => {
      this.#earlyExits += 1;
      void this.#restart(0, error.message);
    });
  }
}

/**
 * Starts the workers. The first one that listens has the port opened in the primary, for all of them: it stays open as
 * long as one of them lives.
 *
 * @throws {WorkerStartError} If a worker can't listen, or exits before it accepts requests. All have exited then.
 */
export async function startWorkerPool(options: WorkerPoolOptions): Promise<WorkerPool> {
  const workers = new WorkerPool(options);
  await workers.start();
  return workers;
}
