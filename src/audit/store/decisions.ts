/**
 * Answers questions about single clients, on which decisions about their requests depend. Each reads few rows,
 * whatever else is stored.
 */
import type { TokenPage, TokenUsage } from "../usage/usage.ts";

/** A question about the past of one client. */
export interface PastQuery {
  /**
   * All keys of the client. The keys of its tokens are added, because its calls may have been counted under other
   * keys.
   */
  readonly clients: readonly string[];
  /** Calls of the client's API before this day count, with any status. Milliseconds since the epoch. */
  readonly before: number;
  /** From this day on, only successful calls of these routes count. */
  readonly routes: readonly string[];
}

/** A question about the calls of one client in some days. */
export interface CallsQuery {
  /** All keys of the client. */
  readonly clients: readonly string[];
  /** ISO 8601 in UTC with milliseconds; this moment included. */
  readonly since: string;
  /** The same form; this moment excluded. */
  readonly until: string;
}

/** The accepted calls of the client's API that one client sent. */
export interface ClientCalls {
  /** Calls of all days that overlap the range. */
  readonly requests: number;
  /** Whether there are calls within the range. */
  readonly hasCalled: boolean;
}

/**
 * Answers questions for which requests wait. It shares no thread or connection with the console, whose questions may
 * take long.
 */
export interface DecisionReader {
  /** Whether a client has used the client's API before. @throws {AuditUnavailableError} */
  readonly wasServed: (query: PastQuery) => Promise<boolean>;
  /** @throws {AuditUnavailableError} */
  readonly callsOf: (query: CallsQuery) => Promise<ClientCalls>;
  /** Returns one page of tokens, by their fingerprints. @throws {AuditUnavailableError} */
  readonly tokenPage: (page: TokenPage) => Promise<readonly TokenUsage[]>;
}
