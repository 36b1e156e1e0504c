/** The queries of the summaries about clients. */
import type { AuditRecord } from "../record/record.ts";
import type { LossQuery, LossUsage } from "./loss-usage.ts";
import type { ClientUsage, DayUsage, RouteUsage, TokenQuery, TokenUsage, UsageQuery } from "./usage.ts";

/** A name that a client sent to a route. */
export interface SentUsage {
  /** The key of the client; null for requests without a token. */
  readonly client: string | null;
  readonly route: string;
  /** The name: `body.label`, `body.plan=small`, `query.page`, `filter.status`, `filter.status=running`. */
  readonly name: string;
  /** The first and the last day on which it was sent, `2026-03-01`. */
  readonly firstDay: string;
  readonly lastDay: string;
  /** Number of all requests of the client to the route on the days of the query, with or without the name. */
  readonly requests: number;
}

/** A span: days of a client in a lane without a pause of the length in the query. */
export interface CallSpan {
  /** The key of the client. Requests without a token, and tokens that v4 never accepted, have no spans. */
  readonly client: string;
  readonly lane: AuditRecord["lane"];
  /** First and last day of the span, `2026-03-01`. */
  readonly firstDay: string;
  readonly lastDay: string;
}

/** A query of spans. It always reads all days of the summaries, regardless of the period of a report. */
export interface SpanQuery {
  /** Minimum number of days without calls that are treated as a pause. */
  readonly days: number;
  /** The keys of clients. Default: all. */
  readonly clients?: readonly string[] | undefined;
}

/** Reads summaries of all records. They are updated with every commit, so reading them does not scan the records. */
export interface UsageReader {
  /** Returns clients, those with the most requests first. @throws {AuditUnavailableError} */
  readonly clients: (query: UsageQuery) => Promise<readonly ClientUsage[]>;
  /** Returns tokens, at most 1000, those with the most requests first. @throws {AuditUnavailableError} */
  readonly tokens: (query: TokenQuery) => Promise<readonly TokenUsage[]>;
  /** Returns the member, parameter and filter names sent to routes; `lane` and `limit` are ignored. @throws {AuditUnavailableError} */
  readonly sent: (query: UsageQuery) => Promise<readonly SentUsage[]>;
  /** Returns the losses of requests, the most severe first; `lane` is ignored. @throws {AuditUnavailableError} */
  readonly losses: (query: LossQuery) => Promise<readonly LossUsage[]>;
  /** Returns the days on which clients called, for `cameBackOn`. @throws {AuditUnavailableError} */
  readonly spans: (query: SpanQuery) => Promise<readonly CallSpan[]>;
  /** Returns the routes of each client, those with the most requests first. @throws {AuditUnavailableError} */
  readonly usage: (query: UsageQuery) => Promise<readonly RouteUsage[]>;
  /** Returns days with requests in ascending order. @throws {AuditUnavailableError} */
  readonly days: (query: UsageQuery) => Promise<readonly DayUsage[]>;
}
