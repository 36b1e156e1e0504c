import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "./sqlite-database.ts";
import type { SqliteJob, SqliteWorkerData } from "./sqlite-messages.ts";
import type { Answer, Call } from "./worker-link.ts";

/**
 * The thread that owns the database: SQLite is synchronous, and must not block the thread that serves.
 * An error on opening ends the thread with that error; an error in a job is that job's answer.
 */
const port = parentPort;
if (!port) throw new Error("sqlite-worker runs as a worker thread only.");

const work = openDatabase(workerData as SqliteWorkerData);

port.on("message", ({ call, job }: Call<SqliteJob>) => {
  port.postMessage(answer(call, job));
  if (job.kind === "close") port.close();
});
port.postMessage({ call: 0, value: undefined } satisfies Answer);

function answer(call: number, job: SqliteJob): Answer {
  try {
    return { call, value: work(job) };
  } catch (error) {
    return { call, error: error instanceof Error ? error.message : String(error) };
  }
}
