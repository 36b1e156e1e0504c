import type { Transferable, Worker } from "node:worker_threads";
import { errorText } from "../../../../base/index.ts";
import { AuditUnavailableError } from "../../store.ts";

/** A message to the worker. */
export interface WorkerCall<Job> {
  readonly call: number;
  readonly job: Job;
}
/** A message from the worker. Call 0 is the start, which the worker reports without a call. */
export interface WorkerReply {
  readonly call: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** One worker thread as a function. */
export interface WorkerLink<Job> {
  /** Settles when the worker has started, or failed to. */
  readonly opened: Promise<unknown>;
  /** Runs a job. @throws {AuditUnavailableError} With the error of the worker, or if it exits or times out. */
  readonly call: (job: Job, transfer?: readonly Transferable[]) => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

/** Options of a worker link. */
export interface WorkerLinkOptions {
  readonly worker: Worker;
  /** Time limit of one call in milliseconds. A worker that exceeds it is terminated: its thread may hang permanently. */
  readonly timeoutMs: number;
  /** Time limit of the start in milliseconds. */
  readonly openTimeoutMs: number;
  /** Called once when the worker exits or is terminated. */
  readonly onLost: () => void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Matches the replies of one worker to the calls. When the worker exits, all pending calls are rejected. */
export function createWorkerLink<Job>(options: WorkerLinkOptions): WorkerLink<Job> {
  const { worker, timeoutMs, openTimeoutMs, onLost } = options;
  const pending = new Map<number, Pending>();
  let calls = 0;
  let lost: string | undefined;

  worker.on("message", settle);
  worker.on("error", (error) => lose(errorText(error)));
  worker.on("exit", () => lose("its thread has ended"));
  const opened = expect(0, openTimeoutMs);

  function expect(call: number, ms = timeoutMs): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => lose(`it did not respond within ${ms} ms`), ms);
      pending.set(call, { resolve, reject, timer });
    });
  }

  function settle({ call, value, error }: WorkerReply): void {
    const waiting = pending.get(call);
    if (!waiting) return;
    pending.delete(call);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.resolve(value);
    else waiting.reject(new AuditUnavailableError(`The audit store failed: ${error}.`));
  }

  function lose(reason: string): void {
    if (lost !== undefined) return;
    lost = reason;
    for (const call of pending.keys()) settle({ call, error: reason });
    void worker.terminate();
    onLost();
  }

  function call(job: Job, transfer: readonly Transferable[] = []): Promise<unknown> {
    if (lost !== undefined)
      return Promise.reject(new AuditUnavailableError(`The audit store failed: ${lost}.`));
    calls += 1;
    const reply = expect(calls);
    worker.postMessage({ call: calls, job } satisfies WorkerCall<Job>, transfer);
    return reply;
  }

  return { opened, call, end: () => worker.terminate() };
}
