import { DatabaseSync } from "node:sqlite";
import type { PurgeResult } from "../purge.ts";
import { WORTH, type StoredRow } from "../stored-row.ts";
import {
  acceptedClients,
  aggregateUsage,
  dayOf,
  LEAST_WORTH_ORDER,
  maxSummaryRows,
  subtractFromUnaccepted,
  UNACCEPTED,
  usageAgent,
  worthOf,
  type UsageRow,
} from "../usage.ts";
import type { PurgeJob, SqliteWorkerData, WriterJob } from "./worker-messages.ts";
import { unpackRows, type PackedRows } from "./packed-rows.ts";
import { prepareSchema } from "./schema.ts";

const COUNT = `
  INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET
    requests = requests + excluded.requests,
    lossy = lossy + excluded.lossy,
    first = min(first, excluded.first),
    last = max(last, excluded.last),
    sample = iif(excluded.last >= last, excluded.sample, sample),
    agent = iif(excluded.last >= last, excluded.agent, agent)
`;

/** Maximum number of earlier records that one commit moves to a client whose token v4 has accepted. */
const MOST_MOVED = 1000;
const NOT_LATER = [null, null, null];
const CLAIM = `
  UPDATE audit SET worth = ${WORTH.accepted} WHERE seq IN (
    SELECT seq FROM audit WHERE client = ? AND worth < ${WORTH.accepted} LIMIT ${MOST_MOVED}
  ) RETURNING id, time, client, route, status, lane, agent, lossy
`;

/** The size of the summaries in the file. */
const SUMMARY_BYTES =
  "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name IN ('usage', 'sqlite_autoindex_usage_1')";
const LEAST = `
  DELETE FROM usage WHERE (day, client, lane, route, status) IN (
    SELECT day, client, lane, route, status FROM usage ORDER BY ${LEAST_WORTH_ORDER}
    LIMIT max(0, (SELECT count(*) FROM usage) - ?)
  )
`;

/**
 * Opens the database for writing and prepares its schema.
 *
 * @returns A function that runs one job.
 * @throws {Error} If the file is not a database, is damaged, or was written by a newer version.
 */
export function openWriter(data: SqliteWorkerData & { role: "writer" }): (job: WriterJob) => unknown {
  const database = new DatabaseSync(data.file);
  // Other processes of this gateway may write to the same file.
  database.exec("PRAGMA busy_timeout = 5000");
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${data.synchronous}`);
  database.exec("PRAGMA journal_size_limit = 67108864");
  prepareSchema(database);

  const insert = database.prepare(
    `INSERT OR IGNORE INTO audit (id, time, client, route, status, record, worth, lane, agent, lossy)
      VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?)`,
  );
  const count = database.prepare(COUNT);
  const removeOld = database.prepare(
    "DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE time < ? ORDER BY time LIMIT ?)",
  );
  const least = database.prepare(
    `SELECT seq, octet_length(record) AS bytes FROM audit WHERE worth < ${WORTH.accepted} ORDER BY worth, time, seq LIMIT ?`,
  );
  const oldest = database.prepare(
    "SELECT seq, octet_length(record) AS bytes FROM audit ORDER BY time, seq LIMIT ?",
  );
  const claim = database.prepare(CLAIM);
  const shared = database.prepare(
    `SELECT 1 FROM usage WHERE day = ? AND client = '${UNACCEPTED}' AND lane = ? AND route = ? AND status = ?`,
  );
  const uncountEmpty = database.prepare(
    `DELETE FROM usage WHERE day = ? AND client = '${UNACCEPTED}' AND requests <= 0`,
  );
  const remove = database.prepare("DELETE FROM audit WHERE seq = ?");
  const uncount = database.prepare("DELETE FROM usage WHERE day < ?");
  const uncountLeast = database.prepare(LEAST);
  const known = database.prepare("SELECT 1 FROM usage WHERE day = ? AND client = ? LIMIT 1");
  const summaryBytes = database.prepare(SUMMARY_BYTES);

  function transaction<T>(work: () => T): T {
    database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite rolls back automatically after some errors, such as a full disk.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  function write(rows: PackedRows): void {
    const unpacked = unpackRows(rows);
    const clients = acceptedClients(unpacked);
    const isAccepted = ({ time, client, accepted }: Omit<StoredRow, "record">): boolean =>
      accepted || (client !== null && (clients.has(client) || known.get(dayOf(time), client) !== undefined));
    const added = unpacked
      .map((row) => ({ ...row, accepted: isAccepted(row) }))
      .filter((row) => {
        const { id, time, client, route, status, record } = row;
        const later = row.accepted ? NOT_LATER : [row.lane, usageAgent(row.agent), Number(row.lossy)];
        return insert.run(id, time, client, route, status, record, worthOf(row), ...later).changes > 0;
      });
    for (const row of aggregateUsage(added)) countRow(row);
    for (const client of clients) moveToClient(client);
  }

  function countRow(row: UsageRow): void {
    const { day, client, lane, route, status, requests, lossy, first, last, sample, agent } = row;
    count.run(day, client, lane, route, status, requests, lossy, first, last, sample, agent);
  }

  /** Moves the earlier requests of a client, which were counted under `UNACCEPTED`, to the client. */
  function moveToClient(client: string): void {
    const moved = claim.all(client) as unknown as Omit<StoredRow, "record">[];
    for (const row of aggregateUsage(moved.map((found) => ({ ...found, accepted: true })))) {
      countRow(row);
      const { day, lane, route, status } = row;
      if (shared.get(day, lane, route, status)) countRow(subtractFromUnaccepted(row));
      uncountEmpty.run(day);
    }
  }

  function figure(pragma: string): number {
    return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  }

  /**
   * Returns by how many bytes the records exceed the limit. Free pages are not counted, since SQLite reuses them. The
   * summaries are not counted, since they have a separate limit.
   */
  function excess(sizeLimit: number): number {
    const used = (figure("page_count") - figure("freelist_count")) * figure("page_size");
    return used - Number(summaryBytes.get()?.["bytes"] ?? 0) - sizeLimit;
  }

  /** Deletes the records with the lowest priority, the oldest first, until so many bytes are free. */
  function removeLeast(bytes: number, limit: number): number {
    let removed = 0;
    let freed = 0;
    for (const next of [least, oldest]) {
      if (freed >= bytes || removed === limit) break;
      for (const row of next.all(limit - removed)) {
        if (freed >= bytes) break;
        remove.run(Number(row["seq"]));
        freed += Number(row["bytes"]);
        removed += 1;
      }
    }
    return removed;
  }

  function purge({ before, sizeLimit, limit }: PurgeJob): PurgeResult {
    const old = Number(removeOld.run(before, limit).changes);
    if (old === limit) return { deleted: old, evicted: 0 };
    uncount.run(dayOf(before));
    uncountLeast.run(maxSummaryRows(sizeLimit));
    const evicted = removeLeast(excess(sizeLimit), limit);
    return { deleted: evicted, evicted };
  }

  return function work(job) {
    if (job.kind === "write") return transaction(() => write(job.rows));
    if (job.kind === "purge") return transaction(() => purge(job));
    return database.close();
  };
}
