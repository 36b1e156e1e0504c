/** Reads the spans of days on which clients called, without each single day. */
import type { AuditRecord } from "./record.ts";

/** A span: days of a client in a lane without a pause of the length that the query names. */
export interface CallSpan {
  /** The key of the client. Requests without a token, and tokens that v4 never accepted, have no spans. */
  readonly client: string;
  readonly lane: AuditRecord["lane"];
  /** First and last day of the span, `2026-03-01`. */
  readonly firstDay: string;
  readonly lastDay: string;
}

/** A query of spans. It always reads all days of the summaries, whatever the period of a report is. */
export interface SpanQuery {
  /** The minimum number of days without calls that counts as a pause. */
  readonly days: number;
  /** The keys of clients. Default: all. */
  readonly clients?: readonly string[] | undefined;
}

/** Maximum number of spans that are read. */
const MAX_SPANS = 100_000;

/**
 * The statement that reads them. A span ends on the last day before the start of the next one.
 *
 * @param where The condition of rows, with `WHERE`
 * @param days The days of a pause, as SQL
 */
export const spansStatement = (where: string, days: string): string => `
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
