/**
 * The tables of the summaries whose rows are about one client and one day, with the statements that add, move and
 * delete rows.
 */
import { listOf, type Connection } from "./driver.ts";

export interface CountTable {
  readonly name: string;
  /** The columns of its key after `day` and `client`. */
  readonly key: string;
  /** Its other columns, each with a comma before it. */
  readonly others: string;
  /** The SQL that adds a row to an existing row with the same key. */
  readonly sum: string;
  /** Maximum number of rows, as a multiple of the rows of `audit_usage`. */
  readonly share: number;
  /** The order in which a client loses its rows. */
  readonly firstCut: string;
  /** The last row that a client loses, with a column for each of `day` and `key`. */
  readonly lastCut?: string;
}

const USAGE: CountTable = {
  name: "audit_usage",
  key: "lane, route, status",
  others: ", requests, lossy, first, last, sample",
  sum: `UPDATE SET
    requests = audit_usage.requests + excluded.requests,
    lossy = audit_usage.lossy + excluded.lossy,
    first = least(audit_usage.first, excluded.first),
    last = greatest(audit_usage.last, excluded.last),
    sample = greatest(audit_usage.sample, excluded.sample)`,
  share: 1,
  // Errors first.
  firstCut: "status < 400, day, last",
  // The last request of the client's API shows whether the client still uses that API.
  lastCut: `SELECT day, lane, route, status FROM audit_usage
    WHERE client = $1 AND lane <> 'native' ORDER BY last DESC, status, route LIMIT 1`,
};
const AGENTS: CountTable = {
  name: "audit_agent",
  key: "family",
  others: ", agent, last",
  sum: `UPDATE SET
    agent = CASE WHEN excluded.last >= audit_agent.last THEN excluded.agent ELSE audit_agent.agent END,
    last = greatest(audit_agent.last, excluded.last)`,
  share: 1,
  firstCut: "day, last",
};
const SENT: CountTable = {
  name: "audit_sent",
  key: "route, name",
  others: "",
  sum: "NOTHING",
  share: 4,
  firstCut: "day",
};
const LOSSES: CountTable = {
  name: "audit_loss",
  key: "route, name",
  others: ", requests",
  sum: "UPDATE SET requests = audit_loss.requests + excluded.requests",
  share: 1,
  firstCut: "day",
};

/** All these tables. */
export const COUNTS = { usage: USAGE, agents: AGENTS, sent: SENT, losses: LOSSES } as const;

/** How rows are added to rows with the same key. */
export const added = ({ key, sum }: CountTable): string => `ON CONFLICT (day, client, ${key}) DO ${sum}`;

/** Adds all counts of one key to another key. */
export async function renameClient(connection: Connection, from: string, to: string): Promise<void> {
  for (const table of Object.values(COUNTS)) {
    const { name, key, others } = table;
    const columns = `${key}${others}`;
    await connection.run(
      `INSERT INTO ${name} (day, client, ${columns})
        SELECT day, CAST($2 AS text), ${columns} FROM ${name} WHERE client = $1 ${added(table)}`,
      [from, to],
    );
    await connection.run(`DELETE FROM ${name} WHERE client = $1`, [from]);
  }
}

/** Deletes all counts of keys. @returns the number of counts */
export async function deleteClients(connection: Connection, keys: readonly string[]): Promise<number> {
  let counts = 0;
  for (const { name } of Object.values(COUNTS)) {
    const rows = await connection.run(`DELETE FROM ${name} WHERE client IN LIST($1)`, [listOf(keys)]);
    // User agents have no counts.
    if (name !== AGENTS.name) counts += rows;
  }
  return counts;
}

/** Deletes the days before a day. */
export async function deleteOldCounts(connection: Connection, firstDay: number): Promise<void> {
  for (const { name } of Object.values(COUNTS))
    await connection.run(`DELETE FROM ${name} WHERE day < $1`, [firstDay]);
}
