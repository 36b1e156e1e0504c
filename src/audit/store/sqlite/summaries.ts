import type { DatabaseSync, StatementSync } from "node:sqlite";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import {
  CLIENT_STEP,
  cutLargest,
  DAY_MS,
  dayOf,
  NEWCOMERS_SHARE,
  SUMMARY_STEP_ROWS,
  takeClients,
  type ClientRows,
} from "../../usage/usage.ts";
import type { PurgeLimits, PurgeResult } from "../purge.ts";
import { allRows } from "./rows.ts";
import { type UsageRow, subtractFromUnaccepted } from "../../usage/count-usage.ts";

const ADDED = `
  ON CONFLICT DO UPDATE SET
    requests = requests + excluded.requests,
    lossy = lossy + excluded.lossy,
    first = min(first, excluded.first),
    last = max(last, excluded.last),
    sample = iif(excluded.last >= last, excluded.sample, sample),
    agent = iif(excluded.last >= last, excluded.agent, agent)
`;
const COUNT = `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${ADDED}`;
const COPY = `
  INSERT INTO usage SELECT day, ?, lane, route, status, requests, lossy, first, last, sample, agent
  FROM usage WHERE client = ? ${ADDED}
`;

/** The tables of the summaries and their indexes. */
const TABLES =
  "'usage', 'usage_client', 'usage_route', 'token', 'token_key', 'sent', 'sent_client', 'sent_route', 'sent_names', 'loss', 'loss_client', 'loss_names'";
const BYTES = `SELECT sum(pgsize) AS bytes FROM dbstat WHERE name IN (${TABLES})`;

/** The clients with the most rows. */
const LARGEST = `
  SELECT client, count(*) AS rows FROM usage WHERE client <> '${UNACCEPTED}' GROUP BY client
  ORDER BY 2 DESC LIMIT ${SUMMARY_STEP_ROWS + 1}
`;
const DELETE_UNACCEPTED = `
  DELETE FROM usage WHERE (day, client, lane, route, status) IN (
    SELECT day, client, lane, route, status FROM usage WHERE client = '${UNACCEPTED}' ORDER BY day, last LIMIT ?
  )
`;
/** All rows of a client but its last request of the client's API: errors first, then the oldest days. */
const DELETE_OF_CLIENT = `
  DELETE FROM usage WHERE (day, client, lane, route, status) IN (
    SELECT day, client, lane, route, status FROM usage
    WHERE client = ?1 AND (day, lane, route, status) IS NOT (
      SELECT day, lane, route, status FROM usage
      WHERE client = ?1 AND lane <> 'native' ORDER BY last DESC, status, route LIMIT 1
    )
    ORDER BY status < 400, day, last LIMIT ?2
  )
`;

/** Clients that no login server, no proxy and no directory has named. */
const IS_UNNAMED = `
  client NOT IN ('', '${UNACCEPTED}') AND client NOT GLOB 'label:*' AND client NOT GLOB 'application:*'
  AND client NOT IN (SELECT value FROM json_each(?1))
`;
/** Rows of a client may have been deleted: its token says whether it has called on several days. */
const IS_NEW_TOKEN = `
  client NOT IN (SELECT fingerprint FROM token WHERE first / ${DAY_MS} < last / ${DAY_MS})
`;
/** Clients without a name that called on one day only. */
const NEWCOMERS = `
  FROM usage WHERE ${IS_UNNAMED} GROUP BY client HAVING min(day) = max(day) AND ${IS_NEW_TOKEN}
`;
const COUNT_NEWCOMERS = `
  SELECT coalesce(sum(rows), 0) AS rows FROM (SELECT count(*) AS rows ${NEWCOMERS}) AS newcomers
`;
const OLDEST_NEWCOMERS = `
  SELECT client, count(*) AS rows ${NEWCOMERS} ORDER BY max(day), client LIMIT ?2
`;
/** All clients, those without a name first, and of these the oldest. */
const OLDEST = `
  SELECT client, count(*) AS rows FROM usage WHERE client <> '${UNACCEPTED}'
  GROUP BY client ORDER BY (${IS_UNNAMED}) DESC, max(day), client LIMIT ?2
`;
/** The tables that have rows of a client, and the column with its key. */
const OF_CLIENTS = { usage: "client", sent: "client", loss: "client", token: "key" } as const;

/** The size is measured again when the number of rows has changed by more than this share. */
const REMEASURED_AT = 0.05;

type SummaryLimits = Pick<PurgeLimits, "usageBefore" | "summaryRows" | "named">;

/** The summaries of the requests of each day, which outlive the records. Its calls are parts of the writer's transactions. */
export class Summaries {
  readonly #database: DatabaseSync;
  readonly #count: StatementSync;
  readonly #copy: StatementSync;
  readonly #deleteOf: StatementSync;
  readonly #unaccepted: StatementSync;
  readonly #deleteEmpty: StatementSync;
  readonly #rows: StatementSync;
  #measured = { rows: 0, bytes: 0 };

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#count = database.prepare(COUNT);
    this.#copy = database.prepare(COPY);
    this.#deleteOf = database.prepare("DELETE FROM usage WHERE client = ?");
    this.#unaccepted = database.prepare(
      `SELECT 1 FROM usage WHERE day = ? AND client = '${UNACCEPTED}' AND lane = ? AND route = ? AND status = ?`,
    );
    this.#deleteEmpty = database.prepare(
      `DELETE FROM usage WHERE day = ? AND client = '${UNACCEPTED}' AND requests <= 0`,
    );
    this.#rows = database.prepare("SELECT count(*) AS rows FROM usage");
  }

  /** Adds to the summary that has the same day, client, route and status. */
  add(row: UsageRow): void {
    const { day, client, lane, route, status, requests, lossy, first, last, sample, agent } = row;
    this.#count.run(day, client, lane, route, status, requests, lossy, first, last, sample, agent);
  }

  /** Adds requests that were counted under `UNACCEPTED` before, and subtracts them there. */
  claim(row: UsageRow): void {
    this.add(row);
    const { day, lane, route, status } = row;
    if (this.#unaccepted.get(day, lane, route, status)) this.add(subtractFromUnaccepted(row));
    this.#deleteEmpty.run(day);
  }

  /** Adds all that is counted under one key to another key. */
  rename(from: string, to: string): void {
    if (Number(this.#copy.run(to, from).changes) > 0) this.#deleteOf.run(from);
  }

  /**
   * Deletes the summaries of days before the retention, and some of those above the limit: of callers without an accepted
   * token, then newcomers above their share, then rows of the clients with the most, so that nobody else's few rows go. When
   * no client has more than one row, the oldest clients go.
   */
  purge({ usageBefore, summaryRows: maxRows, named }: SummaryLimits): Pick<PurgeResult, "clients" | "more"> {
    const database = this.#database;
    database.prepare("DELETE FROM usage WHERE day < ?").run(dayOf(usageBefore));
    const excess = this.#countRows() - maxRows;
    if (excess <= 0) return { clients: 0, more: false };
    const step = Math.min(excess, SUMMARY_STEP_ROWS);
    const ofStrangers = Number(database.prepare(DELETE_UNACCEPTED).run(step).changes);
    if (ofStrangers === step) return { clients: 0, more: excess > step };
    const names = JSON.stringify(named);
    const ofNewcomers = Number(database.prepare(COUNT_NEWCOMERS).get(names)?.["rows"] ?? 0);
    const left = excess - ofStrangers;
    const tooMany = Math.min(left, Math.ceil(ofNewcomers - maxRows * NEWCOMERS_SHARE));
    let clients = tooMany > 0 ? this.#deleteFirst(OLDEST_NEWCOMERS, names, tooMany) : 0;
    if (clients === 0 && this.#cutLargest(step - ofStrangers) === 0)
      clients = this.#deleteFirst(OLDEST, names, left);
    return { clients, more: this.#countRows() > maxRows };
  }

  /** @returns how many rows were deleted */
  #cutLargest(excess: number): number {
    const largest = allRows<ClientRows>(this.#database.prepare(LARGEST));
    const deleteOf = this.#database.prepare(DELETE_OF_CLIENT);
    return cutLargest(largest, excess).reduce(
      (sum, { client, rows }) => sum + Number(deleteOf.run(client, rows).changes),
      0,
    );
  }

  /** Deletes the first clients of a list that have so many rows together. @returns how many */
  #deleteFirst(list: string, names: string, rows: number): number {
    const found = allRows<ClientRows>(this.#database.prepare(list), names, Math.min(rows, CLIENT_STEP));
    const clients = takeClients(found, rows);
    const keys = JSON.stringify(clients);
    for (const [table, column] of Object.entries(OF_CLIENTS))
      this.#database
        .prepare(`DELETE FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`)
        .run(keys);
    return clients.length;
  }

  /** The size of the summaries in the file. To measure a large table takes a second: it is estimated in between. */
  bytes(): number {
    const rows = this.#countRows();
    const { rows: before, bytes } = this.#measured;
    if (before > 0 && Math.abs(rows - before) <= before * REMEASURED_AT) return bytes * (rows / before);
    this.#measured = { rows, bytes: Number(this.#database.prepare(BYTES).get()?.["bytes"] ?? 0) };
    return this.#measured.bytes;
  }

  #countRows(): number {
    return Number(this.#rows.get()?.["rows"] ?? 0);
  }
}
