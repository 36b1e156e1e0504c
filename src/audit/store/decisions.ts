/** Questions about single clients, by which the gateway decides about their requests. Each reads few rows, whatever else is stored. */
import { dayOf, daysOf, type TokenPage, type TokenUsage } from "../usage/usage.ts";

/** Rows of a client that a question about its past reads: so many of its oldest ones, and as many of its newest. */
export const MOST_ROWS_OF_CLIENT = 1000;

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

/** The parameters of `pastStatement`. */
export const pastValues = ({ clients, before, routes }: PastQuery) => ({
  clients,
  day: dayOf(before),
  routes,
});

/** The parameters of `callsStatement`. */
export const callsValues = ({ clients, since, until }: CallsQuery) => ({
  clients,
  ...daysOf({ since, until }),
  since: Date.parse(since),
  until: Date.parse(until),
});

/** What is different in the statements of a store. */
interface DecisionSource {
  readonly usage: string;
  readonly token: string;
  /** Returns the texts of a list that is parameter N, as a subquery. */
  readonly listed: (parameter: number) => string;
  /** Returns parameter N as SQL. */
  readonly value: (parameter: number) => string;
}

/** Parameters: the keys of the client, the day, the routes. */
export function pastStatement({ usage, token, listed, value }: DecisionSource): string {
  const served = (order: string): string => `EXISTS (
    SELECT 1 FROM (
      SELECT day, lane, route, status FROM ${usage} u WHERE u.client = known.client
      ORDER BY day ${order} LIMIT ${MOST_ROWS_OF_CLIENT}
    ) AS few WHERE lane <> 'native' AND (day < ${value(2)} OR (status < 400 AND route IN ${listed(3)}))
  )`;
  return `
    WITH given (client) AS ${listed(1)}, known (client) AS (
      SELECT client FROM given UNION SELECT key FROM ${token} WHERE fingerprint IN (SELECT client FROM given)
    )
    SELECT EXISTS (SELECT 1 FROM known WHERE ${served("ASC")} OR ${served("DESC")}) AS found
  `;
}

/** Parameters: the keys of the client, the first and the last day, the first moment and that after the last. */
export const callsStatement = ({ usage, listed, value }: DecisionSource): string => `
  SELECT coalesce(sum(requests), 0) AS requests, count(CASE WHEN last >= ${value(4)} AND first < ${value(5)} THEN 1 END) AS calling
  FROM ${usage}
  WHERE client IN ${listed(1)} AND day >= ${value(2)} AND day <= ${value(3)} AND lane <> 'native'
`;
