/** The entry of a thread that traces one record. */
import { parentPort, workerData } from "node:worker_threads";
import { readRecord } from "../../audit/index.ts";
import { buildFiles } from "../../pack/index.ts";
import { catalogsOf } from "./catalog-rows.ts";
import type { TraceJob } from "./trace-in-thread.ts";
import { traceRecord } from "./trace-request.ts";

const { files, words, record, rows } = workerData as TraceJob;
const load = () => buildFiles(files, words);
const trace = await traceRecord(readRecord("", record), load, { entries: catalogsOf(rows) });
parentPort?.postMessage(trace, []);
