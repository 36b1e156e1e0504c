import { AuditUnavailableError } from "../store.ts";
import { Socket } from "node:net";
import { Client, Pool, DatabaseError } from "pg";
import type { PoolClient, QueryResultRow } from "pg";
import { migratePostgres, SchemaError } from "../../../base/index.ts";
import { SCHEMA } from "./schema.ts";

/** Descriptions of SQLSTATE classes (PostgreSQL, appendix A) for operators. The longest matching prefix is used. */
const MEANINGS: Readonly<Record<string, string>> = {
  "25006": "its database may not be written",
  "28": "its database refuses the user or the password",
  "3D": "there is no such database",
  "42501": "its user may not do this in the database",
  "53": "its database is short of resources",
  "53100": "the disk of its database is full",
  "53300": "its database takes no more connections",
  "57014": "its database is too slow",
  "57": "its database does not respond",
  XX: "its database is damaged",
};

/** Converts an error of the driver. The message is public, and the error itself is the cause. */
function toUnavailableError(error: unknown): AuditUnavailableError {
  if (error instanceof AuditUnavailableError) return error;
  return new AuditUnavailableError(`The audit store failed: ${meaningOf(error)}.`, { cause: error });
}

function meaningOf(error: unknown): string {
  if (error instanceof SchemaError) return `its database cannot be used: ${error.message}`;
  // An error that is not from the server is a connection problem.
  if (!(error instanceof DatabaseError)) return "its database does not respond";
  const code = error.code ?? "";
  const prefix = Object.keys(MEANINGS)
    .filter((start) => code.startsWith(start))
    .toSorted((one, other) => other.length - one.length)[0];
  return prefix === undefined ? `its database fails (SQLSTATE ${code})` : (MEANINGS[prefix] ?? "");
}

/**
 * A socket that is destroyed if its reader throws. The driver's parser throws for bytes that are not PostgreSQL's protocol,
 * inside the socket's event, where nothing can catch it: the process would end.
 *
 * Over TLS the driver reads from another stream, which only has bytes of the authenticated server.
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
 * Whether a database has the tables of an audit store. Nothing is created.
 *
 * @throws {AuditUnavailableError} If the database can't be read.
 */
export async function hasAuditTables(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  // The error of a connection that breaks: the query that waits for it fails, too.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [
      SCHEMA.versionTable,
    ]);
    return rows[0]?.found === true;
  } catch (error) {
    throw toUnavailableError(error);
  } finally {
    await client.end().catch(() => {});
  }
}

const guardedSocket = (): Socket => new GuardedSocket();

/** Few: commits run one at a time, and people read the pages. */
const CONNECTIONS = 4;
const CONNECT_MS = 5000;
const STATEMENT_MS = 15_000;
/** The server times out first, so that the connection remains usable. */
const MARGIN_MS = 2000;

/** What a pool may take. */
interface PoolLimits {
  readonly connections: number;
  readonly statementMs: number;
}

/** For what requests wait for: it takes a millisecond. */
export const DECISION_LIMITS: PoolLimits = { connections: 2, statementMs: 3000 };

/** A connection pool that prepares the schema before the first query. */
export interface Database {
  /** @throws {AuditUnavailableError} */
  readonly query: <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** Runs on one connection, in a transaction. @throws {AuditUnavailableError} */
  readonly transaction: <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** Creates a pool. It connects with the first query, and tries again with every query if the server is down. */
export function connectDatabase(
  url: string,
  { connections, statementMs }: PoolLimits = { connections: CONNECTIONS, statementMs: STATEMENT_MS },
): Database {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statementMs,
    query_timeout: statementMs + MARGIN_MS,
    idle_in_transaction_session_timeout: statementMs,
    keepAlive: true,
    stream: guardedSocket,
    application_name: "alpha-gateway",
    // An idle connection does not keep the process alive.
    allowExitOnIdle: true,
  });
  // The pool replaces an idle connection that breaks; without a listener its error would end the process.
  pool.on("error", () => {});
  let prepared: Promise<void> | undefined;

  function prepare(): Promise<void> {
    prepared ??= withClient(async (client) => {
      // Creating an index on a large table may take long.
      await client.query("SET statement_timeout = 0");
      await migratePostgres(client, SCHEMA);
      await client.query(`SET statement_timeout = ${statementMs}`);
    }).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  }

  async function withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let failure: Error | undefined;
    // Between two statements nothing else handles an error of the connection.
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

  async function guarded<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    try {
      await prepare();
      return await withClient(work);
    } catch (error) {
      throw toUnavailableError(error);
    }
  }

  return {
    query: (text, values = []) => guarded(async (client) => (await client.query(text, [...values])).rows),
    transaction: (work) =>
      guarded(async (client) => {
        await client.query("BEGIN");
        const result = await work(client);
        await client.query("COMMIT");
        return result;
      }),
    close: () => pool.end(),
  };
}
