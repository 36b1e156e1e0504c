import { DatabaseSync } from "node:sqlite";
import type { SqliteJob, SqlitePage, SqliteWorkerData } from "./sqlite-messages.ts";
import { DEFAULT_LIMIT, GREATEST_LIMIT } from "./store.ts";
import type { AuditQuery } from "./store.ts";
import type { StoredRow } from "./stored-row.ts";

const VERSION = 1;

/** Characters of one page, so that a page of large records does not fill the memory. One record is always given. */
const PAGE_SIZE = 16 * 1024 * 1024;

/**
 * The indexes carry `time` behind `id`, so that a page narrowed by time as well is read off an index and
 * only what matches is fetched.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS audit (
    id TEXT PRIMARY KEY,
    time TEXT NOT NULL,
    client TEXT,
    route TEXT,
    status INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS audit_time ON audit (time, id);
  CREATE INDEX IF NOT EXISTS audit_client ON audit (client, id, time);
  CREATE INDEX IF NOT EXISTS audit_route ON audit (route, id, time);
  CREATE INDEX IF NOT EXISTS audit_status ON audit (status, id, time);
  PRAGMA user_version = ${VERSION};
`;

const CONDITIONS = {
  before: "id < ?",
  client: "client = ?",
  route: "route = ?",
  status: "status = ?",
  since: "time >= ?",
  until: "time < ?",
} as const satisfies Partial<Record<keyof AuditQuery, string>>;

export type SqliteDatabase = (job: SqliteJob) => unknown;

/**
 * Opens the database and gives the function that does one job after another, each to its end.
 *
 * @throws {Error} where the file is no database, is damaged, or was written by a newer version.
 */
export function openDatabase({ file, synchronous }: SqliteWorkerData): SqliteDatabase {
  const database = new DatabaseSync(file);
  // Other processes of this gateway may write to the same file.
  database.exec("PRAGMA busy_timeout = 5000");
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  database.exec("PRAGMA journal_size_limit = 67108864");
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version > VERSION) throw new Error(`it was written by a newer version (${version} > ${VERSION})`);
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);

  const insert = database.prepare("INSERT OR IGNORE INTO audit VALUES (?, ?, ?, ?, ?, ?)");
  const byId = database.prepare("SELECT record FROM audit WHERE id = ?");
  const remove = database.prepare(
    "DELETE FROM audit WHERE rowid IN (SELECT rowid FROM audit WHERE time < ? LIMIT ?)",
  );

  function write(rows: readonly StoredRow[]): void {
    database.exec("BEGIN IMMEDIATE");
    try {
      for (const row of rows) {
        insert.run(row.id, row.time, row.client, row.route, row.status, row.record);
      }
      database.exec("COMMIT");
    } catch (error) {
      // SQLite has rolled back by itself after some errors, a full disk among them.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  function page(query: AuditQuery): SqlitePage {
    const limit = Math.min(Math.max(query.limit ?? DEFAULT_LIMIT, 1), GREATEST_LIMIT);
    const { where, values } = conditions(query);
    const statement = database.prepare(
      `SELECT id, record FROM audit ${where} ORDER BY id DESC LIMIT ${limit + 1}`,
    );
    const records: string[] = [];
    let size = 0;
    let last: string | null = null;
    for (const row of statement.iterate(...values)) {
      const record = String(row["record"]);
      size += record.length;
      if (records.length === limit || (records.length > 0 && size > PAGE_SIZE))
        return { records, next: last };
      records.push(record);
      last = String(row["id"]);
    }
    return { records, next: null };
  }

  return function work(job) {
    if (job.kind === "write") return write(job.rows);
    if (job.kind === "query") return page(job.query);
    if (job.kind === "get") return byId.get(job.id)?.["record"];
    if (job.kind === "purge") return Number(remove.run(job.before, job.limit).changes);
    return database.close();
  };
}

function conditions(query: AuditQuery): { where: string; values: (string | number)[] } {
  const terms: string[] = [];
  const values: (string | number)[] = [];
  for (const [name, term] of Object.entries(CONDITIONS)) {
    const value = query[name as keyof typeof CONDITIONS];
    if (value === undefined) continue;
    terms.push(term);
    values.push(value);
  }
  return { where: terms.length > 0 ? `WHERE ${terms.join(" AND ")}` : "", values };
}
