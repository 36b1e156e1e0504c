/** On which days clients called, without each of the days. */
import type { AuditRecord } from "./record.ts";

/** Days of a client in a lane between which there is no pause longer than that of the query. */
export interface CallSpan {
  /** The key of the client. Requests without a token, and tokens that v4 never accepted, have no spans. */
  readonly client: string;
  readonly lane: AuditRecord["lane"];
  /** Days with calls, `2026-03-01`. */
  readonly firstDay: string;
  readonly lastDay: string;
}

/** A query of spans: all days of the summaries count, whatever the period of a report is. */
export interface SpanQuery {
  /** Days from one day with calls to the next one that are a pause, if there are more. */
  readonly days: number;
  /** The keys of clients. Default: all. */
  readonly clients?: readonly string[] | undefined;
}

/** Maximum number of spans that are read. */
const MAX_SPANS = 100_000;

/**
 * The statement of both stores.
 *
 * @param number Converts a day to a number of days, as SQL
 * @param source The table, and the condition of its rows
 * @param days The most days between two days of a span, as SQL
 */
export const spansStatement = (number: (day: string) => string, source: string, days: string): string => `
  WITH called AS (
    SELECT DISTINCT client, lane, day FROM ${source}
  ), paused AS (
    SELECT client, lane, day, CASE WHEN ${number("day")} - ${number("lag(day) OVER following")} <= ${days} THEN 0 ELSE 1 END AS starts
    FROM called WINDOW following AS (PARTITION BY client, lane ORDER BY day)
  ), numbered AS (
    SELECT client, lane, day, sum(starts) OVER (PARTITION BY client, lane ORDER BY day) AS span FROM paused
  )
  SELECT client, lane, min(day) AS "firstDay", max(day) AS "lastDay" FROM numbered
  GROUP BY client, lane, span ORDER BY client, lane, min(day) LIMIT ${MAX_SPANS}
`;
