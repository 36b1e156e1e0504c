import {
  countNames,
  type CallersQuery,
  type CountedNames,
  type RouteCaller,
  type RouteCallers,
  type SentCalls,
} from "../../usage/callers.ts";
import { bytesOfBits } from "../../usage/sent-members.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { daysOf, MAX_SUMS_READ } from "../../usage/usage.ts";
import type { Database } from "./database.ts";

const ROUTES_AND_DAYS = "route = ANY($1::text[]) AND day >= $2 AND day <= $3";
const CALLERS = `
  SELECT client, route, sum(requests)::float8 AS requests, count(DISTINCT day)::float8 AS days, min(day) AS "firstDay",
    max(last)::float8 AS last, (array_agg(agent ORDER BY last DESC))[1] AS "userAgent"
  FROM audit_usage
  WHERE ${ROUTES_AND_DAYS} AND lane <> 'native' AND client <> '${UNACCEPTED}' AND (client <> '' OR status < 400)
  GROUP BY client, route ORDER BY sum(requests) DESC LIMIT ${MAX_SUMS_READ}
`;
const SENT = `
  WITH daily AS (
    SELECT day, client, route, sum(requests) AS requests FROM audit_usage
    WHERE ${ROUTES_AND_DAYS} AND lane = 'alpha' GROUP BY day, client, route
  )
  SELECT client, route, pack, bits::text AS bits, count(*)::float8 AS days, min(day) AS "firstDay",
    max(day) AS "lastDay", coalesce(sum(requests), 0)::float8 AS requests
  FROM audit_sent LEFT JOIN daily USING (day, client, route)
  WHERE ${ROUTES_AND_DAYS} GROUP BY client, route, pack, audit_sent.bits
  ORDER BY coalesce(sum(requests), 0) DESC LIMIT ${MAX_SUMS_READ}
`;
const NAMES = "SELECT pack, route, names FROM audit_sent_names WHERE route = ANY($1::text[])";

type SentTexts = Omit<SentCalls, "bits"> & { readonly bits: string };

/** Reads who called routes, and which names they sent. @throws {AuditUnavailableError} */
export async function readCallers(database: Database, query: CallersQuery): Promise<RouteCallers> {
  const { first, last } = daysOf(query);
  const values = [query.routes, first, last];
  const callers = await database.query<RouteCaller>(CALLERS, values);
  const sent = await database.query<SentTexts>(SENT, values);
  const lists = await database.query<CountedNames & { readonly [column: string]: unknown }>(NAMES, [
    query.routes,
  ]);
  const [since] = await database.query<{ readonly day: string | null }>(
    "SELECT min(day) AS day FROM audit_sent",
  );
  return {
    namesSince: since?.day ?? null,
    callers: callers.map((row) => ({
      ...row,
      client: row.client || null,
      last: new Date(row.last).toISOString(),
    })),
    ...countNames(
      sent.map((row) => ({ ...row, bits: bytesOfBits(row.bits) })),
      lists,
    ),
  };
}
