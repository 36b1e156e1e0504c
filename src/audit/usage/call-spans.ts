/** The spans of days on which clients called, without each single day. */
import type { AuditRecord } from "../record/record.ts";

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
