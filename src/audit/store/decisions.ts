/**
 * Reads facts about single clients, on which decisions about their requests depend. The number of rows that are read
 * does not depend on the size of the store.
 */
import type { TokenPage, TokenUsage } from "../usage/usage.ts";

/** A query about the history of one client. */
export interface PastQuery {
  /** All keys of the client. The keys of its tokens are added, because its calls may be counted under them as well. */
  readonly clients: readonly string[];
  /** Calls of the client's API before this day match, with any status. Milliseconds since the epoch. */
  readonly before: number;
  /** From this day, only successful calls of these routes match. */
  readonly routes: readonly string[];
}

/** A query about the calls of one client on some days. */
export interface CallsQuery {
  /** All keys of the client. */
  readonly clients: readonly string[];
  /** ISO 8601 in UTC with milliseconds; inclusive. */
  readonly since: string;
  /** ISO 8601 in UTC with milliseconds; exclusive. */
  readonly until: string;
}

/** The accepted calls of the client's API that one client sent. */
export interface ClientCalls {
  /** Number of calls on all days that overlap the range. */
  readonly requests: number;
  /** Whether there are calls within the range. */
  readonly hasCalled: boolean;
}

/**
 * Runs queries that requests wait for. It shares no thread or connection with the console, whose queries may take long.
 */
export interface DecisionReader {
  /** Whether a client has used the client's API before. @throws {AuditUnavailableError} */
  readonly wasServed: (query: PastQuery) => Promise<boolean>;
  /** Returns the calls of a client. @throws {AuditUnavailableError} */
  readonly callsOf: (query: CallsQuery) => Promise<ClientCalls>;
  /** Returns one page of tokens, sorted by fingerprint. @throws {AuditUnavailableError} */
  readonly tokenPage: (page: TokenPage) => Promise<readonly TokenUsage[]>;
}
