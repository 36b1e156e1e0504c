import { dayOf, LEAST_WORTH_ORDER, maxSummaryRows } from "../usage.ts";
import { readPage } from "../record-pages.ts";
import { cutoffOf, startPurge, type PurgeResult } from "../purge.ts";
import { readRecord as parseRecord } from "../read-record.ts";
import type { AuditRecord } from "../record.ts";
import type { AuditStore, StoreOptions } from "../store.ts";
import { AuditUnavailableError } from "../store.ts";
import { RecentBytes } from "../client-shares.ts";
import { createBatch } from "../segment.ts";
import type { StoredRow } from "../stored-row.ts";
import { GROUP_MS, createWriteQueue, MAX_QUEUED } from "../write-queue.ts";
import { connectDatabase, type Database } from "./database.ts";
import { countRecords, readRecordPage, readRecord, usageReader } from "./reader.ts";
import { makeSpace, ROW_BYTES } from "./size-limit.ts";
import { insertBatch } from "./writer.ts";

/** Key of `pg_try_advisory_xact_lock`: only one replica deletes at a time. */
const LOCK = 7_012_026_002;
/** Index rows that a step deletes because of their age. PostgreSQL only marks them. */
const PURGE_ROWS = 20_000;
const REMOVE = `
  DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE time < $1 ORDER BY time, seq LIMIT ${PURGE_ROWS})
`;
const SIZE = `SELECT coalesce(sum(bytes::bigint + records * ${ROW_BYTES}), 0)::float8 AS bytes FROM audit_segment`;
const UNCOUNT_LEAST = `
  DELETE FROM audit_usage WHERE (day, client, lane, route, status) IN (
    SELECT day, client, lane, route, status FROM audit_usage ORDER BY ${LEAST_WORTH_ORDER}
    LIMIT greatest(0, (SELECT count(*) FROM audit_usage) - $1::bigint)
  )
`;

/**
 * Deletes days that are too old. If no day is too old, deletes the least important segments while all records exceed the size
 * limit. The size is that of the records: PostgreSQL's own size includes deleted rows.
 *
 * @param before Milliseconds since the epoch. Days that ended before are deleted.
 * @param sizeLimit Bytes. The summaries don't count: they have a separate limit.
 */
function purgeStep(database: Database, before: number, sizeLimit: number): Promise<PurgeResult> {
  return database.transaction(async (client) => {
    const lock = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [
      LOCK,
    ]);
    if (!lock.rows[0]?.mine) return { evicted: 0, more: false };
    const day = Date.parse(dayOf(before));
    const old = (await client.query(REMOVE, [day])).rowCount ?? 0;
    if (old === PURGE_ROWS) return { evicted: 0, more: true };
    await client.query("DELETE FROM audit_segment WHERE time < $1", [day]);
    await client.query("DELETE FROM audit_usage WHERE day < $1", [dayOf(before)]);
    await client.query(UNCOUNT_LEAST, [maxSummaryRows(sizeLimit)]);
    const { rows } = await client.query<{ bytes: number }>(SIZE);
    const excess = (rows[0]?.bytes ?? 0) - sizeLimit;
    if (excess <= 0) return { evicted: 0, more: false };
    return makeSpace(client, excess);
  });
}

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
  const { durability, sizeLimit } = options;
  const database = connectDatabase(options.url);
  const recent = new RecentBytes();
  /** The buffer of the last batch. New memory for each batch would cost as much as filling it. */
  let spare: ArrayBuffer | undefined;

  function commit(rows: readonly StoredRow[]): Promise<number> {
    const batch = createBatch(rows, recent, spare);
    spare = batch.bytes.buffer;
    return insertBatch(database, batch);
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
    step: () => purgeStep(database, cutoffOf(options), sizeLimit),
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
    return text === undefined ? undefined : parseRecord(text);
  }

  const fault = (): string | undefined => (closing ? "The audit store is closed." : queue.fault());

  async function closeAll(): Promise<void> {
    purge.stop();
    clearInterval(probe);
    await queue.close();
    await database.close();
  }

  const { clients, usage, days } = usageReader(database);
  return {
    append: queue.push,
    texts: (query) => open(() => readRecordPage(database, query)),
    query: (query) => open(async () => readPage(await readRecordPage(database, query), options)),
    get: (id) => open(() => get(id)),
    count: (query) => open(() => countRecords(database, query)),
    clients: (query) => open(() => clients(query)),
    usage: (query) => open(() => usage(query)),
    days: (query) => open(() => days(query)),
    ready: () => fault() === undefined,
    fault,
    stats: () => ({ ...queue.stats(), evicted: purge.evicted() }),
    close: () => (closing ??= closeAll()),
  };
}
