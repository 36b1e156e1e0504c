import { Worker, type ResourceLimits, type Transferable } from "node:worker_threads";
import { errorText } from "../settings/error-text.ts";

/** A message to a thread. */
export interface ThreadCall<Job> {
  readonly call: number;
  readonly job: Job;
}

/** The reply to a call: a value, or the text of an error. */
export interface ThreadReply {
  readonly call: number;
  readonly value?: unknown;
  readonly error?: string;
}

/**
 * Starts a thread.
 *
 * @param from The `import.meta.url` of the file that starts it
 * @param entry The file of the thread, relative to `from`, without its extension
 */
export function startThread(from: string, entry: string, resourceLimits: ResourceLimits): Worker {
  // After the build both files have the extension `.js`.
  const extension = from.endsWith(".ts") ? "ts" : "js";
  return new Worker(new URL(`${entry}.${extension}`, from), { resourceLimits });
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Options of a call. */
interface CallOptions {
  /** The time after which the thread is ended, because it may hang. */
  readonly timeoutMs: number;
  /** Buffers that are transferred to the thread without a copy. */
  readonly transfer?: readonly Transferable[];
}

/** Matches the replies of one thread (`serve-jobs.ts`) to the calls. When the thread ends, all open calls fail. */
export class ThreadLink<Job> {
  readonly #thread: Worker;
  readonly #onLost: () => void;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #lost: string | undefined;

  /** @param onLost Called once when the thread has ended, for any reason. */
  constructor(thread: Worker, onLost: () => void = () => {}) {
    this.#thread = thread;
    this.#onLost = onLost;
    thread.on("message", (reply: ThreadReply) => this.#settle(reply));
    thread.on("error", (error) => void this.end(errorText(error)));
    thread.on("exit", () => void this.end("its thread has ended"));
  }

  /** Runs a job. @throws {Error} with the error of the thread, or if the thread ends or takes too long */
  call(job: Job, { timeoutMs, transfer = [] }: CallOptions): Promise<unknown> {
    if (this.#lost !== undefined) return Promise.reject(new Error(this.#lost));
    this.#calls += 1;
    const call = this.#calls;
    try {
      this.#thread.postMessage({ call, job } satisfies ThreadCall<Job>, transfer);
    } catch (error) {
      // The job can't be copied, so the thread did not receive it and continues to work.
      return Promise.reject(error instanceof Error ? error : new Error(errorText(error)));
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => void this.end(`it did not respond within ${timeoutMs} ms`), timeoutMs);
    // The timer must not keep the program alive. The thread does, if configured.
    timer.unref();
    this.#pending.set(call, { resolve, reject, timer });
    return promise;
  }

  /** Ends the thread. @param reason the error of all open calls. @returns a promise that resolves when the thread has ended */
  async end(reason = "its thread was ended"): Promise<void> {
    if (this.#lost === undefined) {
      this.#lost = reason;
      for (const call of this.#pending.keys()) this.#settle({ call, error: reason });
      this.#onLost();
    }
    await this.#thread.terminate();
  }

  #settle({ call, value, error }: ThreadReply): void {
    const waiting = this.#pending.get(call);
    if (!waiting) return;
    this.#pending.delete(call);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.resolve(value);
    else waiting.reject(new Error(error));
  }
}
