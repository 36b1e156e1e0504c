import { DatabaseSync, type StatementSync } from "node:sqlite";
import { BoundedMap } from "../../../base/storage/bounded-map.ts";
import { holdFile } from "../../../base/storage/held-file.ts";
import { migrateSqlite, type SqliteSchema } from "../../../base/storage/schema.ts";
import type { Connection, Driver, Value } from "../sql/driver.ts";
import { STEPS } from "../sql/schema.ts";
import { isErrorOfValues } from "./fault.ts";

/** SQLite's spelling of statements. */
const SPELLING: readonly (readonly [RegExp, string])[] = [
  [/\b(?:LIST|NUMBERS)\(\$(\d+)\)/g, "(SELECT value FROM json_each(?$1))"],
  [/\$(\d+)/g, "?$1"],
  [/\bgreatest\(/g, "max("],
  [/\bleast\(/g, "min("],
  [/\bstrpos\(/g, "instr("],
  [/\bbigint\b/g, "INTEGER"],
  [/\bbytea\b/g, "BLOB"],
  [/WITH \(fillfactor = 50\)/g, "STRICT, WITHOUT ROWID"],
];

const spell = (text: string): string =>
  SPELLING.reduce((spelt, [found, other]) => spelt.replaceAll(found, other), text);

/** "agau" in ASCII, plus the number of the tables' design: files of unreleased designs are rejected. */
const APPLICATION_ID = 0x61676175 + 1;

/** The schema of the file. */
export const SCHEMA: SqliteSchema = { applicationId: APPLICATION_ID, steps: STEPS.map(spell) };

/**
 * Maximum number of prepared statements that are kept: those with filters have many forms. Above it all are prepared again.
 * There is no LRU cache, because the thread loads no package.
 */
const MAX_STATEMENTS = 500;

/** The connection of a thread. SQLite is synchronous, so the jobs of a thread run sequentially. */
class SqliteConnection implements Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new BoundedMap<string, StatementSync>(MAX_STATEMENTS);

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  readonly query = async <Row extends object>(text: string, values: readonly Value[] = []): Promise<Row[]> =>
    this.#prepare(text).all(...values) as Row[];

  readonly run = async (text: string, values: readonly Value[] = []): Promise<number> =>
    Number(this.#prepare(text).run(...values).changes);

  readonly insert = async (table: string, rows: readonly object[], conflict = ""): Promise<void> => {
    const columns = Object.keys(rows[0] ?? {});
    if (columns.length === 0) return;
    const places = columns.map(() => "?").join(", ");
    const statement = this.#prepare(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places}) ${conflict}`,
    );
    for (const row of rows) statement.run(...(Object.values(row) as Value[]));
  };

  /** Runs statements in a transaction. */
  async transaction<Result>(begin: string, work: () => Promise<Result>): Promise<Result> {
    const database = this.#database;
    database.exec(begin);
    try {
      const result = await work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite rolls back automatically after some errors, such as a full disk.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  #prepare(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known) return known;
    const prepared = this.#database.prepare(spell(text));
    this.#statements.set(text, prepared);
    return prepared;
  }
}

/** The kinds of access of a thread to the file. */
export type SqliteUse =
  | {
      readonly file: string;
      /** SQLite's `synchronous`. NORMAL survives a crash of the process, and FULL a crash of the machine. */
      readonly synchronous: "NORMAL" | "FULL";
    }
  /** The thread only reads. */
  | { readonly file: string; readonly synchronous?: undefined };

/** Opens the file for writing and prepares its schema. */
function openForWriting(file: string, synchronous: "NORMAL" | "FULL"): DatabaseSync {
  const database = new DatabaseSync(file);
  // Other processes of this gateway may write to the same file.
  database.exec("PRAGMA busy_timeout = 5000");
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  database.exec("PRAGMA journal_size_limit = 67108864");
  // Deleted data is always overwritten, because freed pages may contain data of an erased client.
  database.exec("PRAGMA secure_delete = ON");
  // Number of pages. Many commits change the same pages, which a checkpoint only writes once.
  database.exec("PRAGMA wal_autocheckpoint = 4000");
  migrateSqlite(database, SCHEMA);
  return database;
}

function openForReading(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16384");
  return database;
}

/** The tables that contain keys of clients, except for the table of records, which is too large. */
const REWRITTEN = ["audit_block", "audit_usage", "audit_agent", "audit_token", "audit_sent", "audit_loss"];
/**
 * Maximum number of rewritten rows. They take two seconds. Many more would take longer than other processes wait for a
 * commit.
 */
const MAX_REWRITTEN = 100_000;

/**
 * Rewrites a table. When SQLite moves rows between pages, it may leave copies behind, which outlive the rows. Pages
 * whose rows are all deleted are overwritten.
 */
function rewriteTable(database: DatabaseSync, table: string): void {
  const { rows } = database.prepare(`SELECT count(*) AS rows FROM ${table}`).get() ?? {};
  if (Number(rows) > MAX_REWRITTEN) return;
  database.exec(`CREATE TEMP TABLE kept AS SELECT * FROM ${table};
    DELETE FROM ${table};
    INSERT INTO ${table} SELECT * FROM temp.kept;
    DROP TABLE temp.kept`);
}

/** Creates the driver of an open database. @param lostFile Describes the loss of its file; undefined if it is in place */
export function sqliteDriver(
  database: DatabaseSync,
  lostFile: () => string | undefined = () => undefined,
): Driver {
  const connection = new SqliteConnection(database);
  return {
    query: connection.query,
    read: (work) => connection.transaction("BEGIN", () => work(connection)),
    write: (work) => connection.transaction("BEGIN IMMEDIATE", () => work(connection)),
    isOfValues: isErrorOfValues,
    check() {
      const lost = lostFile();
      if (lost !== undefined) throw new Error(lost);
    },
    async forget(step) {
      const table = REWRITTEN[step];
      if (table !== undefined) {
        await connection.transaction("BEGIN IMMEDIATE", async () => rewriteTable(database, table));
        return true;
      }
      // The log of changes still contains deleted data, and so does the file until the log is written to it.
      const checkpoint = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
      if (checkpoint?.["busy"] !== 0)
        throw new Error(
          "the client is erased, but another process reads the store, so that its log still has the client: erase it again",
        );
      return false;
    },
    close: async () => database.close(),
  };
}

/**
 * Opens the database file.
 *
 * @throws {Error} If the file is not a database, is damaged, or was written by a newer version.
 */
export function openSqliteDriver({ file, synchronous }: SqliteUse): Driver {
  if (synchronous === undefined) return sqliteDriver(openForReading(file));
  const database = openForWriting(file, synchronous);
  return sqliteDriver(database, holdFile(file));
}
