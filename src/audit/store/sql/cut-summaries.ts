/** Deletes summaries that are too old, and those above their limits. */
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { DAY_MS, dayNumber, MOST_FAMILIES, NEWCOMERS_SHARE } from "../../usage/usage.ts";
import type { StoreLimits } from "../store.ts";
import { COUNTS, deleteClients, type CountTable } from "./counts.ts";
import { listOf, type Connection } from "./driver.ts";

/** The share of the rows that is left when there were too many: to choose those that go reads the keys of all. */
const KEPT = 0.95;
/** Rows, or clients, that one step deletes. */
const STEP_ROWS = 50_000;
/** Clients that lose rows in one step, because they have the most. */
const LARGEST_CLIENTS = 1000;

/** Clients without a name from a login server, a proxy or a directory, whose keys are the first value. */
const IS_UNNAMED = `
  client NOT IN ('', '${UNACCEPTED}') AND client NOT LIKE 'label:%' AND client NOT LIKE 'application:%'
  AND client NOT IN LIST($1)
`;

/**
 * Newcomers: clients without a name that called on one day only. Rows of a client may have been deleted, so the days of
 * its token count.
 */
const newcomersOf = (table: string): string => `
  FROM ${table} WHERE ${IS_UNNAMED} GROUP BY client HAVING min(day) = max(day) AND client NOT IN (
    SELECT fingerprint FROM audit_token WHERE first / ${DAY_MS} < last / ${DAY_MS}
  )
`;

/** Newcomers among the tokens. */
const NEW_TOKENS = `FROM audit_token WHERE first / ${DAY_MS} = last / ${DAY_MS} AND fingerprint NOT IN LIST($1)`;

/** The result of one step. */
export interface CutSummaries {
  /** Clients that lost summaries because there are too many, once for each table. */
  readonly clients: number;
  /** Whether there may be more to delete. */
  readonly more: boolean;
}

/** Deletes some summaries that are too old, or too many. */
export async function cutSummaries(connection: Connection, limits: StoreLimits): Promise<CutSummaries> {
  const firstDay = dayNumber(limits.usageBefore);
  await connection.run("DELETE FROM audit_token WHERE last < $1", [limits.usageBefore]);
  await connection.run("DELETE FROM audit_erased WHERE time < $1", [limits.usageBefore]);
  await connection.run("DELETE FROM audit_counted WHERE day < $1", [firstDay]);
  for (const { name } of Object.values(COUNTS))
    await connection.run(`DELETE FROM ${name} WHERE day < $1`, [firstDay]);
  await cutFamilies(connection, dayNumber(Date.now()) - 1);
  await cutTokens(connection, limits);
  let clients = 0;
  // Usage first: a client that is deleted there is deleted in all tables.
  for (const table of Object.values(COUNTS)) clients += await new TableCut(connection, table, limits).run();
  return { clients, more: clients > 0 };
}

/** By how much rows exceed what is kept of a limit; 0 if they don't exceed the limit. At most as many as one step deletes. */
async function excessOf(connection: Connection, table: string, limit: number): Promise<number> {
  const rows = await countOf(connection, `SELECT count(*) AS count FROM ${table}`);
  return rows <= limit ? 0 : Math.min(rows - Math.ceil(limit * KEPT), STEP_ROWS);
}

async function countOf(connection: Connection, text: string, values?: readonly string[]): Promise<number> {
  const [row] = await connection.query<{ count: number }>(text, values);
  return row?.count ?? 0;
}

/** Deletes tokens above the limit: newcomers above their share, then the least recently used ones. */
async function cutTokens(connection: Connection, limits: StoreLimits): Promise<void> {
  const excess = await excessOf(connection, "audit_token", limits.summaryTokens);
  if (excess === 0) return;
  const names = listOf(limits.named);
  const newcomers = await countOf(connection, `SELECT count(*) AS count ${NEW_TOKENS}`, [names]);
  const tooMany = newcomers - Math.floor(limits.summaryTokens * NEWCOMERS_SHARE);
  const cut = (chosen: string, count: number): Promise<number> =>
    connection.run(`DELETE FROM audit_token WHERE fingerprint IN (SELECT fingerprint ${chosen} LIMIT $2)`, [
      names,
      Math.max(count, 0),
    ]);
  const ofNewcomers = await cut(`${NEW_TOKENS} ORDER BY last`, Math.min(excess, tooMany));
  await cut("FROM audit_token ORDER BY fingerprint IN LIST($1), last", excess - ofNewcomers);
}

/**
 * Deletes rows of a table above the limit: rows of callers without an accepted token, then newcomers above their
 * share, then rows of the clients with the most rows. If no client has more than one row, the oldest clients go.
 */
class TableCut {
  readonly #connection: Connection;
  readonly #table: CountTable;
  readonly #limits: StoreLimits;
  readonly #names: string;
  /** Rows that are still to be deleted. */
  #left = 0;

  constructor(connection: Connection, table: CountTable, limits: StoreLimits) {
    this.#connection = connection;
    this.#table = table;
    this.#limits = limits;
    this.#names = listOf(limits.named);
  }

  /** @returns how many clients lost rows, without callers without an accepted token */
  async run(): Promise<number> {
    const { name, share } = this.#table;
    const limit = this.#limits.summaryRows * share;
    this.#left = await excessOf(this.#connection, name, limit);
    if (this.#left === 0) return 0;
    await this.#cutRows(`SELECT * FROM ${name} WHERE client = '${UNACCEPTED}' ORDER BY day`);
    const newcomers = await countOf(
      this.#connection,
      `SELECT coalesce(sum(rows), 0) AS count FROM (SELECT count(*) AS rows ${newcomersOf(name)}) AS newcomers`,
      [this.#names],
    );
    const tooMany = newcomers - Math.floor(limit * NEWCOMERS_SHARE);
    return (
      (await this.#cutClients(newcomersOf(name), "max(day), client", tooMany)) +
      (await this.#cutLargest()) +
      (await this.#cutClients(
        `FROM ${name} WHERE client <> '${UNACCEPTED}' GROUP BY client`,
        `CASE WHEN ${IS_UNNAMED} THEN 0 ELSE 1 END, max(day), client`,
        this.#left,
      ))
    );
  }

  /** Deletes rows. @param chosen The statement that reads them, in this order @returns how many clients had them */
  async #cutRows(chosen: string): Promise<number> {
    if (this.#left === 0) return 0;
    const { name, key } = this.#table;
    const columns = key.join(", ");
    const deleted = await this.#connection.query<{ client: string }>(
      `DELETE FROM ${name} WHERE (${columns}) IN (SELECT ${columns} FROM (${chosen} LIMIT $1) AS chosen)
        RETURNING client`,
      [this.#left],
    );
    this.#left -= deleted.length;
    return new Set(deleted.map(({ client }) => client)).size;
  }

  /** Deletes rows of the clients with the most, so that the others keep theirs. Each keeps one. */
  #cutLargest(): Promise<number> {
    const { name, mark, keptFirst } = this.#table;
    return this.#cutRows(
      `SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY client ORDER BY ${keptFirst}) AS place FROM (
          SELECT *, ${mark} AS mark FROM ${name} WHERE client IN (
            SELECT client FROM ${name} WHERE client <> '${UNACCEPTED}'
            GROUP BY client HAVING count(*) > 1 ORDER BY count(*) DESC LIMIT ${LARGEST_CLIENTS}
          )
        ) AS marked
      ) AS placed WHERE place > 1 ORDER BY place DESC`,
    );
  }

  /**
   * Deletes all rows of the first clients that have a number of rows together. A client without requests is deleted
   * completely. @returns how many clients
   */
  async #cutClients(from: string, order: string, rows: number): Promise<number> {
    const most = Math.min(rows, this.#left);
    if (most <= 0) return 0;
    const found = await this.#connection.query<{ client: string; rows: number }>(
      `SELECT client, rows FROM (
        SELECT client, count(*) AS rows, sum(count(*)) OVER (ORDER BY ${order}) - count(*) AS before ${from}
      ) AS aged WHERE before < $2 LIMIT ${STEP_ROWS}`,
      [this.#names, most],
    );
    const clients = listOf(found.map(({ client }) => client));
    if (this.#table === COUNTS.usage) {
      await deleteClients(this.#connection, clients);
      await this.#connection.run("DELETE FROM audit_token WHERE key IN LIST($1)", [clients]);
    } else await this.#connection.run(`DELETE FROM ${this.#table.name} WHERE client IN LIST($1)`, [clients]);
    this.#left = Math.max(0, this.#left - found.reduce((sum, { rows: own }) => sum + own, 0));
    return found.length;
  }
}

/** Deletes families of user agents above the limit of each client and day, the least recently used first. */
async function cutFamilies(connection: Connection, firstDay: number): Promise<void> {
  await connection.run(
    `DELETE FROM audit_agent WHERE (day, client, family) IN (
      SELECT day, client, family FROM (
        SELECT day, client, family, row_number() OVER (PARTITION BY day, client ORDER BY last DESC) AS place
        FROM audit_agent WHERE day >= $1
      ) AS placed WHERE place > ${MOST_FAMILIES} LIMIT ${STEP_ROWS}
    )`,
    [firstDay],
  );
}
