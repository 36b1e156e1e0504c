/** Creates the store from the jobs of a database. */
import { readPage, readRecord } from "./read-record.ts";
import { CountedNames } from "../usage/counted-names.ts";
import { RecentBytes } from "./sender-bytes.ts";
import { startPurge } from "./purge.ts";
import { createBatch } from "./segment.ts";
import type { EraseStep } from "./sql/erase-client.ts";
import type { StoreJobs } from "./sql/jobs.ts";
import {
  AuditUnavailableError,
  type AuditStore,
  type EraseRequest,
  type Erasure,
  type StoreOptions,
} from "./store.ts";
import { RefusedRowsError, WriteQueue, type WriteQueueOptions } from "./write-queue.ts";

/** The jobs of a database, grouped so that urgent ones do not wait for slow ones. */
interface StoreParts {
  readonly writer: StoreJobs;
  readonly reader: StoreJobs;
  /** Jobs for decisions about requests. */
  readonly decider: StoreJobs;
  /** Returns the reason why the database can't be used. Undefined if it can. */
  readonly fault: () => string | undefined;
  /** Returns the number of restarts of its parts. */
  readonly restarts: () => number;
  readonly close: () => Promise<void>;
}

/** Intervals of the store's checks in milliseconds. */
interface StoreTimes {
  /** Interval of probes. Without traffic, a failure to write would otherwise not be detected. */
  readonly probeMs: number;
  readonly purgeMs: number;
}

/** Returns the function that commits groups of rows. */
function committer({ write }: Pick<StoreJobs, "write">): WriteQueueOptions["commit"] {
  const recent = new RecentBytes();
  const names = new CountedNames();
  /** The buffer of the last batch, for reuse. Allocating memory for each batch would cost as much as filling it. */
  let spare: ArrayBuffer | undefined;

  return async function commit(rows) {
    const batch = { ...createBatch(rows, recent, spare), counted: names.of(rows) };
    spare = undefined;
    try {
      const { storedBytes, buffer, refused } = await write(batch);
      spare = buffer;
      if (refused !== undefined) throw new RefusedRowsError(refused);
      return storedBytes;
    } catch (error) {
      names.forget();
      throw error;
    }
  };
}

/**
 * Erases records in steps, then their summaries, and then the remains of both in the files.
 *
 * @param onRecords Called with the number of records so far
 */
async function erase(
  writer: StoreJobs,
  request: EraseRequest,
  onRecords?: (done: number) => void,
): Promise<Erasure> {
  let records = 0;
  for (let from: number | undefined = 0; from !== undefined;) {
    const step: EraseStep = await writer.erase({ keys: request.keys, from });
    records += step.records;
    from = step.next;
    onRecords?.(records);
  }
  const erasure = await writer.eraseSummaries({ request, records });
  for (let step = 0; await writer.forget(step);) step += 1;
  return erasure;
}

/** Creates a store: a queue in front of its writer, regular deletion, and its readers. */
export function createStore(
  { writer, reader, decider, ...database }: StoreParts,
  options: StoreOptions,
  { probeMs, purgeMs }: StoreTimes,
): AuditStore {
  const { durability, onFault, onRecovery, onRefused } = options;
  const queue = new WriteQueue({
    ...options.queue,
    commit: committer(writer),
    durability,
    onFault,
    onRecovery,
    onRefused,
  });
  const purge = startPurge(writer, options, purgeMs);
  const probe = setInterval(() => queue.probe(), probeMs).unref();
  queue.probe();
  let closing: Promise<void> | undefined;

  /** Rejects reads after the store is closed. */
  const open =
    <Query, Result>(read: (query: Query) => Promise<Result>) =>
    async (query: Query): Promise<Result> => {
      if (closing) throw new AuditUnavailableError("The audit store is closed.");
      return read(query);
    };

  const fault = (): string | undefined =>
    closing ? "The audit store is closed." : (database.fault() ?? queue.fault());

  async function closeAll(): Promise<void> {
    purge.stop();
    clearInterval(probe);
    await queue.close();
    await database.close();
  }

  return {
    append: (record) => queue.push(record),
    texts: open(reader.page),
    query: open(async (query) => readPage(await reader.page(query), options)),
    get: open(async (id: string) => {
      const text = await reader.get(id);
      return text === undefined ? undefined : readRecord(id, text);
    }),
    count: open(reader.count),
    clients: open(reader.clients),
    tokens: open(reader.tokens),
    activity: open(reader.activity),
    sent: open(reader.sent),
    losses: open(reader.losses),
    spans: open(reader.spans),
    callers: open(reader.callers),
    usage: open(reader.usage),
    days: open(reader.days),
    erase: async (request, onRecords) => open(() => erase(writer, request, onRecords))(undefined),
    erasures: () => open(reader.erasures)(undefined),
    decisions: {
      wasServed: open(decider.wasServed),
      callsOf: open(decider.callsOf),
      tokenPage: open(decider.tokenPage),
    },
    ready: () => fault() === undefined,
    fault,
    stats: () => ({
      ...queue.stats(),
      ...purge.counts,
      errors: queue.stats().errors + database.restarts(),
    }),
    close: () => (closing ??= closeAll()),
  };
}
