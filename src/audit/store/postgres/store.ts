import { limitsOf, startPurge } from "../purge.ts";
import { readPage, readRecord as parseRecord } from "../../record/read-record.ts";
import type { AuditRecord } from "../../record/record.ts";
import type { AuditStore, StoreOptions } from "../store.ts";
import { AuditUnavailableError } from "../store.ts";
import { RecentBytes } from "../client-shares.ts";
import { createBatch } from "../segment.ts";
import { NameLists } from "../../usage/name-lists.ts";
import type { StoredRow } from "../stored-row.ts";
import { GROUP_MS, createWriteQueue, MAX_QUEUED } from "../write-queue.ts";
import { connectDatabase, DECISION_LIMITS } from "./database.ts";
import { readCallers } from "./read-callers.ts";
import { decisionReader } from "./read-decisions.ts";
import { usageReader } from "./read-usage.ts";
import { countRecords, readRecordPage, readRecord } from "./reader.ts";
import { eraseClient, readErasures } from "./erase.ts";
import { purgeStep } from "./purge.ts";
import { insertBatch } from "./writer.ts";

/** Rarely, because each run sums up the sizes of all segments. */
const PURGE_EVERY_MS = 60_000;
/** Without traffic nothing else would notice that the server is down. */
const PROBE_MS = 2000;

/** Options of the PostgreSQL store. */
export interface PostgresStoreOptions extends StoreOptions {
  /** `postgres://user:password@host:5432/database` */
  readonly url: string;
}

/**
 * Opens the audit store that replicas share: PostgreSQL. While the server is down, `ready` is false and records wait in the
 * queue. The store reconnects automatically.
 */
export function openPostgresStore(options: PostgresStoreOptions): AuditStore {
  const { durability } = options;
  const database = connectDatabase(options.url);
  const decisionDatabase = connectDatabase(options.url, DECISION_LIMITS);
  const recent = new RecentBytes();
  /** The buffer of the last batch. New memory for each batch would cost as much as filling it. */
  let spare: ArrayBuffer | undefined;

  const lists = new NameLists("sent");
  const lossLists = new NameLists("lost");

  async function commit(rows: readonly StoredRow[]): Promise<number> {
    for (const row of rows) {
      lists.add(row);
      lossLists.add(row);
    }
    const names = lists.waiting();
    const lossNames = lossLists.waiting();
    const batch = createBatch(rows, recent, spare);
    spare = batch.bytes.buffer;
    const stored = await insertBatch(database, batch, { names, lossNames });
    lists.confirm(names);
    lossLists.confirm(lossNames);
    return stored;
  }

  const queue = createWriteQueue({
    commit,
    durability,
    groupMs: GROUP_MS,
    ...MAX_QUEUED,
    ...options.queue,
    onFault: options.onFault,
  });
  const probe = setInterval(queue.probe, PROBE_MS);
  queue.probe();
  const purge = startPurge({
    step: () => purgeStep(database, limitsOf(options)),
    onTooManyClients: options.onTooManyClients,
    everyMs: PURGE_EVERY_MS,
  });
  let closing: Promise<void> | undefined;

  /** Runs a read, unless the store is closed. */
  async function open<T>(read: () => Promise<T>): Promise<T> {
    if (closing) throw new AuditUnavailableError("The audit store is closed.");
    return read();
  }

  async function get(id: string): Promise<AuditRecord | undefined> {
    const text = await readRecord(database, id);
    return text === undefined ? undefined : parseRecord(id, text);
  }

  const fault = (): string | undefined => (closing ? "The audit store is closed." : queue.fault());

  async function closeAll(): Promise<void> {
    purge.stop();
    clearInterval(probe);
    await queue.close();
    await Promise.all([database.close(), decisionDatabase.close()]);
  }

  const { wasServed, callsOf, tokenPage } = decisionReader(decisionDatabase);
  const { clients, tokens, activity, sent, losses, spans, usage, days } = usageReader(database);
  return {
    append: queue.push,
    texts: (query) => open(() => readRecordPage(database, query)),
    query: (query) => open(async () => readPage(await readRecordPage(database, query), options)),
    get: (id) => open(() => get(id)),
    count: (query) => open(() => countRecords(database, query)),
    clients: (query) => open(() => clients(query)),
    tokens: (query) => open(() => tokens(query)),
    activity: (query) => open(() => activity(query)),
    sent: (query) => open(() => sent(query)),
    losses: (query) => open(() => losses(query)),
    spans: (query) => open(() => spans(query)),
    callers: (query) => open(() => readCallers(database, query)),
    usage: (query) => open(() => usage(query)),
    days: (query) => open(() => days(query)),
    erase: (request, onRecords) => open(() => eraseClient(database, request, onRecords)),
    erasures: () => open(() => readErasures(database)),
    decisions: {
      wasServed: (query) => open(() => wasServed(query)),
      callsOf: (query) => open(() => callsOf(query)),
      tokenPage: (query) => open(() => tokenPage(query)),
    },
    ready: () => fault() === undefined,
    fault,
    stats: () => ({
      ...queue.stats(),
      evicted: purge.evicted(),
      evictedClients: purge.evictedClients(),
    }),
    close: () => (closing ??= closeAll()),
  };
}
