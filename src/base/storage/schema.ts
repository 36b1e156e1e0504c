/**
 * How the schema of a store is migrated. Each store has a list of steps; `steps[n]` brings version n to n + 1, and a
 * new store has version 0. Each step is one transaction, and a store that an interrupted migration left between two
 * versions continues at the next start. If several processes start at the same time, they migrate one at a time.
 *
 * To change a schema, add a step at the end of its list. Never change a step that was released. The lists:
 *
 * - `src/gateway/state/sqlite-schema.ts`: the state store in SQLite. Redis has no schema.
 * - `STEPS` in `src/audit/store/sql/schema.ts`: the audit store, in both databases.
 */
import type { DatabaseSync } from "node:sqlite";

/** The schema of a store is newer than this program, or unknown. The store is never changed. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/** @returns whether a step remains. @throws {SchemaError} if a newer version wrote the store */
function hasStep(version: number, known: number): boolean {
  if (version > known)
    throw new SchemaError(`it was written by a newer version of the gateway (schema ${version} > ${known})`);
  return version < known;
}

const notOurs = (): SchemaError =>
  new SchemaError("it was not written by a released version of the gateway, or not for this store");

/** The schema of a file of SQLite. */
export interface SqliteSchema {
  /** Marks the file as belonging to this store: `application_id` of SQLite. */
  readonly applicationId: number;
  /** SQL, or a function that changes tables whose names it must read first. */
  readonly steps: readonly (string | ((database: DatabaseSync) => void))[];
}

/** Migrates a file to the newest version. @throws {SchemaError} */
export function migrateSqlite(database: DatabaseSync, { applicationId, steps }: SqliteSchema): void {
  const read = (pragma: string): number => Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma] ?? 0);

  /** @returns whether more steps may remain */
  function step(): boolean {
    const version = read("user_version");
    const tables = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get();
    const isEmpty = version === 0 && tables === undefined;
    if (!isEmpty && read("application_id") !== applicationId) {
      // Every version marks its files, so this file belongs to a different program.
      throw notOurs();
    }
    if (!hasStep(version, steps.length)) return false;
    const next = steps[version] ?? "";
    if (typeof next === "string") database.exec(next);
    else next(database);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version + 1}`);
    return true;
  }

  function inTransaction(): boolean {
    database.exec("BEGIN IMMEDIATE");
    try {
      const isChanged = step();
      database.exec("COMMIT");
      return isChanged;
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  while (inTransaction());
}

/** The schema of tables in PostgreSQL. */
export interface PostgresSchema {
  /** The table with the version. */
  readonly versionTable: string;
  /** A table that the first step creates. If it exists and the version table does not, a different program has created it. */
  readonly firstTable: string;
  /** Key of `pg_advisory_xact_lock`. */
  readonly lock: number;
  /** The steps as SQL. */
  readonly steps: readonly string[];
}

/** A connection to PostgreSQL. */
interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

/** Migrates the tables to the newest version. @throws {SchemaError} */
export async function migratePostgres(
  client: PostgresClient,
  { versionTable, firstTable, lock, steps }: PostgresSchema,
): Promise<void> {
  /** @returns whether more steps may remain */
  async function step(): Promise<boolean> {
    await client.query("SELECT pg_advisory_xact_lock($1)", [lock]);
    await client.query(`CREATE TABLE IF NOT EXISTS ${versionTable} (version integer NOT NULL)`);
    const { rows } = await client.query(`SELECT version FROM ${versionTable}`);
    const version = Number(rows[0]?.["version"] ?? 0);
    const found = await client.query("SELECT to_regclass($1) IS NOT NULL AS found", [firstTable]);
    if (version === 0 && found.rows[0]?.["found"] === true) throw notOurs();
    if (!hasStep(version, steps.length)) return false;
    await client.query(steps[version] ?? "");
    await client.query(`DELETE FROM ${versionTable}`);
    await client.query(`INSERT INTO ${versionTable} VALUES ($1)`, [version + 1]);
    return true;
  }

  async function inTransaction(): Promise<boolean> {
    await client.query("BEGIN");
    try {
      const isChanged = await step();
      await client.query("COMMIT");
      return isChanged;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => {});
      throw error;
    }
  }

  while (await inTransaction());
}
