/** The entry file of a thread that traces one record. */
import { readRecord } from "../../audit/index.ts";
import { serveJobs } from "../../base/index.ts";
import { buildFiles } from "../../pack/index.ts";
import { catalogsOf } from "./catalog-rows.ts";
import type { TraceJob } from "./trace-in-thread.ts";
import { traceRecord } from "./trace-request.ts";

serveJobs(({ files, words, record, rows }: TraceJob) =>
  traceRecord(readRecord("", record), () => buildFiles(files, words), { entries: catalogsOf(rows) }),
);
