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

/** The processes that serve requests. */
export interface WorkerPool {
  /** Calls each worker that accepts requests. @returns The results by worker number. */
  each<T>(call: (worker: RpcPeer<WorkerApi>) => Promise<T>): Promise<ReadonlyMap<number, T>>;
  /** The port that all of them share. */
  readonly port: number;
  /** Lets all workers drain, and resolves once all have exited. */
  drain(graceMs: number): Promise<void>;
}

/** A worker could not start. Its log says why. */
class WorkerStartError extends Error {
  override readonly name = "WorkerStartError";
  readonly code = "AG_WORKER_START_FAILED";
}

/**
 * Starts the workers, and restarts those that exit. The first one that listens has the port opened in the primary, for
 * all of them: it stays open as long as one of them lives.
 *
 * @throws {WorkerStartError} If a worker can't listen, or exits before it accepts requests. All have exited then.
 */
export async function startWorkerPool({
  size,
  environment,
  api,
  onExit,
}: WorkerPoolOptions): Promise<WorkerPool> {
  // All workers accept connections from one queue of the operating system. If the primary distributed them, those on
  // their way to a worker that is killed would get no response and would not be closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ serialization: "advanced" });
  const serving = new Map<Worker, RpcPeer<WorkerApi>>();
  /** All that live, each with a promise of its exit code or signal. */
  const alive = new Map<Worker, Promise<string>>();
  const draining = new AbortController();
  let earlyExits = 0;
  let port = 0;
  let reopenedPort: Readonly<Record<string, string>> = {};

  /** Resolves once the worker accepts requests. @throws {WorkerStartError} If it exits before. */
  async function start(): Promise<void> {
    // With the last worker the system closes the port: those that follow open the same one again, and no other.
    if (alive.size === 0 && port > 0) reopenedPort = { PORT: String(port) };
    const worker = cluster.fork({ ...environment, ...reopenedPort });
    const startedAt = performance.now();
    const listening = Promise.withResolvers<number>();
    const peer = createRpc<WorkerApi>(worker, {
      ...api,
      listening: listening.resolve,
      refused: (reason: string) => listening.reject(new WorkerStartError(reason)),
    });
    // After an error of the channel the worker exits.
    worker.on("error", () => {});
    const exit = once(worker, "exit").then(([code, signal]) => {
      alive.delete(worker);
      return String(signal ?? `exit code ${code}`);
    });
    alive.set(worker, exit);
    const failed = exit.then((how): never => {
      throw new WorkerStartError(`A worker exited before it accepted requests: ${how}.`);
    });
    port = await Promise.race([listening.promise, failed]);
    serving.set(worker, peer);
    void exit.then((how) => {
      serving.delete(worker);
      earlyExits = performance.now() - startedAt < EARLY_EXIT_MS ? earlyExits + 1 : 0;
      return restart(worker.id, how);
    });
  }

  async function restart(worker: number, how: string): Promise<void> {
    if (draining.signal.aborted) return;
    onExit(worker, how);
    const pause = Math.min(RESTART_MS * 2 ** earlyExits, MAX_RESTART_MS);
    await wait(pause, undefined, { signal: draining.signal }).catch(() => {});
    if (draining.signal.aborted) return;
    await start().catch((error: Error) => {
      earlyExits += 1;
      void restart(0, error.message);
    });
  }

  async function drain(graceMs: number): Promise<void> {
    draining.abort();
    for (const worker of alive.keys()) {
      const peer = serving.get(worker);
      if (peer) peer.call("drain").catch(() => {});
      else worker.process.kill("SIGKILL");
    }
    const deadline = setTimeout(() => {
      for (const worker of alive.keys()) worker.process.kill("SIGKILL");
    }, graceMs + CLOSE_MS);
    await Promise.all(alive.values());
    clearTimeout(deadline);
  }

  try {
    await Promise.all(Array.from({ length: size }, start));
  } catch (error) {
    await drain(0);
    throw error;
  }
  return {
    async each(call) {
      return new Map(
        await Promise.all([...serving].map(async ([{ id }, peer]) => [id, await call(peer)] as const)),
      );
    },
    get port() {
      return port;
    },
    drain,
  };
}
