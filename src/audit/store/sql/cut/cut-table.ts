/** Deletes rows of a table of summaries that are too old, or too many. */
import { DAY_MS } from "../../../../base/text/dates.ts";
import { UNACCEPTED } from "../../../usage/summary-key.ts";
import { dayNumber, NEWCOMERS_SHARE } from "../../../usage/usage.ts";
import type { StoreLimits } from "../../store.ts";
import { COUNTS, deleteClients, type CountTable } from "../counts.ts";
import { listOf, type Connection, type Driver } from "../driver.ts";
import { keptOf, rowCount, STEP_ROWS } from "./row-count.ts";
import type { StoredAmount } from "../stored-amount.ts";

/** The result of one step. */
export interface CutSummaries {
  /** Number of clients that lost summaries because there are too many, counted separately for each table. */
  readonly clients: number;
  /** Whether there may be more to delete. */
  readonly more: boolean;
}

/** Maximum number of clients that one step deletes with all their rows, which may be many in each table. */
const STEP_CLIENTS = 500;
/** Number of clients that are chosen in advance, because choosing reads the keys of all clients. */
const CHOSEN_CLIENTS = 20_000;

/**
 * Condition for clients without a name from a login server, a proxy or a directory. The first value is the list of
 * their keys.
 */
const IS_UNNAMED = `
  client NOT IN ('', '${UNACCEPTED}') AND client NOT LIKE 'label:%' AND client NOT LIKE 'application:%'
  AND client NOT IN LIST($1)
`;

/**
 * Selects newcomers: clients without a name that only called on one day. Rows of a client may have been deleted, so the
 * days of its token are used.
 */
const newcomersOf = (table: string): string => `
  FROM ${table} WHERE ${IS_UNNAMED} GROUP BY client HAVING min(day) = max(day) AND client NOT IN (
    SELECT fingerprint FROM audit_token WHERE first / ${DAY_MS} < last / ${DAY_MS}
  )
`;

/** A client with a number of rows. */
interface ClientRows {
  readonly client: string;
  readonly rows: number;
}

/** The clients that lose rows next. */
interface Chosen {
  /** Whether they lose all their rows. */
  readonly isWhole: boolean;
  /** The clients, with the number of rows that each loses. */
  readonly clients: readonly ClientRows[];
}

const NONE: Chosen = { isWhole: false, clients: [] };

/**
 * Returns the number of rows of each client to delete. Only the clients with the most rows lose some.
 *
 * @param counted the clients, those with the most rows first
 * @param excess the total number of rows to delete
 */
function cutLargest(counted: readonly ClientRows[], excess: number): ClientRows[] {
  let level = counted[0]?.rows ?? 0;
  let left = excess;
  let clients = 0;
  while (left > 0 && clients < counted.length) {
    clients += 1;
    const gap = level - (counted[clients]?.rows ?? 0);
    // All clients so far are reduced to the number of the next client, or as far as necessary.
    const drop = Math.min(gap, Math.floor(left / clients));
    level -= drop;
    left -= drop * clients;
    if (drop < gap) break;
  }
  // The remainder: one more row of each of the first clients.
  const most = level > 0 ? Math.min(left, clients) : 0;
  return counted
    .slice(0, clients)
    .map(({ client, rows }, index) => ({ client, rows: rows - level + (index < most ? 1 : 0) }))
    .filter(({ rows }) => rows > 0);
}

/** Returns the first clients that have this number of rows in total. */
function takeClients(counted: readonly ClientRows[], rows: number): readonly ClientRows[] {
  let left = rows;
  const end = counted.findIndex((each) => (left -= each.rows) <= 0);
  return end < 0 ? counted : counted.slice(0, end + 1);
}

/**
 * Deletes rows of a table above the limit: rows of callers without an accepted token, then newcomers above their share,
 * then rows of the clients with the most rows. If no client has more than one row, the oldest clients are deleted.
 *
 * The clients are chosen in advance for many steps.
 */
export class TableCut {
  readonly name: string;
  readonly rows: StoredAmount;
  readonly #table: CountTable;
  #chosen = NONE;

  constructor(table: CountTable) {
    this.#table = table;
    this.name = table.name;
    this.rows = rowCount(table.name);
  }

  /** Deletes some rows. Each transaction is short, because commits wait for it. */
  async step(driver: Driver, limits: StoreLimits): Promise<CutSummaries> {
    const limit = limits.summaryRows * this.#table.share;
    const excess = await this.rows.excess(driver.query, limit, keptOf(limit));
    const firstDay = dayNumber(limits.usageBefore);
    const deleted = await driver.write((connection) => this.#cutUnwanted(connection, firstDay, excess));
    if (excess === 0) this.#chosen = NONE;
    if (deleted > 0 || excess === 0) return { clients: 0, more: excess > 0 || deleted === STEP_ROWS };
    if (this.#chosen.clients.length === 0) this.#chosen = await this.#choose(driver.query, limits, excess);
    return driver.write((connection) =>
      this.#chosen.isWhole ? this.#cutClients(connection, excess) : this.#cutRows(connection, excess),
    );
  }

  /** Deletes rows that are too old, otherwise rows of callers without an accepted token. @returns the number of deleted rows */
  async #cutUnwanted(connection: Connection, firstDay: number, excess: number): Promise<number> {
    const { name, key } = this.#table;
    const columns = key.join(", ");
    const old = await connection.run(
      `DELETE FROM ${name} WHERE (${columns}) IN (
        SELECT ${columns} FROM ${name} WHERE day < $1 LIMIT ${STEP_ROWS}
      )`,
      [firstDay],
    );
    if (old > 0 || excess === 0) return old;
    return connection.run(
      `DELETE FROM ${name} WHERE (${columns}) IN (
        SELECT ${columns} FROM ${name} WHERE client = '${UNACCEPTED}' ORDER BY day LIMIT $1
      )`,
      [Math.min(excess, STEP_ROWS)],
    );
  }

  async #choose(query: Connection["query"], limits: StoreLimits, excess: number): Promise<Chosen> {
    const { name, share } = this.#table;
    const names = listOf(limits.named);
    const first = async (from: string, order: string, rows: number): Promise<Chosen> => {
      const found = await query<ClientRows>(
        `SELECT client, count(*) AS rows ${from} ORDER BY ${order} LIMIT $2`,
        [names, Math.min(rows, CHOSEN_CLIENTS)],
      );
      return { isWhole: true, clients: takeClients(found, rows) };
    };
    const [newcomers] = await query<{ rows: number }>(
      `SELECT coalesce(sum(rows), 0) AS rows FROM (SELECT count(*) AS rows ${newcomersOf(name)}) AS newcomers`,
      [names],
    );
    const ofNewcomers = Math.floor(limits.summaryRows * share * NEWCOMERS_SHARE);
    const tooMany = Math.min(excess, (newcomers?.rows ?? 0) - ofNewcomers);
    if (tooMany > 0) return first(newcomersOf(name), "max(day), client", tooMany);
    // Each client keeps one row.
    const largest = await query<ClientRows>(
      `SELECT client, count(*) - 1 AS rows FROM ${name} WHERE client <> '${UNACCEPTED}'
        GROUP BY client HAVING count(*) > 1 ORDER BY count(*) DESC LIMIT ${CHOSEN_CLIENTS}`,
    );
    if (largest.length > 0) return { isWhole: false, clients: cutLargest(largest, excess) };
    return first(
      `FROM ${name} WHERE client <> '${UNACCEPTED}' GROUP BY client`,
      `CASE WHEN ${IS_UNNAMED} THEN 0 ELSE 1 END, max(day), client`,
      excess,
    );
  }

  /** Deletes all rows of the next clients. A client without requests is deleted completely. */
  async #cutClients(connection: Connection, excess: number): Promise<CutSummaries> {
    // Each has at least one row.
    const count = Math.min(excess, STEP_CLIENTS);
    const { clients, isWhole } = this.#chosen;
    const keys = listOf(clients.slice(0, count).map(({ client }) => client));
    this.#chosen = { isWhole, clients: clients.slice(count) };
    if (this.#table === COUNTS.usage) {
      await deleteClients(connection, keys);
      await connection.run("DELETE FROM audit_token WHERE key IN LIST($1)", [keys]);
    } else await connection.run(`DELETE FROM ${this.#table.name} WHERE client IN LIST($1)`, [keys]);
    return { clients: Math.min(count, clients.length), more: clients.length > 0 };
  }

  /** Deletes rows of the next clients. */
  async #cutRows(connection: Connection, excess: number): Promise<CutSummaries> {
    const { isWhole, clients } = this.#chosen;
    let left = Math.min(excess, STEP_ROWS);
    let at = 0;
    let rest: readonly ClientRows[] = [];
    for (let next = clients[at]; next && left > 0; next = clients[at]) {
      const rows = Math.min(next.rows, left);
      await this.#cutClient(connection, next.client, rows);
      left -= rows;
      at += 1;
      if (rows < next.rows) rest = [{ ...next, rows: next.rows - rows }];
    }
    this.#chosen = { isWhole, clients: [...rest, ...clients.slice(at)] };
    return { clients: at - rest.length, more: at > 0 };
  }

  /** Deletes the rows of a client that are the first to be deleted, but keeps at least one row. */
  async #cutClient(connection: Connection, client: string, rows: number): Promise<void> {
    const { name, key, mark, keptFirst } = this.#table;
    const columns = key.join(", ");
    await connection.run(
      `DELETE FROM ${name} WHERE (${columns}) IN (
        SELECT ${columns} FROM (
          SELECT *, row_number() OVER (ORDER BY ${keptFirst}) AS place FROM (
            SELECT *, ${mark} AS mark FROM ${name} WHERE client = $1
          ) AS marked
        ) AS placed WHERE place > 1 ORDER BY place DESC LIMIT $2
      )`,
      [client, rows],
    );
  }
}
