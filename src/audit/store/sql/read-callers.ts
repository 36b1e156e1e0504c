/** Reads the callers of routes, and the names that they sent. */
import type { CallersQuery, RouteCaller, RouteCallers, SentName } from "../../usage/callers.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { daysOf, dayText, MAX_SUMS_READ } from "../../usage/usage.ts";
import { listOf, type Connection } from "./driver.ts";
import { readAgents } from "./read-clients.ts";

const ROUTES_AND_DAYS = "route IN LIST($1) AND day >= $2 AND day <= $3";

interface CallerRow extends Pick<RouteCaller, "route" | "requests" | "days"> {
  readonly client: string;
  readonly firstDay: number;
  readonly last: number;
}

interface SentRow extends Pick<SentName, "route" | "name" | "days" | "requests"> {
  readonly client: string;
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Reads the callers of routes. */
export async function readCallers(connection: Connection, query: CallersQuery): Promise<RouteCallers> {
  const { first, last } = daysOf(query);
  const routes = listOf(query.routes);
  const values = [routes, first, last];
  const callers = await connection.query<CallerRow>(
    `SELECT client, route, sum(requests) AS requests, count(DISTINCT day) AS days, min(day) AS "firstDay", max(last) AS last
    FROM audit_usage
    WHERE ${ROUTES_AND_DAYS} AND lane <> 'native' AND client <> '${UNACCEPTED}' AND (client <> '' OR status < 400)
    GROUP BY client, route ORDER BY sum(requests) DESC LIMIT ${MAX_SUMS_READ}`,
    values,
  );
  const sent = await connection.query<SentRow>(
    `WITH daily AS (
      SELECT day, client, route, sum(requests) AS requests FROM audit_usage
      WHERE ${ROUTES_AND_DAYS} AND lane = 'alpha' GROUP BY day, client, route
    )
    SELECT client, route, name, count(*) AS days, min(day) AS "firstDay", max(day) AS "lastDay",
      coalesce(sum(requests), 0) AS requests
    FROM audit_sent LEFT JOIN daily USING (day, client, route)
    WHERE ${ROUTES_AND_DAYS} GROUP BY client, route, name
    ORDER BY coalesce(sum(requests), 0) DESC LIMIT ${MAX_SUMS_READ}`,
    values,
  );
  const names = await connection.query<{ route: string; name: string }>(
    `SELECT route, name FROM audit_counted WHERE route IN LIST($1) LIMIT ${MAX_SUMS_READ}`,
    [routes],
  );
  const [since] = await connection.query<{ day: number | null }>("SELECT min(day) AS day FROM audit_sent");
  const agents = await readAgents(connection, { ...query, clients: callers.map(({ client }) => client) });
  return {
    namesSince: since?.day === undefined || since.day === null ? null : dayText(since.day),
    callers: callers.map((row) => ({
      ...row,
      client: row.client || null,
      firstDay: dayText(row.firstDay),
      last: new Date(row.last).toISOString(),
      userAgent: agents.get(row.client)?.[0] || null,
    })),
    sent: sent.map((row) => ({
      ...row,
      client: row.client || null,
      firstDay: dayText(row.firstDay),
      lastDay: dayText(row.lastDay),
    })),
    counted: new Map(
      [...Map.groupBy(names, ({ route }) => route)].map(([route, own]) => [
        route,
        new Set(own.map(({ name }) => name)),
      ]),
    ),
  };
}
