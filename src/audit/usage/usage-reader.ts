import type { CallSpan, SpanQuery } from "./call-spans.ts";
import type { LossQuery, LossUsage } from "./loss-usage.ts";
import type { SentUsage } from "./sent-usage.ts";
import type { ClientUsage, DayUsage, RouteUsage, TokenQuery, TokenUsage, UsageQuery } from "./usage.ts";

/** Reads summaries of all records. They are updated with every commit, so reading them does not scan the records. */
export interface UsageReader {
  /** Returns clients, those with the most requests first. @throws {AuditUnavailableError} */
  readonly clients: (query: UsageQuery) => Promise<readonly ClientUsage[]>;
  /** Returns tokens, those with the most requests first: 1000 at most. @throws {AuditUnavailableError} */
  readonly tokens: (query: TokenQuery) => Promise<readonly TokenUsage[]>;
  /** Returns the names that clients sent to routes; `lane` and `limit` are ignored. @throws {AuditUnavailableError} */
  readonly sent: (query: UsageQuery) => Promise<readonly SentUsage[]>;
  /** Returns what requests lost, what weighs most first; `lane` is ignored. @throws {AuditUnavailableError} */
  readonly losses: (query: LossQuery) => Promise<readonly LossUsage[]>;
  /** Returns on which days clients called, for `cameBackOn`. @throws {AuditUnavailableError} */
  readonly spans: (query: SpanQuery) => Promise<readonly CallSpan[]>;
  /** Returns the routes of each client, those with the most requests first. @throws {AuditUnavailableError} */
  readonly usage: (query: UsageQuery) => Promise<readonly RouteUsage[]>;
  /** Returns days with requests in ascending order. @throws {AuditUnavailableError} */
  readonly days: (query: UsageQuery) => Promise<readonly DayUsage[]>;
}
