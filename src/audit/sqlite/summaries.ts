import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LEAST_WORTH_ORDER, subtractFromUnaccepted, UNACCEPTED, type UsageRow } from "../usage.ts";

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

/** The size of the summaries in the file. */
const SUMMARY_BYTES =
  "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name IN ('usage', 'sqlite_autoindex_usage_1')";
const LEAST = `
  DELETE FROM usage WHERE (day, client, lane, route, status) IN (
    SELECT day, client, lane, route, status FROM usage ORDER BY ${LEAST_WORTH_ORDER}
    LIMIT max(0, (SELECT count(*) FROM usage) - ?)
  )
`;

/** The summaries of the requests of each day, which outlive the records. Its calls are parts of the writer's transactions. */
export class Summaries {
  readonly #count: StatementSync;
  readonly #unaccepted: StatementSync;
  readonly #deleteEmpty: StatementSync;
  readonly #deleteBefore: StatementSync;
  readonly #deleteLeast: StatementSync;
  readonly #ofClient: StatementSync;
  readonly #bytes: StatementSync;

  constructor(database: DatabaseSync) {
    this.#count = database.prepare(COUNT);
    this.#unaccepted = database.prepare(
      `SELECT 1 FROM usage WHERE day = ? AND client = '${UNACCEPTED}' AND lane = ? AND route = ? AND status = ?`,
    );
    this.#deleteEmpty = database.prepare(
      `DELETE FROM usage WHERE day = ? AND client = '${UNACCEPTED}' AND requests <= 0`,
    );
    this.#deleteBefore = database.prepare("DELETE FROM usage WHERE day < ?");
    this.#deleteLeast = database.prepare(LEAST);
    this.#ofClient = database.prepare("SELECT 1 FROM usage WHERE day = ? AND client = ? LIMIT 1");
    this.#bytes = database.prepare(SUMMARY_BYTES);
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

  /** Whether a client has a summary of a day. */
  has(day: string, client: string): boolean {
    return this.#ofClient.get(day, client) !== undefined;
  }

  /** Deletes the summaries of days before a day, and those of the least worth above a number. */
  purge(firstDay: string, maxRows: number): void {
    this.#deleteBefore.run(firstDay);
    this.#deleteLeast.run(maxRows);
  }

  /** The size of the summaries in the file. */
  bytes(): number {
    return Number(this.#bytes.get()?.["bytes"] ?? 0);
  }
}
