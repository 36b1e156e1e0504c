import { parentPort } from "node:worker_threads";
import { describeSqliteError } from "../fault.ts";
import { openDecider } from "../read-decisions.ts";
import type { DecisionJob, ReaderJob, SqliteWorkerData, WriterJob } from "./worker-messages.ts";
import { openReader } from "../reader.ts";
import type { WorkerReply, WorkerCall } from "./worker-link.ts";
import { openWriter } from "../writer.ts";

/**
 * The entry of a worker thread with one connection to the database. SQLite is synchronous and would block the event loop. The
 * first message says which file to open. An error on opening ends the thread; an error in a job is the reply to that job.
 */
const port = parentPort;
if (!port) throw new Error("This file runs as a worker thread only.");

port.once("message", (data: SqliteWorkerData) => {
  const work = open(data);
  port.on("message", ({ call, job }: WorkerCall<Job>) => {
    const reply = replyTo(work, call, job);
    port.postMessage(
      reply,
      job.kind === "write" && reply.error === undefined ? [job.batch.bytes.buffer] : [],
    );
    if (job.kind === "close") port.close();
  });
  port.postMessage({ call: 0, value: undefined } satisfies WorkerReply);
});

type Job = WriterJob | ReaderJob | DecisionJob;
type Work = (job: never) => unknown;

function open(data: SqliteWorkerData): Work {
  try {
    if (data.role === "writer") return openWriter(data);
    return data.role === "reader" ? openReader(data.file) : openDecider(data.file);
  } catch (error) {
    throw new Error(describeSqliteError(error), { cause: error });
  }
}

function replyTo(work: Work, call: number, job: Job): WorkerReply {
  try {
    return { call, value: work(job as never) };
  } catch (error) {
    return { call, error: describeSqliteError(error) };
  }
}
