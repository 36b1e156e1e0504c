/** The entry of a thread that traces one record. */
import { parentPort, workerData } from "node:worker_threads";
import { readRecord } from "../../audit/read-record.ts";
import { buildFiles } from "../../mapping/load/checked-pack.ts";
import type { TraceJob } from "./trace-in-thread.ts";
import { traceRecord } from "./trace-request.ts";

const { files, words, record } = workerData as TraceJob;
// Catalogs are not recorded, and their upstream objects are not kept.
parentPort?.postMessage(await traceRecord(readRecord("", record), () => buildFiles(files, words), {}), []);
