/** Adds the rows of a commit to the summaries. */
import { aggregateAgents, MOST_FAMILIES, type AgentRow } from "../../usage/count-agents.ts";
import { aggregateNames } from "../../usage/count-names.ts";
import { aggregateTokens, aggregateUsage, type CountedRow } from "../../usage/count-usage.ts";
import { added, COUNTS } from "./counts.ts";
import { listOf, type Connection } from "./driver.ts";
import type { StoredAmounts } from "./stored-amounts.ts";

const TOKEN_ADDED = `
  ON CONFLICT (fingerprint) DO UPDATE SET
    key = excluded.key,
    agent = CASE WHEN excluded.last >= audit_token.last THEN excluded.agent ELSE audit_token.agent END,
    first = least(audit_token.first, excluded.first),
    last = greatest(audit_token.last, excluded.last),
    last_alpha = greatest(audit_token.last_alpha, excluded.last_alpha),
    last_native = greatest(audit_token.last_native, excluded.last_native),
    requests = audit_token.requests + excluded.requests,
    native = audit_token.native + excluded.native
`;

/** Deletes families of user agents above the limit, the least recently used first. */
async function cutFamilies(connection: Connection, agents: readonly AgentRow[]): Promise<void> {
  await connection.run(
    `DELETE FROM audit_agent WHERE (day, client, family) IN (
      SELECT day, client, family FROM (
        SELECT day, client, family, row_number() OVER (PARTITION BY day, client ORDER BY last DESC) AS place
        FROM audit_agent WHERE day IN NUMBERS($1) AND client IN LIST($2)
      ) AS ranked WHERE place > ${MOST_FAMILIES} LIMIT ${10 * MOST_FAMILIES * agents.length}
    )`,
    [listOf(new Set(agents.map(({ day }) => day))), listOf(new Set(agents.map(({ client }) => client)))],
  );
}

/** Known families of user agents of a client and a day, so that most commits need no deletion. */
const MAX_KNOWN = 10_000;

/** Counts requests of clients, the names that they sent, their losses, and their user agents. */
export class RequestCounts {
  readonly #amounts: StoredAmounts;
  readonly #families = new Map<string, Set<string>>();

  constructor(amounts: StoredAmounts) {
    this.#amounts = amounts;
  }

  async add(connection: Connection, rows: readonly CountedRow[]): Promise<void> {
    await this.#insert(connection, "usage", aggregateUsage(rows));
    await this.#addAgents(connection, aggregateAgents(rows));
    const names = aggregateNames(rows, "sentNames").map(({ day, client, route, name }) => ({
      day,
      client,
      route,
      name,
    }));
    await this.#insert(connection, "sent", names);
    await this.#insert(connection, "losses", aggregateNames(rows, "lostNames"));
  }

  /** Counts requests of tokens. @param keys The keys of tokens that v4 has accepted */
  async addTokens(
    connection: Connection,
    rows: readonly CountedRow[],
    keys: ReadonlyMap<string, string>,
  ): Promise<void> {
    const tokens = aggregateTokens(rows, keys);
    this.#amounts.tokens.add(tokens.length);
    await connection.insert("audit_token", tokens, TOKEN_ADDED);
  }

  async #insert(connection: Connection, table: keyof typeof COUNTS, rows: readonly object[]): Promise<void> {
    this.#amounts.counts[table].add(rows.length);
    await connection.insert(COUNTS[table].name, rows, added(COUNTS[table]));
  }

  async #addAgents(connection: Connection, rows: readonly AgentRow[]): Promise<void> {
    await this.#insert(connection, "agents", rows);
    const unknown = rows.filter((row) => this.#isNew(row));
    if (unknown.length > 0) await cutFamilies(connection, unknown);
  }

  #isNew({ day, client, family }: AgentRow): boolean {
    const key = `${day} ${client}`;
    if (this.#families.size > MAX_KNOWN) this.#families.clear();
    const known = this.#families.get(key) ?? new Set();
    if (known.has(family)) return false;
    // Above the limit others are deleted, and may come back.
    if (known.size >= MOST_FAMILIES) known.clear();
    this.#families.set(key, known.add(family));
    return true;
  }
}
