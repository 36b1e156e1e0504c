import type { Worker } from "node:worker_threads";
import { AuditUnavailableError } from "../store.ts";

/** What travels to the worker, and what comes back. Call 0 is the start, which the worker reports by itself. */
export interface WorkerCall<Job> {
  readonly call: number;
  readonly job: Job;
}
export interface WorkerReply {
  readonly call: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** One worker thread as a function. */
export interface WorkerLink<Job> {
  /** Settles with the worker's start. */
  readonly opened: Promise<unknown>;
  /** @throws {AuditUnavailableError} with the worker's own words, or where it ends or is late. */
  readonly call: (job: Job) => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

export interface WorkerLinkOptions {
  readonly worker: Worker;
  /** Milliseconds for one call. A worker that is late is taken for lost: its thread may hang for good. */
  readonly timeoutMs: number;
  /** Milliseconds for the start. */
  readonly openTimeoutMs: number;
  /** Called once, whichever way the worker ends. */
  readonly onLost: () => void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Pairs the answers of one worker with the calls; none of them is left open when it ends. */
export function createWorkerLink<Job>(options: WorkerLinkOptions): WorkerLink<Job> {
  const { worker, timeoutMs, openTimeoutMs, onLost } = options;
  const pending = new Map<number, Pending>();
  let calls = 0;
  let lost: string | undefined;

  worker.on("message", settle);
  worker.on("error", (error) => lose(error instanceof Error ? error.message : String(error)));
  worker.on("exit", () => lose("its thread has ended"));
  const opened = expect(0, openTimeoutMs);

  function expect(call: number, ms = timeoutMs): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => lose(`it did not answer within ${ms} ms`), ms);
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

  function call(job: Job): Promise<unknown> {
    if (lost !== undefined)
      return Promise.reject(new AuditUnavailableError(`The audit store failed: ${lost}.`));
    calls += 1;
    const answer = expect(calls);
    worker.postMessage({ call: calls, job } satisfies WorkerCall<Job>, []);
    return answer;
  }

  return { opened, call, end: () => worker.terminate() };
}
