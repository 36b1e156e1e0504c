/** Deletes summaries above their limit. */
import { UNACCEPTED } from "../../usage/summary-key.ts";
import {
  CLIENT_STEP,
  cutLargest,
  DAY_MS,
  NEWCOMERS_SHARE,
  SUMMARY_STEP_ROWS,
  takeClients,
  type ClientRows,
} from "../../usage/usage.ts";
import { COUNTS, deleteClients, type CountTable } from "./counts.ts";
import { listOf, type Connection } from "./driver.ts";

/** Clients without a name from a login server, a proxy or a directory. */
const IS_UNNAMED = `
  client NOT IN ('', '${UNACCEPTED}') AND client NOT LIKE 'label:%' AND client NOT LIKE 'application:%'
  AND client NOT IN LIST($1)
`;
/**
 * Clients without a name that called on one day only. Rows of a client may have been deleted, so the days of its
 * token count.
 */
const newcomersOf = (table: string): string => `
  FROM ${table} WHERE ${IS_UNNAMED} GROUP BY client HAVING min(day) = max(day) AND client NOT IN (
    SELECT fingerprint FROM audit_token WHERE first / ${DAY_MS} < last / ${DAY_MS}
  )
`;
const oldestNewcomersOf = (table: string): string => `
  SELECT client, count(*) AS rows ${newcomersOf(table)} ORDER BY max(day), client LIMIT $2
`;
/** All clients, unnamed ones first, and of these the oldest first. */
const oldestOf = (table: string): string => `
  SELECT client, count(*) AS rows FROM ${table} WHERE client <> '${UNACCEPTED}'
  GROUP BY client ORDER BY (${IS_UNNAMED}) DESC, max(day), client LIMIT $2
`;

/** The number of rows that may remain. */
export interface SummaryLimits {
  readonly summaryRows: number;
  /** The keys of named clients. */
  readonly named: readonly string[];
}

/** Deletes rows of callers without an accepted token, the oldest first. @returns the number of rows */
function cutStrangers(connection: Connection, { name, key }: CountTable, rows: number): Promise<number> {
  const columns = `day, client, ${key}`;
  return connection.run(
    `DELETE FROM ${name} WHERE (${columns}) IN (
      SELECT ${columns} FROM ${name} WHERE client = '${UNACCEPTED}' ORDER BY day LIMIT $1
    )`,
    [rows],
  );
}

/** Deletes rows of a client. */
function cutClient(
  connection: Connection,
  { name, key, firstCut, lastCut }: CountTable,
  { client, rows }: ClientRows,
): Promise<number> {
  const others = lastCut === undefined ? "" : `AND (day, ${key}) NOT IN (${lastCut})`;
  return connection.run(
    `DELETE FROM ${name} WHERE client = $1 AND (day, ${key}) IN (
      SELECT day, ${key} FROM ${name} WHERE client = $1 ${others} ORDER BY ${firstCut} LIMIT $2
    )`,
    [client, rows],
  );
}

/**
 * Deletes rows of a table above the limit: rows of callers without an accepted token, then newcomers above their
 * share, then rows of the clients with the most rows. If no client has more than one row, the oldest clients go.
 *
 * The clients are selected for many rows at once, because that reads the keys of all clients. The rows are deleted in
 * small steps.
 */
export class SummaryCut {
  readonly #table: CountTable;
  /** The next clients that lose all their rows. */
  #clients: readonly string[] = [];
  /** The next clients that lose some rows, with the number of these rows. */
  #rows: readonly ClientRows[] = [];

  constructor(table: CountTable) {
    this.#table = table;
  }

  /** @param excess the number of rows to delete @returns how many clients lost all that they were to lose */
  async step(connection: Connection, excess: number, limits: SummaryLimits): Promise<number> {
    if (excess <= 0) [this.#clients, this.#rows] = [[], []];
    if (excess <= 0) return 0;
    const rows = Math.min(excess, SUMMARY_STEP_ROWS);
    if (this.#clients.length === 0 && this.#rows.length === 0) {
      if ((await cutStrangers(connection, this.#table, rows)) > 0) return 0;
      await this.#plan(connection, excess, limits);
    }
    return this.#clients.length > 0 ? this.#deleteClients(connection, rows) : this.#cutRows(connection, rows);
  }

  async #plan(connection: Connection, excess: number, { summaryRows, named }: SummaryLimits): Promise<void> {
    const { name, share } = this.#table;
    const names = listOf(named);
    const first = async (list: string, rows: number): Promise<readonly string[]> =>
      takeClients(await connection.query<ClientRows>(list, [names, Math.min(rows, CLIENT_STEP)]), rows);
    const [newcomers] = await connection.query<{ rows: number }>(
      `SELECT coalesce(sum(rows), 0) AS rows FROM (SELECT count(*) AS rows ${newcomersOf(name)}) AS newcomers`,
      [names],
    );
    const ofNewcomers = Math.floor(summaryRows * share * NEWCOMERS_SHARE);
    const tooMany = Math.min(excess, (newcomers?.rows ?? 0) - ofNewcomers);
    if (tooMany > 0) this.#clients = await first(oldestNewcomersOf(name), tooMany);
    if (this.#clients.length > 0) return;
    const largest = await connection.query<ClientRows>(
      `SELECT client, count(*) AS rows FROM ${name} WHERE client <> '${UNACCEPTED}'
        GROUP BY client HAVING count(*) > 1 ORDER BY count(*) DESC LIMIT ${CLIENT_STEP}`,
    );
    this.#rows = cutLargest(largest, excess);
    if (this.#rows.length === 0) this.#clients = await first(oldestOf(name), excess);
  }

  /** Deletes the next clients. Each has at least one row. A client without requests is deleted completely. */
  async #deleteClients(connection: Connection, rows: number): Promise<number> {
    const clients = this.#clients.slice(0, rows);
    this.#clients = this.#clients.slice(rows);
    const { name } = this.#table;
    if (this.#table !== COUNTS.usage) {
      await connection.run(`DELETE FROM ${name} WHERE client IN LIST($1)`, [listOf(clients)]);
      return clients.length;
    }
    await deleteClients(connection, clients);
    await connection.run("DELETE FROM audit_token WHERE key IN LIST($1)", [listOf(clients)]);
    return clients.length;
  }

  async #cutRows(connection: Connection, most: number): Promise<number> {
    const planned = this.#rows;
    let left = most;
    let at = 0;
    for (let next = planned[at]; next && left > 0; next = planned[at]) {
      const { client } = next;
      const rows = Math.min(next.rows, left);
      await cutClient(connection, this.#table, { client, rows });
      left -= rows;
      if (rows < next.rows) {
        this.#rows = [{ client, rows: next.rows - rows }, ...planned.slice(at + 1)];
        return at;
      }
      at += 1;
    }
    this.#rows = planned.slice(at);
    return at;
  }
}
