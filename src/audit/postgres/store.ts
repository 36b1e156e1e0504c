import { dayOf, LEAST_WORTH_ORDER, maxSummaryRows } from "../usage.ts";
import { WORTH } from "../stored-row.ts";
import type { PoolClient } from "pg";
import { parsePage } from "../paging.ts";
import { cutoffOf, startPurge, type PurgeResult } from "../purge.ts";
import type { AuditRecord } from "../record.ts";
import type { AuditStore, StoreOptions } from "../store.ts";
import { AuditUnavailableError } from "../store.ts";
import { GROUP_MS, createWriteQueue, MAX_QUEUED } from "../write-queue.ts";
import { connectDatabase, type Database } from "./database.ts";
import { countRecords, readPage, usageReader } from "./read.ts";
import { writeRows } from "./write.ts";

/** Key of `pg_try_advisory_xact_lock`: only one replica deletes at a time. */
const LOCK = 7_012_026_002;
const PURGE_ROWS = 1000;
/** Approximate size of a row and its indexes without the record. */
const ROW_BYTES = 600;

const REMOVE = `
  DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE time < $1 ORDER BY time, seq LIMIT ${PURGE_ROWS})
`;
/** Deletes the first records of an order until so many bytes are free. */
const removeFirst = (which: string, order: string): string => `
  WITH removed AS (
    DELETE FROM audit WHERE seq IN (
      SELECT seq FROM (
        SELECT seq, sum(size + ${ROW_BYTES}) OVER (ORDER BY ${order}) - size - ${ROW_BYTES} AS freed
        FROM (SELECT seq, worth, time, size FROM audit ${which} ORDER BY ${order} LIMIT $2::int) AS first
      ) AS summed WHERE freed < $1
    ) RETURNING size
  )
  SELECT count(*)::int AS rows, coalesce(sum(size::bigint + ${ROW_BYTES}), 0)::float8 AS bytes FROM removed
`;
/** Records of unaccepted tokens first, by priority, then the oldest. */
const REMOVE_LEAST = [
  removeFirst(`WHERE worth < ${WORTH.accepted}`, "worth, time, seq"),
  removeFirst("", "time, seq"),
];
const SIZE = `SELECT (coalesce(sum(size::bigint + ${ROW_BYTES}), 0))::float8 AS bytes FROM audit`;
const UNCOUNT_LEAST = `
  DELETE FROM audit_usage WHERE (day, client, lane, route, status) IN (
    SELECT day, client, lane, route, status FROM audit_usage ORDER BY ${LEAST_WORTH_ORDER}
    LIMIT greatest(0, (SELECT count(*) FROM audit_usage) - $1::bigint)
  )
`;

/**
 * Deletes a batch of records that are too old. If there are none, deletes the least important records while all records exceed
 * the size limit. The size is that of the records: PostgreSQL's own size includes deleted rows.
 *
 * @param before Milliseconds since the epoch.
 * @param sizeLimit Bytes. The summaries don't count: they have a separate limit.
 */
function purgeStep(database: Database, before: number, sizeLimit: number): Promise<PurgeResult> {
  return database.transaction(async (client) => {
    const lock = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [
      LOCK,
    ]);
    if (!lock.rows[0]?.mine) return { deleted: 0, evicted: 0 };
    const old = (await client.query(REMOVE, [before])).rowCount ?? 0;
    if (old === PURGE_ROWS) return { deleted: old, evicted: 0 };
    await client.query("DELETE FROM audit_usage WHERE day < $1", [dayOf(before)]);
    await client.query(UNCOUNT_LEAST, [maxSummaryRows(sizeLimit)]);
    const { rows } = await client.query<{ bytes: number }>(SIZE);
    const excess = (rows[0]?.bytes ?? 0) - sizeLimit;
    const evicted = await removeLeast(client, excess);
    return { deleted: evicted, evicted };
  });
}

async function removeLeast(client: PoolClient, bytes: number): Promise<number> {
  let removed = 0;
  let freed = 0;
  for (const statement of REMOVE_LEAST) {
    if (freed >= bytes || removed === PURGE_ROWS) break;
    const given = [bytes - freed, PURGE_ROWS - removed];
    const { rows } = await client.query<{ rows: number; bytes: number }>(statement, given);
    removed += rows[0]?.rows ?? 0;
    freed += rows[0]?.bytes ?? 0;
  }
  return removed;
}

/** Rarely, because each run sums up the sizes of all records. */
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
  const queue = createWriteQueue({
    commit: (rows) => writeRows(database, rows),
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
    full: PURGE_ROWS,
    everyMs: PURGE_EVERY_MS,
  });
  let closing: Promise<void> | undefined;

  /** Runs a read, unless the store is closed. */
  async function open<T>(read: () => Promise<T>): Promise<T> {
    if (closing) throw new AuditUnavailableError("The audit store is closed.");
    return read();
  }

  async function get(id: string): Promise<AuditRecord | undefined> {
    const rows = await database.query<{ record: string }>("SELECT record::text FROM audit WHERE id = $1", [
      id.replaceAll("\u0000", ""),
    ]);
    return rows[0] && (JSON.parse(rows[0].record) as AuditRecord);
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
    texts: (query) => open(() => readPage(database, query)),
    query: (query) => open(async () => parsePage(await readPage(database, query))),
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
