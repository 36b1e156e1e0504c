/** The jobs of a store with its tables. */
import { errorText } from "../../../base/settings/error-text.ts";
import type { CallersReader } from "../../usage/callers.ts";
import type { TokenActivity } from "../../usage/usage.ts";
import type { UsageReader } from "../../usage/usage-reader.ts";
import type { DecisionReader } from "../decisions.ts";
import type { EraseRequest, EraseStep, Erasure } from "../erase.ts";
import type { PurgeLimits, PurgeResult } from "../purge.ts";
import { compressBatch, type Batch } from "../segment.ts";
import type { AuditQuery, TextPage } from "../store.ts";
import { RequestCounts } from "./count-rows.ts";
import type { Driver } from "./driver.ts";
import { eraseRecords, eraseSummaries, readErasures } from "./erase-client.ts";
import { Purge } from "./purge.ts";
import { readCallers } from "./read-callers.ts";
import { readClients } from "./read-clients.ts";
import { decisionReader } from "./read-decisions.ts";
import { countRecords, readActivity, readPage, readRecord } from "./read-records.ts";
import { readDays, readLosses, readRoutes, readSent, readSpans, readTokens } from "./read-usage.ts";
import { StoredAmounts } from "./stored-amounts.ts";
import { writeBatch } from "./write-records.ts";

/** The result of writing a batch. */
export interface WrittenBatch {
  /** Bytes of the compressed segments. */
  readonly storedBytes: number;
  /** The buffer of the batch, for reuse. */
  readonly buffer: ArrayBuffer;
  /** Why nothing is stored, if the values of a row are the reason. */
  readonly refused?: string;
}

/** The jobs of a store. Each has one argument at most, and runs in the thread or the pool of a driver. */
export interface StoreJobs extends UsageReader, CallersReader, DecisionReader {
  /** Stores a batch, or nothing of it. Without rows it only checks that the database works. */
  readonly write: (batch: Batch) => Promise<WrittenBatch>;
  /** Deletes some expired or excess data. */
  readonly purge: (limits: PurgeLimits) => Promise<PurgeResult>;
  /** Erases some records of a client. */
  readonly erase: (step: { readonly keys: readonly string[]; readonly from: number }) => Promise<EraseStep>;
  /** Erases the summaries of a client whose records are erased, and adds the entry about it. */
  readonly eraseSummaries: (step: {
    readonly request: EraseRequest;
    readonly records: number;
  }) => Promise<Erasure>;
  readonly page: (query: AuditQuery) => Promise<TextPage>;
  readonly get: (id: string) => Promise<string | undefined>;
  readonly count: (query: AuditQuery) => Promise<number>;
  readonly activity: (query: { readonly fingerprint: string }) => Promise<TokenActivity>;
  readonly erasures: () => Promise<readonly Erasure[]>;
  readonly close: () => Promise<void>;
}

/** Creates the jobs of a driver. */
export function createJobs(driver: Driver): StoreJobs {
  const amounts = new StoredAmounts();
  const counts = new RequestCounts(amounts);
  const purge = new Purge(amounts);
  return {
    async write(batch) {
      // Before the transaction: other processes can write meanwhile.
      const data = await compressBatch(batch);
      const { buffer } = batch.bytes;
      try {
        await driver.write((connection) => writeBatch(connection, batch, data, counts));
      } catch (error) {
        if (driver.isOfValues(error)) return { storedBytes: 0, buffer, refused: errorText(error) };
        throw error;
      }
      driver.check();
      const storedBytes = data.reduce((sum, { length }) => sum + length, 0);
      amounts.addRecords(
        storedBytes,
        batch.segments.reduce((sum, { rows }) => sum + rows.length, 0),
      );
      return { storedBytes, buffer };
    },
    purge: (limits) => driver.write((connection) => purge.step(connection, limits)),
    erase: ({ keys, from }) => driver.write((connection) => eraseRecords(connection, keys, from)),
    async eraseSummaries({ request, records }) {
      const erasure = await driver.write((connection) => eraseSummaries(connection, request, records));
      await driver.forget();
      return erasure;
    },
    page: (query) => driver.read((connection) => readPage(connection, query)),
    get: (id) => driver.read((connection) => readRecord(connection, id)),
    count: (query) => driver.read((connection) => countRecords(connection, query)),
    activity: ({ fingerprint }) => driver.read((connection) => readActivity(connection, fingerprint)),
    callers: (query) => driver.read((connection) => readCallers(connection, query)),
    clients: (query) => driver.read((connection) => readClients(connection, query)),
    tokens: (query) => readTokens(driver, query),
    sent: (query) => readSent(driver, query),
    losses: (query) => readLosses(driver, query),
    spans: (query) => readSpans(driver, query),
    usage: (query) => readRoutes(driver, query),
    days: (query) => readDays(driver, query),
    erasures: () => readErasures(driver),
    ...decisionReader(driver),
    close: () => driver.close(),
  };
}
