/** Reads facts about single clients. The number of rows that are read by an index does not depend on the size of the store. */
import type { CallsQuery, ClientCalls, PastQuery } from "../decisions.ts";
import { dayNumber, daysOf } from "../../usage/usage.ts";
import { listOf, type Connection } from "./driver.ts";

/** Number of rows that are read about a client's history: this many of the oldest, and this many of the newest rows. */
const MOST_ROWS_OF_CLIENT = 1000;

const served = (order: string): string => `EXISTS (
  SELECT 1 FROM (
    SELECT day, lane, route, status FROM audit_usage u WHERE u.client = known.client
    ORDER BY day ${order} LIMIT ${MOST_ROWS_OF_CLIENT}
  ) AS few WHERE lane <> 'native' AND (day < $2 OR (status < 400 AND route IN LIST($3)))
)`;

type Reader = Pick<Connection, "query">;

/** Whether a client has used the client's API before. */
export async function wasServed(
  connection: Reader,
  { clients, before, routes }: PastQuery,
): Promise<boolean> {
  const [row] = await connection.query<{ found: number | boolean }>(
    `WITH given (client) AS LIST($1), known (client) AS (
      SELECT client FROM given UNION SELECT key FROM audit_token WHERE fingerprint IN (SELECT client FROM given)
    )
    SELECT EXISTS (SELECT 1 FROM known WHERE ${served("ASC")} OR ${served("DESC")}) AS found`,
    [listOf(clients), dayNumber(before), listOf(routes)],
  );
  return Boolean(row?.found);
}

/** Returns the calls of a client on some days. */
export async function callsOf(connection: Reader, query: CallsQuery): Promise<ClientCalls> {
  const { first, last } = daysOf(query);
  const [row] = await connection.query<{ requests: number; calling: number }>(
    `SELECT coalesce(sum(requests), 0) AS requests, count(CASE WHEN last >= $4 AND first < $5 THEN 1 END) AS calling
    FROM audit_usage
    WHERE client IN LIST($1) AND day >= $2 AND day <= $3 AND lane <> 'native'`,
    [listOf(query.clients), first, last, Date.parse(query.since), Date.parse(query.until)],
  );
  return { requests: row?.requests ?? 0, hasCalled: (row?.calling ?? 0) > 0 };
}
