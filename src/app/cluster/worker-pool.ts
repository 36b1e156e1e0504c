import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { PrimaryApi, WorkerApi } from "./rpc-api.ts";
import { createRpc, type RpcPeer } from "./ipc-rpc.ts";

/** Pause before a worker is begun again: doubles with each that ended young. */
const RESTART_MS = 100;
const LONGEST_RESTART_MS = 5000;
const YOUNG_MS = 10_000;

/** Beyond the grace of the requests: for the audit, and whatever else a worker puts away. */
const LAST_MS = 3000;

export interface WorkerPoolOptions {
  readonly size: number;
  /** Variables of their environment besides the primary's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly api: Omit<PrimaryApi, "listening" | "refused">;
  /** Hears of each that ended and was not asked to. */
  readonly onExit: (worker: number, how: string) => void;
}

/** The processes that serve requests. */
export interface WorkerPool {
  /** Asks each that takes requests; the answers by a number of the worker. */
  each<T>(question: (worker: RpcPeer<WorkerApi>) => Promise<T>): Promise<ReadonlyMap<number, T>>;
  /** The port that all of them share. */
  readonly port: number;
  /** Lets all end, and resolves when none is left. */
  drain(graceMs: number): Promise<void>;
}

/** A worker could not begin. What it printed tells why. */
export class WorkerStartError extends Error {
  override readonly name = "WorkerStartError";
  readonly code = "AG_WORKER_START_FAILED";
}

/**
 * Begins the workers, and begins those again that end. The first that listens has the system's port opened here, for
 * all of them: it stays open as long as one of them lives.
 *
 * @throws {WorkerStartError} where one can't listen, or ends before it takes requests; none is left then.
 */
export async function startWorkerPool({
  size,
  environment,
  api: duties,
  onExit: onDeath,
}: WorkerPoolOptions): Promise<WorkerPool> {
  // All take connections out of one queue of the system. Handed out by the primary, those that were on the way to a
  // worker that is killed would never be answered, and never be broken off.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ serialization: "advanced" });
  const serving = new Map<Worker, RpcPeer<WorkerApi>>();
  /** All that live, with how each of them will have ended. */
  const alive = new Map<Worker, Promise<string>>();
  const end = new AbortController();
  let youngDeaths = 0;
  let port = 0;
  let reopened: Readonly<Record<string, string>> = {};

  /** Resolves once it takes requests. @throws {WorkerStartError} where it ends before. */
  async function begin(): Promise<void> {
    // With the last worker the system closes the port: those that follow open the same one again, and no other.
    if (alive.size === 0 && port > 0) reopened = { PORT: String(port) };
    const worker = cluster.fork({ ...environment, ...reopened });
    const born = performance.now();
    const listening = Promise.withResolvers<number>();
    const line = createRpc<WorkerApi>(worker, {
      ...duties,
      listening: listening.resolve,
      refused: (reason: string) => listening.reject(new WorkerStartError(reason)),
    });
    // An error of the channel is followed by the end of the worker.
    worker.on("error", () => {});
    const death = once(worker, "exit").then(([code, signal]) => {
      alive.delete(worker);
      return String(signal ?? `exit code ${code}`);
    });
    alive.set(worker, death);
    const failed = death.then((how): never => {
      throw new WorkerStartError(`A worker ended before it took requests: ${how}.`);
    });
    port = await Promise.race([listening.promise, failed]);
    serving.set(worker, line);
    void death.then((how) => {
      serving.delete(worker);
      youngDeaths = performance.now() - born < YOUNG_MS ? youngDeaths + 1 : 0;
      return again(worker.id, how);
    });
  }

  async function again(worker: number, how: string): Promise<void> {
    if (end.signal.aborted) return;
    onDeath(worker, how);
    const pause = Math.min(RESTART_MS * 2 ** youngDeaths, LONGEST_RESTART_MS);
    await wait(pause, undefined, { signal: end.signal }).catch(() => {});
    if (end.signal.aborted) return;
    await begin().catch((error: Error) => {
      youngDeaths += 1;
      void again(0, error.message);
    });
  }

  async function drain(graceMs: number): Promise<void> {
    end.abort();
    for (const worker of alive.keys()) {
      const line = serving.get(worker);
      if (line) line.call("drain").catch(() => {});
      else worker.process.kill("SIGKILL");
    }
    const deadline = setTimeout(() => {
      for (const worker of alive.keys()) worker.process.kill("SIGKILL");
    }, graceMs + LAST_MS);
    await Promise.all(alive.values());
    clearTimeout(deadline);
  }

  try {
    await Promise.all(Array.from({ length: size }, begin));
  } catch (error) {
    await drain(0);
    throw error;
  }
  return {
    async each(question) {
      return new Map(
        await Promise.all([...serving].map(async ([{ id }, line]) => [id, await question(line)] as const)),
      );
    },
    get port() {
      return port;
    },
    drain,
  };
}
