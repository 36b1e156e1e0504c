import { parentPort, type Transferable } from "node:worker_threads";
import { errorText } from "../settings/error-text.ts";
import type { ThreadCall, ThreadReply } from "./thread-link.ts";

/** How a thread processes its jobs. */
export interface ServeOptions<Job> {
  /** Describes the error of a job. Default: its message. */
  readonly describe?: (error: unknown) => string;
  /** Returns the buffers of a result that are transferred without a copy. */
  readonly transferOf?: (job: Job, value: unknown) => readonly Transferable[];
}

/** Processes the calls of a `ThreadLink`, one at a time. The entry file of the thread calls this function. */
export function serveJobs<Job>(
  work: (job: Job) => unknown,
  { describe = errorText, transferOf = () => [] }: ServeOptions<Job> = {},
): void {
  const port = parentPort;
  if (!port) throw new Error("This file runs as a thread only.");
  let last = Promise.resolve();

  async function answer({ call, job }: ThreadCall<Job>): Promise<void> {
    try {
      const value = await work(job);
      port?.postMessage({ call, value } satisfies ThreadReply, transferOf(job, value));
    } catch (error) {
      port?.postMessage({ call, error: describe(error) } satisfies ThreadReply);
    }
  }

  port.on("message", (given: ThreadCall<Job>) => {
    last = last.then(() => answer(given));
  });
}
