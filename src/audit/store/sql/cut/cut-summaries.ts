/** Deletes summaries that are too old, and summaries above their limits, in small steps. */
import { DAY_MS } from "../../../../base/text/dates.ts";
import { dayNumber, NEWCOMERS_SHARE } from "../../../usage/usage.ts";
import type { StoreLimits } from "../../store.ts";
import { COUNTS, TOKENS } from "../counts.ts";
import { TableCut, type CutSummaries } from "./cut-table.ts";
import { listOf, type Connection, type Driver } from "../driver.ts";
import { keptOf, rowCount, STEP_ROWS } from "./row-count.ts";

/** Selects the newcomers among the tokens: tokens of unnamed clients that were only used on one day. */
const NEW_TOKENS = `FROM audit_token WHERE first / ${DAY_MS} = last / ${DAY_MS} AND fingerprint NOT IN LIST($1)`;

/** Deletes some tokens that are too old, or too many: newcomers above their share, then the least recently used ones. */
class TokenCut {
  readonly name = TOKENS.name;
  readonly rows = rowCount(TOKENS.name);

  async step(driver: Driver, limits: StoreLimits): Promise<CutSummaries> {
    const limit = limits.summaryTokens;
    const excess = await this.rows.excess(driver.query, limit, keptOf(limit));
    const deleted = await driver.write(async (connection) => {
      await connection.run("DELETE FROM audit_erased WHERE time < $1", [limits.usageBefore]);
      await connection.run("DELETE FROM audit_counted WHERE day < $1", [dayNumber(limits.usageBefore)]);
      const old = await connection.run(
        `DELETE FROM audit_token WHERE fingerprint IN (
          SELECT fingerprint FROM audit_token WHERE last < $1 LIMIT ${STEP_ROWS}
        )`,
        [limits.usageBefore],
      );
      if (old > 0 || excess === 0) return old;
      return cutTokens(connection, limits, Math.min(excess, STEP_ROWS));
    });
    return { clients: 0, more: deleted === STEP_ROWS || (deleted > 0 && excess > 0) };
  }
}

/** Deletes a number of tokens. @returns the number of deleted tokens */
async function cutTokens(connection: Connection, limits: StoreLimits, count: number): Promise<number> {
  const names = listOf(limits.named);
  const [newcomers] = await connection.query<{ count: number }>(`SELECT count(*) AS count ${NEW_TOKENS}`, [
    names,
  ]);
  const tooMany = (newcomers?.count ?? 0) - Math.floor(limits.summaryTokens * NEWCOMERS_SHARE);
  const cut = (chosen: string, most: number): Promise<number> =>
    connection.run(`DELETE FROM audit_token WHERE fingerprint IN (SELECT fingerprint ${chosen} LIMIT $2)`, [
      names,
      Math.max(most, 0),
    ]);
  const ofNewcomers = await cut(`${NEW_TOKENS} ORDER BY last`, Math.min(count, tooMany));
  const others = await cut("FROM audit_token ORDER BY fingerprint IN LIST($1), last", count - ofNewcomers);
  return ofNewcomers + others;
}

/** Deletes summaries of a store, one table at a time. */
export class SummaryCuts {
  readonly #driver: Driver;
  // Usage is the first of the tables by client: a client that is deleted there is deleted in all tables.
  readonly #cuts = [new TokenCut(), ...Object.values(COUNTS).map((table) => new TableCut(table))];
  #next = 0;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** Returns a connection that counts the rows that a commit adds. */
  counting({ query, run, insert }: Connection): Connection {
    return {
      query,
      run,
      insert: (table, rows, conflict) => {
        this.#cuts.find(({ name }) => name === table)?.rows.add(rows.length);
        return insert(table, rows, conflict);
      },
    };
  }

  /** Deletes some rows of the next table. */
  async step(limits: StoreLimits): Promise<CutSummaries> {
    const at = this.#next;
    // This is done even after an error: the other tables must not wait for one that fails.
    this.#next = (at + 1) % this.#cuts.length;
    const { clients, more = false } = (await this.#cuts[at]?.step(this.#driver, limits)) ?? { clients: 0 };
    if (more) this.#next = at;
    return { clients, more: more || this.#next > 0 };
  }
}
