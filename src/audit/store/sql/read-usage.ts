/** Reads the summaries of requests by days, routes or tokens, and the names and losses of clients. */
import { listLosses, type LossDays, type LossQuery, type LossUsage } from "../../usage/loss-usage.ts";
import type { CallSpan, SentUsage, SpanQuery } from "../../usage/usage-reader.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import {
  daysOf,
  dayText,
  MAX_SUMS_READ,
  MAX_TOKENS_READ,
  MAX_USAGE_ROWS,
  usageKeysOf,
  type DayUsage,
  type RouteUsage,
  type TokenPage,
  type TokenQuery,
  type TokenUsage,
  type UsageQuery,
} from "../../usage/usage.ts";
import { listOf, type Connection } from "./driver.ts";
import { where, type Term, type Where } from "./where.ts";

/** Maximum number of spans that are read. */
const MAX_SPANS = 100_000;

/**
 * Returns the statement that reads spans. A span ends on the last day before the start of the next one.
 *
 * @param where The condition on rows, with `WHERE`
 * @param days The number of days of a pause, as SQL
 */
const spansStatement = (where: string, days: string): string => `
  WITH called AS (
    SELECT client, lane, day, lag(day) OVER (PARTITION BY client, lane ORDER BY day) AS before FROM audit_usage ${where}
  ), starts AS (
    SELECT client, lane, day, before FROM called WHERE before IS NULL OR day > before + ${days}
  )
  SELECT client, lane, day AS "firstDay", coalesce(
    lead(before) OVER (PARTITION BY client, lane ORDER BY day),
    (SELECT max(u.day) FROM audit_usage u WHERE u.client = starts.client AND u.lane = starts.lane)
  ) AS "lastDay" FROM starts ORDER BY client, lane, day LIMIT ${MAX_SPANS}
`;

type Reader = Pick<Connection, "query">;

/** Times of rows in milliseconds. 0 and null mean that there is no time. */
interface Times {
  readonly first: number;
  readonly last: number;
}

/** Returns the times of a row in ISO 8601. */
export const spanOf = ({ first, last }: Times): { first: string; last: string } => ({
  first: new Date(first).toISOString(),
  last: new Date(last).toISOString(),
});

/** Returns a time in ISO 8601. Null if it is 0 or missing. */
export const momentOf = (ms: number | null): string | null => (ms ? new Date(ms).toISOString() : null);

/** Returns the condition for the days and clients of a query, for any table of the summaries. */
export function clientTerms(query: UsageQuery): Term[] {
  const { first, last } = daysOf(query);
  const keys = usageKeysOf(query);
  return [
    ["day >= ?", first],
    ["day <= ?", last],
    ["client IN LIST(?)", keys && listOf(keys)],
  ];
}

/** Returns the condition for rows of `audit_usage`. */
export const usageOf = (query: UsageQuery): Where =>
  where([
    ...clientTerms(query),
    ["lane = ?", query.lane],
    ["lane <> ?", query.isClientApi ? "native" : undefined],
    ["route = ?", query.route],
  ]);

/** Reads routes. The route with the most requests comes first. */
export async function readRoutes(connection: Reader, query: UsageQuery): Promise<RouteUsage[]> {
  const condition = usageOf(query);
  const { sql, values } = condition.and(query.limit ?? MAX_USAGE_ROWS);
  const rows = await connection.query<Omit<RouteUsage, "first" | "last"> & Times>(
    `SELECT client, lane, route, status, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first,
      max(last) AS last, max(sample) AS sample
    FROM audit_usage ${condition.text} GROUP BY client, lane, route, status
    ORDER BY sum(requests) DESC, client, lane, route, status LIMIT ${sql}`,
    values,
  );
  return rows.map((row) => ({
    ...row,
    client: row.client || null,
    route: row.route || null,
    ...spanOf(row),
  }));
}

/** Reads days with requests, in ascending order. */
export async function readDays(connection: Reader, query: UsageQuery): Promise<DayUsage[]> {
  const { text, values } = usageOf(query);
  const rows = await connection.query<Omit<DayUsage, "day"> & { readonly day: number }>(
    `SELECT day, coalesce(sum(requests) FILTER (WHERE lane <> 'native'), 0) AS alpha,
      coalesce(sum(requests) FILTER (WHERE lane = 'native'), 0) AS native,
      coalesce(sum(requests) FILTER (WHERE status >= 400), 0) AS errors, sum(lossy) AS lossy,
      count(DISTINCT client) FILTER (WHERE lane <> 'native' AND client NOT IN ('', '${UNACCEPTED}')) AS "alphaClients"
    FROM audit_usage ${text} GROUP BY day ORDER BY day`,
    values,
  );
  return rows.map((row) => ({ ...row, day: dayText(row.day) }));
}

const TOKEN_COLUMNS = `
  SELECT fingerprint, key AS client, agent AS "userAgent", first, last, last_alpha AS "lastAlpha",
    last_native AS "lastNative", requests, native
  FROM audit_token
`;

interface TokenRow extends Omit<TokenUsage, "first" | "last" | "lastAlpha" | "lastNative">, Times {
  readonly lastAlpha: number;
  readonly lastNative: number;
}

const tokenOf = (row: TokenRow): TokenUsage => ({
  ...row,
  userAgent: row.userAgent || null,
  ...spanOf(row),
  lastAlpha: momentOf(row.lastAlpha),
  lastNative: momentOf(row.lastNative),
});

/** Reads tokens. The token with the most requests comes first. */
export async function readTokens(connection: Reader, query: TokenQuery): Promise<TokenUsage[]> {
  const prefix = "fingerprint" in query ? query.fingerprint : undefined;
  const { text, values } = where([
    ["key = ?", "client" in query ? query.client : undefined],
    ["substr(fingerprint, 1, ?) = ?", prefix?.length, prefix],
    ["fingerprint IN LIST(?)", "fingerprints" in query ? listOf(query.fingerprints) : undefined],
  ]);
  const rows = await connection.query<TokenRow>(
    `${TOKEN_COLUMNS} ${text} ORDER BY requests DESC, fingerprint LIMIT ${MAX_TOKENS_READ}`,
    values,
  );
  return rows.map(tokenOf);
}

/** Reads the counts of a token. @returns undefined if it was never counted */
export async function readToken(connection: Reader, fingerprint: string): Promise<TokenUsage | undefined> {
  const [row] = await connection.query<TokenRow>(`${TOKEN_COLUMNS} WHERE fingerprint = $1`, [fingerprint]);
  return row && tokenOf(row);
}

/** Reads one page of tokens, sorted by fingerprint. */
export async function readTokenPage(connection: Reader, { after, since }: TokenPage): Promise<TokenUsage[]> {
  const rows = await connection.query<TokenRow>(
    `${TOKEN_COLUMNS} WHERE fingerprint > $1 AND last_alpha >= $2 ORDER BY fingerprint LIMIT ${MAX_TOKENS_READ}`,
    [after, Date.parse(since)],
  );
  return rows.map(tokenOf);
}

interface NameDays {
  readonly client: string;
  readonly firstDay: number;
  readonly lastDay: number;
}

const namedOf = <Row extends NameDays>(row: Row) => ({
  ...row,
  client: row.client || null,
  firstDay: dayText(row.firstDay),
  lastDay: dayText(row.lastDay),
});

/** Reads the names that clients sent, those of the most frequent routes first. */
export async function readSent(connection: Reader, query: UsageQuery): Promise<SentUsage[]> {
  const { text, values } = where(clientTerms(query));
  const rows = await connection.query<Omit<SentUsage, keyof NameDays> & NameDays>(
    `WITH counted AS (
      SELECT client, route, sum(requests) AS requests FROM audit_usage ${text} GROUP BY client, route
    ), named AS (
      SELECT client, route, name, min(day) AS "firstDay", max(day) AS "lastDay" FROM audit_sent ${text}
      GROUP BY client, route, name
    )
    SELECT client, route, name, "firstDay", "lastDay", coalesce(requests, 0) AS requests
    FROM named LEFT JOIN counted USING (client, route)
    ORDER BY coalesce(requests, 0) DESC, name LIMIT ${MAX_SUMS_READ}`,
    values,
  );
  return rows.map(namedOf);
}

/** Reads the losses of requests, the most severe first. */
export async function readLosses(connection: Reader, query: LossQuery): Promise<LossUsage[]> {
  const { text, values } = where([...clientTerms(query), ["route = ?", query.route]]);
  const rows = await connection.query<Omit<LossDays, keyof NameDays> & NameDays>(
    `SELECT client, route, name, sum(requests) AS requests, min(day) AS "firstDay", max(day) AS "lastDay"
    FROM audit_loss ${text} GROUP BY client, route, name ORDER BY sum(requests) DESC LIMIT ${MAX_SUMS_READ}`,
    values,
  );
  return listLosses(rows.map(namedOf), { limit: MAX_USAGE_ROWS, ...query });
}

/** Reads the days on which clients called. */
export async function readSpans(connection: Reader, { days, clients }: SpanQuery): Promise<CallSpan[]> {
  const condition = where([
    ["client NOT IN ('', ?)", UNACCEPTED],
    ["client IN LIST(?)", clients && listOf(clients)],
  ]);
  const { sql, values } = condition.and(days);
  const rows = await connection.query<Omit<CallSpan, "firstDay" | "lastDay"> & NameDays>(
    spansStatement(condition.text, sql),
    values,
  );
  return rows.map((row) => ({ ...row, firstDay: dayText(row.firstDay), lastDay: dayText(row.lastDay) }));
}
