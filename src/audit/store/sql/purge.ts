/** Deletes expired and excess data, in small steps. */
import type { PurgeLimits, PurgeResult } from "../purge.ts";
import { DAY_MS, dayNumber, NEWCOMERS_SHARE } from "../../usage/usage.ts";
import { COUNTS, deleteOldCounts } from "./counts.ts";
import { SummaryCut } from "./cut-summaries.ts";
import { listOf, type Connection } from "./driver.ts";
import { makeSpace, removeOld } from "./size-limit.ts";
import type { StoredAmounts } from "./stored-amounts.ts";

/** Tokens of unnamed clients that were used on one day only. */
const NEW_TOKENS = `first / ${DAY_MS} = last / ${DAY_MS} AND fingerprint NOT IN LIST($1)`;

/** Usage first: a client that is deleted there is deleted in all tables. */
const SUMMARIES = ["usage", "agents", "sent", "losses"] as const;

/** Deletes tokens above the limit: newcomers above their share, then the least recently used ones. */
async function cutTokens(connection: Connection, excess: number, limits: PurgeLimits): Promise<void> {
  if (excess <= 0) return;
  const names = listOf(limits.named);
  const ofNewcomers = await connection.run(
    `DELETE FROM audit_token WHERE fingerprint IN (
      SELECT fingerprint FROM audit_token WHERE ${NEW_TOKENS} ORDER BY last LIMIT greatest(0, least(
        $2, (SELECT count(*) FROM audit_token WHERE ${NEW_TOKENS}) - $3
      ))
    )`,
    [names, excess, Math.floor(limits.summaryTokens * NEWCOMERS_SHARE)],
  );
  await connection.run(
    `DELETE FROM audit_token WHERE fingerprint IN (
      SELECT fingerprint FROM audit_token ORDER BY fingerprint IN LIST($1), last LIMIT $2
    )`,
    [names, excess - ofNewcomers],
  );
}

/** Deletes some expired or excess data. */
export class Purge {
  readonly #amounts: StoredAmounts;
  readonly #cuts = SUMMARIES.map((name) => ({ name, cut: new SummaryCut(COUNTS[name]) }));

  constructor(amounts: StoredAmounts) {
    this.#amounts = amounts;
  }

  async step(connection: Connection, limits: PurgeLimits): Promise<PurgeResult> {
    const { bytes, tokens } = this.#amounts;
    const usageBefore = Math.floor(limits.usageBefore);
    const firstDay = dayNumber(limits.before);
    if (await removeOld(connection, firstDay * DAY_MS)) return { evicted: 0, clients: 0, more: true };
    await connection.run("DELETE FROM audit_token WHERE last < $1", [usageBefore]);
    await cutTokens(connection, await tokens.excess(connection, limits.summaryTokens), limits);
    await connection.run("DELETE FROM audit_erased WHERE time < $1", [usageBefore]);
    await connection.run("DELETE FROM audit_counted WHERE day < $1", [dayNumber(usageBefore)]);
    await deleteOldCounts(connection, dayNumber(usageBefore));
    const { clients, more } = await this.#cutSummaries(connection, limits);
    const excess = await bytes.excess(connection, limits.sizeLimit);
    if (excess <= 0) return { evicted: 0, clients, more };
    const made = await makeSpace(connection, excess);
    return { ...made, clients, more: made.more || more };
  }

  /**
   * Deletes some of the summaries above the limit. @returns the number of clients that lost some, and whether there
   * may be more to delete
   */
  async #cutSummaries(
    connection: Connection,
    limits: PurgeLimits,
  ): Promise<Pick<PurgeResult, "clients" | "more">> {
    let [clients, more] = [0, false];
    for (const { name, cut } of this.#cuts) {
      const most = limits.summaryRows * COUNTS[name].share;
      const excess = await this.#amounts.counts[name].excess(connection, most);
      clients += await cut.step(connection, excess, limits);
      more ||= excess > 0;
    }
    return { clients, more };
  }
}
