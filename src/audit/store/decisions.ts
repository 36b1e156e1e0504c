/** Questions about single clients, by which the gateway decides about their requests. Each reads few rows, whatever else is stored. */
import type { TokenPage, TokenUsage } from "../usage/usage.ts";

/** A question about the past of one client. */
export interface PastQuery {
  /** All keys of the client. Those of its tokens are added, which may have been counted under others. */
  readonly clients: readonly string[];
  /** Calls of the client's API before this day count, whatever their status is. Milliseconds since the epoch. */
  readonly before: number;
  /** Since that day calls of these routes count that had no error. */
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
  /** Those of all days that are in the range, if only in part. */
  readonly requests: number;
  /** Whether there are any in the range itself. */
  readonly hasCalled: boolean;
}

/**
 * Answers questions that requests wait for. It shares no thread and no connection with the console, whose questions may take
 * long.
 */
export interface DecisionReader {
  /** Whether a client used the client's API before. @throws {AuditUnavailableError} */
  readonly wasServed: (query: PastQuery) => Promise<boolean>;
  /** @throws {AuditUnavailableError} */
  readonly callsOf: (query: CallsQuery) => Promise<ClientCalls>;
  /** Returns one page of tokens, by their fingerprints. @throws {AuditUnavailableError} */
  readonly tokenPage: (page: TokenPage) => Promise<readonly TokenUsage[]>;
}
