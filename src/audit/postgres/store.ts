import { parsePage } from "../page.ts";
import { cutoffOf, startPurge } from "../purge.ts";
import type { AuditRecord } from "../record.ts";
import type { AuditStore, StoreOptions } from "../store.ts";
import { AuditUnavailable } from "../store.ts";
import { GROUP_MS, createWriteQueue, MAX_QUEUED } from "../write-queue.ts";
import { connectDatabase } from "./database.ts";
import { PURGE_ROWS, purgeStep } from "./purge.ts";
import { countRecords, readPage, usageReader } from "./read.ts";
import { writeRows } from "./write.ts";

/** The size of all records is summed up each time. */
const PURGE_EVERY_MS = 60_000;
/** Without traffic nobody else would notice that the server is away. */
const PROBE_MS = 2000;

export interface PostgresStoreOptions extends StoreOptions {
  /** `postgres://user:password@host:5432/database` */
  readonly url: string;
}

/**
 * Opens the audit store that replicas share: PostgreSQL. A server that is away, now or later, is a fault that
 * `ready` tells of and that ends by itself; meanwhile records wait in the queue.
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

  /** A closed store answers nothing, whatever the driver would say. */
  async function open<T>(read: () => Promise<T>): Promise<T> {
    if (closing) throw new AuditUnavailable("The audit store is closed.");
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
