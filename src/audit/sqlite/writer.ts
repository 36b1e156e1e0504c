import { DatabaseSync } from "node:sqlite";
import { dayOf, foldUsage } from "../usage.ts";
import type { Purge, SqliteWorkerData, WriterJob } from "./messages.ts";
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

/** Rows of the summaries, some 300 bytes each: a client that makes up tokens must not fill the disk with them. */
const MOST_COUNTS = 1_000_000;

/**
 * Opens the database for writing, prepares it, and gives the function that does one job after another.
 *
 * @throws {Error} where the file is no database, is damaged, or was written by a newer version.
 */
export function openWriter(data: SqliteWorkerData & { role: "writer" }): (job: WriterJob) => unknown {
  const database = new DatabaseSync(data.file);
  // Other processes of this gateway may write to the same file.
  database.exec("PRAGMA busy_timeout = 5000");
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${data.synchronous}`);
  database.exec("PRAGMA journal_size_limit = 67108864");
  prepareSchema(database);

  const insert = database.prepare(
    "INSERT OR IGNORE INTO audit (id, time, client, route, status, record) VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT))",
  );
  const count = database.prepare(COUNT);
  const removeOld = database.prepare(
    "DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE time < ? ORDER BY time LIMIT ?)",
  );
  const oldest = database.prepare(
    "SELECT seq, octet_length(record) AS bytes FROM audit ORDER BY time, seq LIMIT ?",
  );
  const remove = database.prepare("DELETE FROM audit WHERE seq = ?");
  const uncount = database.prepare("DELETE FROM usage WHERE day < ?");
  const uncountOldest = database.prepare(`
    DELETE FROM usage WHERE (SELECT count(*) FROM usage) > ${MOST_COUNTS} AND day = (SELECT min(day) FROM usage)
  `);

  function transaction<T>(work: () => T): T {
    database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite has rolled back by itself after some errors, a full disk among them.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  function write(rows: PackedRows): void {
    const added = unpackRows(rows).filter(
      ({ id, time, client, route, status, record }) =>
        insert.run(id, time, client, route, status, record).changes > 0,
    );
    for (const row of foldUsage(added)) {
      const { day, client, lane, route, status, requests, lossy, first, last, sample, agent } = row;
      count.run(day, client, lane, route, status, requests, lossy, first, last, sample, agent);
    }
  }

  function figure(pragma: string): number {
    return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  }

  /** Pages that deleted records left empty are used again, so that the file itself never grows past the limit. */
  function excess(sizeLimit: number): number {
    return (figure("page_count") - figure("freelist_count")) * figure("page_size") - sizeLimit;
  }

  /** The oldest, as many as are needed to free so many bytes. */
  function removeOldest(bytes: number, limit: number): number {
    if (bytes <= 0) return 0;
    let removed = 0;
    let freed = 0;
    for (const row of oldest.all(limit)) {
      if (freed >= bytes) break;
      remove.run(Number(row["seq"]));
      freed += Number(row["bytes"]);
      removed += 1;
    }
    return removed;
  }

  function purge({ before, sizeLimit, limit }: Purge): number {
    const removed = Number(removeOld.run(before, limit).changes);
    if (removed === limit) return removed;
    uncount.run(dayOf(before));
    uncountOldest.run();
    return removeOldest(excess(sizeLimit), limit);
  }

  return function work(job) {
    if (job.kind === "write") return transaction(() => write(job.rows));
    if (job.kind === "purge") return transaction(() => purge(job));
    return database.close();
  };
}
