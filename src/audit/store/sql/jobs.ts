/** The jobs of a store with its tables. */
import { errorText } from "../../../base/settings/error-text.ts";
import type { SpanQuery } from "../../usage/usage-reader.ts";
import type { CallersQuery } from "../../usage/callers.ts";
import type { LossQuery } from "../../usage/loss-usage.ts";
import type { TokenPage, TokenQuery, UsageQuery } from "../../usage/usage.ts";
import type { CallsQuery, PastQuery } from "../decisions.ts";
import { compressBatch, type Batch } from "../segment.ts";
import type { AuditQuery, EraseRequest, StoreLimits } from "../store.ts";
import { SummaryCuts } from "./cut/cut-summaries.ts";
import type { Driver } from "./driver.ts";
import { eraseRecords, eraseSummaries, readErasures } from "./erase-client.ts";
import { makeRoom, recordBytes, ROW_BYTES } from "./make-room.ts";
import { readCallers } from "./read-callers.ts";
import { readClients } from "./read-clients.ts";
import { callsOf, wasServed } from "./read-decisions.ts";
import { countRecords, readActivity, readPage, readRecord } from "./read-records.ts";
import {
  readDays,
  readLosses,
  readRoutes,
  readSent,
  readSpans,
  readTokenPage,
  readTokens,
} from "./read-usage.ts";
import { writeBatch } from "./write-records.ts";

/** The result of a written batch. */
interface WrittenBatch {
  /** Size of the compressed segments in bytes. */
  readonly storedBytes: number;
  /** The buffer of the batch, for reuse. */
  readonly buffer: ArrayBuffer;
  /** The reason why nothing is stored, if it is caused by the values of a row. */
  readonly refused?: string;
}

/** The jobs of a store. Each has at most one argument, and runs in the thread or the pool of a driver. */
export type StoreJobs = ReturnType<typeof createJobs>;

/** Creates the jobs of a driver. */
export function createJobs(driver: Driver) {
  const { read, write } = driver;
  const bytes = recordBytes();
  const cuts = new SummaryCuts(driver);
  return {
    /** Stores all of a batch, or nothing. If it contains no rows, this only checks that the database works. */
    async write(batch: Batch): Promise<WrittenBatch> {
      // This is done before the transaction, so that other processes can write in the meantime.
      const data = await compressBatch(batch);
      const { buffer } = batch.bytes;
      try {
        await write((connection) => writeBatch(cuts.counting(connection), batch, data));
      } catch (error) {
        if (driver.isOfValues(error)) return { storedBytes: 0, buffer, refused: errorText(error) };
        throw error;
      }
      const storedBytes = data.reduce((sum, { length }) => sum + length, 0);
      bytes.add(storedBytes + batch.segments.reduce((sum, { rows }) => sum + rows.length, 0) * ROW_BYTES);
      driver.check();
      return { storedBytes, buffer };
    },
    /** Deletes some records that are too old or too many. */
    makeRoom: (limits: StoreLimits) => write((connection) => makeRoom(connection, limits, bytes)),
    /** Deletes some summaries that are too old or too many. */
    cutSummaries: (limits: StoreLimits) => cuts.step(limits),
    /** Erases some records of a client. */
    erase: ({ keys, from }: { readonly keys: readonly string[]; readonly from: number }) =>
      write((connection) => eraseRecords(connection, keys, from)),
    /** Erases the summaries of a client whose records are erased, and adds the entry about it. */
    eraseSummaries: ({ request, records }: { readonly request: EraseRequest; readonly records: number }) =>
      write((connection) => eraseSummaries(connection, request, records)),
    /** Removes some deleted data from the files. @returns whether there is a further step */
    forget: (step: number) => driver.forget(step),
    page: (query: AuditQuery) => read((connection) => readPage(connection, query)),
    get: (id: string) => read((connection) => readRecord(connection, id)),
    count: (query: AuditQuery) => read((connection) => countRecords(connection, query)),
    activity: ({ fingerprint }: { readonly fingerprint: string }) =>
      read((connection) => readActivity(connection, fingerprint)),
    callers: (query: CallersQuery) => read((connection) => readCallers(connection, query)),
    clients: (query: UsageQuery) => read((connection) => readClients(connection, query)),
    tokens: (query: TokenQuery) => readTokens(driver, query),
    sent: (query: UsageQuery) => readSent(driver, query),
    losses: (query: LossQuery) => readLosses(driver, query),
    spans: (query: SpanQuery) => readSpans(driver, query),
    usage: (query: UsageQuery) => readRoutes(driver, query),
    days: (query: UsageQuery) => readDays(driver, query),
    erasures: () => readErasures(driver),
    wasServed: (query: PastQuery) => wasServed(driver, query),
    callsOf: (query: CallsQuery) => callsOf(driver, query),
    tokenPage: (page: TokenPage) => readTokenPage(driver, page),
    close: () => driver.close(),
  };
}
