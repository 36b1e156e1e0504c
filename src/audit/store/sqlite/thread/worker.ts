/**
 * The entry file of a thread with one connection to the database: SQLite is synchronous and would block the event loop.
 * The first job contains the file to open. If opening fails, the thread can't be used.
 */
import { serveJobs } from "../../../../base/threads/serve-jobs.ts";
import { createJobs, type StoreJobs } from "../../sql/jobs.ts";
import { describeSqliteError } from "../fault.ts";
import { openSqliteDriver } from "../driver.ts";
import { unpackBatch, type PackedBatch, type ThreadJob } from "./messages.ts";

let jobs: StoreJobs | undefined;

function run({ method, argument }: ThreadJob): unknown {
  if (method === "open") {
    jobs = createJobs(openSqliteDriver(argument));
    return undefined;
  }
  const job = jobs?.[method] as ((given: unknown) => Promise<unknown>) | undefined;
  return job?.(method === "write" ? unpackBatch(argument as PackedBatch) : argument);
}

serveJobs(run, {
  describe: describeSqliteError,
  transferOf: ({ method }, value) => (method === "write" ? [(value as { buffer: ArrayBuffer }).buffer] : []),
});
