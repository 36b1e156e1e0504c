import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { Pool, DatabaseError, TypeOverrides, types, type PoolClient, type QueryResultRow } from "pg";
import { migratePostgres, type PostgresSchema, SchemaError } from "../../../base/index.ts";
import type { Connection, Driver, Value } from "../sql/driver.ts";
import { plainText } from "../../record/plain-text.ts";
import { STEPS } from "../sql/schema.ts";
import { AuditUnavailableError } from "../store.ts";

/** Segments are already compressed, so PostgreSQL must not compress them again. */
const KEEP_SEGMENTS = "ALTER TABLE audit_segment ALTER COLUMN data SET STORAGE EXTERNAL";

/** The schema of the tables. */
export const SCHEMA: PostgresSchema = {
  versionTable: "audit_version",
  firstTable: "audit",
  lock: 7_012_026_001,
  steps: STEPS.map((step, index) => (index === 0 ? `${step}; ${KEEP_SEGMENTS}` : step)),
};

/** Key of `pg_advisory_xact_lock`. One replica writes at a time, so that replicas can't deadlock. */
const WRITE_LOCK = 7_012_026_002;

/** PostgreSQL's spelling of the list functions in statements. */
const SPELLING: readonly (readonly [RegExp, string])[] = [
  [/\bLIST\(\$(\d+)\)/g, "(SELECT json_array_elements_text($$$1::json))"],
  [/\bNUMBERS\(\$(\d+)\)/g, "(SELECT json_array_elements_text($$$1::json)::bigint)"],
];

const spell = (text: string): string =>
  SPELLING.reduce((spelt, [found, other]) => spelt.replaceAll(found, other), text);

/** Parses `bigint`, and `numeric` of its sums, as numbers. They are exact below 2^53. */
const TYPES = new TypeOverrides();
for (const type of [types.builtins.INT8, types.builtins.NUMERIC]) TYPES.setTypeParser(type, Number);

/** Descriptions of SQLSTATE classes (PostgreSQL, appendix A) for operators. The longest matching prefix is used. */
const MEANINGS: Readonly<Record<string, string>> = {
  "25006": "its database may not be written",
  "28": "its database refuses the user or the password",
  "3D": "there is no such database",
  "42P01": "a table is missing: restore the database",
  "42501": "its user may not do this in the database",
  "53": "its database is short of resources",
  "53100": "the disk of its database is full",
  "53300": "its database takes no more connections",
  "57014": "its database is too slow",
  "57": "its database does not respond",
  XX: "its database is damaged",
};

/** The SQLSTATE classes of errors that a value causes: an invalid value, a constraint, or a limit of the program. */
const CLASSES_OF_VALUES = /^(?:22|23|54)/;

/** Converts an error of the driver. The message is public, and the original error is the cause. */
function toUnavailableError(error: unknown): AuditUnavailableError {
  if (error instanceof AuditUnavailableError) return error;
  return new AuditUnavailableError(`The audit store failed: ${meaningOf(error)}.`, { cause: error });
}

function meaningOf(error: unknown): string {
  if (error instanceof SchemaError) return `its database can't be used: ${error.message}`;
  // An error that does not come from the server is a connection problem.
  if (!(error instanceof DatabaseError)) return "its database does not respond";
  const code = error.code ?? "";
  const prefix = Object.keys(MEANINGS)
    .filter((start) => code.startsWith(start))
    .toSorted((one, other) => other.length - one.length)[0];
  return prefix === undefined ? `its database fails (SQLSTATE ${code})` : (MEANINGS[prefix] ?? "");
}

/**
 * A socket that is destroyed if its reader throws. The driver's parser throws if bytes do not follow PostgreSQL's
 * protocol. It throws inside an event of the socket, where the error can't be caught, and the process would end.
 *
 * Over TLS, the driver reads from a different stream, which only contains bytes of the authenticated server.
 */
class GuardedSocket extends Socket {
  override emit(event: string | symbol, ...given: unknown[]): boolean {
    if (event !== "data") return super.emit(event, ...given);
    try {
      return super.emit(event, ...given);
    } catch (error) {
      this.destroy(error as Error);
      return true;
    }
  }
}

/**
 * Whether a database contains the tables of an audit store. Creates nothing.
 *
 * @throws {AuditUnavailableError} if the database can't be read
 */
export async function hasAuditTables(url: string): Promise<boolean> {
  const pool = openPool(url, { connections: 1, statementMs: STATEMENT_MS });
  try {
    return (await readVersion(pool)) !== undefined;
  } catch (error) {
    throw toUnavailableError(error);
  } finally {
    await pool.end();
  }
}

/** Reads the version of the tables; undefined if there are none. */
async function readVersion(pool: Pool): Promise<number | undefined> {
  const { versionTable } = SCHEMA;
  const tables = await pool.query<{ found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [
    versionTable,
  ]);
  if (tables.rows[0]?.found !== true) return undefined;
  const versions = await pool.query<{ version: number }>(`SELECT version FROM ${versionTable}`);
  return versions.rows[0]?.version;
}

/** Maximum number of connections. A few are enough: commits run sequentially, and only people read pages. */
const CONNECTIONS = 4;
const CONNECT_MS = 5000;
const STATEMENT_MS = 15_000;
/** Milliseconds by which the server's timeout is shorter than the client's, so that the connection stays usable. */
const MARGIN_MS = 2000;

/** The limits of a pool. */
interface PoolLimits {
  readonly connections: number;
  readonly statementMs: number;
}

/** Limits for a migration: creating an index on a large table may take long, and replicas wait for each other. */
const MIGRATION_LIMITS: PoolLimits = { connections: 1, statementMs: 600_000 };

/** Limits for decisions about requests, which take a millisecond. */
export const DECISION_LIMITS: PoolLimits = { connections: 2, statementMs: 3000 };

/** Removes characters that PostgreSQL rejects. Readers of the audit choose some texts of statements. */
const plainValue = (value: Value): Value => (typeof value === "string" ? plainText(value) : value);

/** Returns the statements of a connection. */
const connectionOf = (client: PoolClient): Connection => ({
  query: async <Row extends object>(text: string, values: readonly Value[] = []) =>
    (await client.query<Row & QueryResultRow>(spell(text), values.map(plainValue))).rows,
  run: async (text, values = []) => (await client.query(spell(text), values.map(plainValue))).rowCount ?? 0,
  async insert(table, rows, conflict = "") {
    const columns = Object.keys(rows[0] ?? {}).join(", ");
    if (columns === "") return;
    await client.query(
      `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1) ${conflict}`,
      [JSON.stringify(rows)],
    );
  },
});

/** @param signal closes the connections, whatever they wait for */
function openPool(url: string, { connections, statementMs }: PoolLimits, signal?: AbortSignal): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statementMs,
    query_timeout: statementMs + MARGIN_MS,
    idle_in_transaction_session_timeout: statementMs,
    keepAlive: true,
    stream: () => new GuardedSocket({ ...(signal && { signal }) }),
    application_name: "alpha-gateway",
    types: TYPES,
    // An idle connection must not keep the process alive.
    allowExitOnIdle: true,
  });
  // The pool replaces a broken idle connection. Without a listener, its error would end the process.
  pool.on("error", () => {});
  return pool;
}

/** Runs work with a connection of a pool. */
async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  // Between two statements, no other code handles errors of the connection.
  const onError = (error: Error): void => void (failure = error);
  client.on("error", onError);
  try {
    return await work(client);
  } catch (error) {
    // The connection may be in an unknown state, so it is closed.
    failure = error as Error;
    throw error;
  } finally {
    client.off("error", onError);
    client.release(failure);
  }
}

/** Migrates the tables, on a connection of its own: statements of other connections end after seconds. */
async function migrate(url: string, signal: AbortSignal): Promise<void> {
  const pool = openPool(url, MIGRATION_LIMITS, signal);
  try {
    await withClient(pool, (client) => migratePostgres(client, SCHEMA));
  } finally {
    await pool.end();
  }
}

/** Creates a pool. It connects with the first query, and tries again with every query if the server is down. */
export function connectPostgres(
  url: string,
  limits: PoolLimits = { connections: CONNECTIONS, statementMs: STATEMENT_MS },
): Driver {
  const pool = openPool(url, limits);
  const closing = new AbortController();
  let isPrepared = false;
  let migration: Promise<void> | undefined;

  /** Waits until the tables exist, at most as long as for a statement. A longer migration goes on. */
  async function waitForTables(): Promise<void> {
    if (!migration && (await readVersion(pool)) !== STEPS.length)
      migration ??= migrate(url, closing.signal).finally(() => (migration = undefined));
    const late = wait(limits.statementMs + MARGIN_MS, "late", { ref: false });
    if ((await Promise.race([migration, late])) === "late")
      throw new AuditUnavailableError("The audit store failed: its tables are being changed.");
    isPrepared = true;
  }

  /** Runs work with a connection. @throws {AuditUnavailableError} */
  async function guarded<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    try {
      if (!isPrepared) await waitForTables();
      return await withClient(pool, work);
    } catch (error) {
      throw toUnavailableError(error);
    }
  }

  const transaction = <T>(begin: string, work: (connection: Connection) => Promise<T>): Promise<T> =>
    guarded(async (client) => {
      await client.query(begin);
      const result = await work(connectionOf(client));
      await client.query("COMMIT");
      return result;
    });

  return {
    query: (text, values) => guarded((client) => connectionOf(client).query(text, values)),
    read: (work) => transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work),
    write: (work) => transaction(`BEGIN; SELECT pg_advisory_xact_lock(${WRITE_LOCK})`, work),
    isOfValues: (error) =>
      error instanceof Error &&
      error.cause instanceof DatabaseError &&
      CLASSES_OF_VALUES.test(error.cause.code ?? ""),
    check: () => {},
    // PostgreSQL does not overwrite deleted data. The operator can run `VACUUM`.
    forget: async () => false,
    async close() {
      closing.abort();
      await pool.end();
    },
  };
}
