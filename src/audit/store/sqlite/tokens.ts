import type { DatabaseSync, StatementSync } from "node:sqlite";
import { sendersOf, type KnownSenders, type Sender } from "../../usage/summary-key.ts";
import { DAY_MS, NEWCOMERS_SHARE } from "../../usage/usage.ts";
import type { PurgeLimits } from "../purge.ts";
import type { TokenRow } from "../../usage/count-usage.ts";

const COUNT = `
  INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET
    key = excluded.key,
    agent = iif(excluded.last >= last, excluded.agent, agent),
    first = min(first, excluded.first),
    last = max(last, excluded.last),
    last_alpha = max(last_alpha, excluded.last_alpha),
    last_native = max(last_native, excluded.last_native),
    requests = requests + excluded.requests,
    native = native + excluded.native
`;
/** Tokens of clients without a name that were used on one day only. */
const NEWCOMERS = `
  first / ${DAY_MS} = last / ${DAY_MS} AND fingerprint NOT IN (SELECT value FROM json_each(?1))
`;
const LEAST_USED_NEWCOMERS = `
  DELETE FROM token WHERE fingerprint IN (
    SELECT fingerprint FROM token WHERE ${NEWCOMERS} ORDER BY last LIMIT max(0, min(
      (SELECT count(*) FROM token) - ?2,
      (SELECT count(*) FROM token WHERE ${NEWCOMERS}) - cast(?2 * ${NEWCOMERS_SHARE} AS INTEGER)
    ))
  )
`;
const LEAST_USED = `
  DELETE FROM token WHERE fingerprint IN (
    SELECT fingerprint FROM token ORDER BY fingerprint IN (SELECT value FROM json_each(?1)), last
    LIMIT max(0, (SELECT count(*) FROM token) - ?2)
  )
`;

/** The tokens that v4 has accepted, and the clients that they belong to. Its calls are parts of the writer's transactions. */
export class Tokens {
  readonly #count: StatementSync;
  readonly #keyOf: StatementSync;
  readonly #hasUsage: StatementSync;
  readonly #deleteBefore: StatementSync;
  readonly #deleteNewcomers: StatementSync;
  readonly #deleteLeastUsed: StatementSync;

  constructor(database: DatabaseSync) {
    this.#count = database.prepare(COUNT);
    this.#keyOf = database.prepare("SELECT key FROM token WHERE fingerprint = ?");
    this.#hasUsage = database.prepare("SELECT 1 FROM usage WHERE client = ? LIMIT 1");
    this.#deleteBefore = database.prepare("DELETE FROM token WHERE last < ?");
    this.#deleteNewcomers = database.prepare(LEAST_USED_NEWCOMERS);
    this.#deleteLeastUsed = database.prepare(LEAST_USED);
  }

  /** Looks up the senders of a commit. */
  find(rows: readonly Sender[]): KnownSenders {
    const { tokens, applications } = sendersOf(rows);
    const keys = tokens.flatMap((fingerprint): [string, string][] => {
      const key = this.#keyOf.get(fingerprint)?.["key"];
      return key === undefined ? [] : [[fingerprint, String(key)]];
    });
    return {
      tokens: new Map(keys),
      applications: new Set(applications.filter((key) => this.#hasUsage.get(key) !== undefined)),
    };
  }

  add({ fingerprint, key, agent, first, last, lastAlpha, lastNative, requests, native }: TokenRow): void {
    this.#count.run(fingerprint, key, agent, first, last, lastAlpha, lastNative, requests, native);
  }

  /**
   * Deletes tokens that were not used since a time, and those above the maximum number: of newcomers above their share, then
   * those that were not used for the longest time.
   */
  purge(before: number, { summaryTokens, named }: Pick<PurgeLimits, "summaryTokens" | "named">): void {
    this.#deleteBefore.run(before);
    const names = JSON.stringify(named);
    this.#deleteNewcomers.run(names, summaryTokens);
    this.#deleteLeastUsed.run(names, summaryTokens);
  }
}
