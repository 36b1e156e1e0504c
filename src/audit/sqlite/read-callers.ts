import type { DatabaseSync } from "node:sqlite";
import { countNames, type CallersQuery, type RouteCaller, type RouteCallers } from "../callers.ts";
import { UNACCEPTED } from "../summary-key.ts";
import { daysOf } from "../usage.ts";

const ROUTES_AND_DAYS = "route IN (SELECT value FROM json_each(?)) AND day >= ? AND day <= ?";
/** Days are counted in the order of the index. The bare column `agent` is that of the row with the greatest `last`. */
const CALLERS = `
  SELECT client, route, sum(requests) AS requests, count(*) AS days, min(day) AS firstDay,
    substr(max(format('%015d%s', last, agent)), 16) AS agent, max(last) AS last
  FROM (
    SELECT client, route, day, sum(requests) AS requests, agent, max(last) AS last FROM usage
    WHERE ${ROUTES_AND_DAYS} AND lane = 'alpha' AND client <> '${UNACCEPTED}' AND (client <> '' OR status < 400)
    GROUP BY route, client, day
  ) GROUP BY client, route
`;
const SENT = `
  SELECT client, route, pack, bits, count(*) AS days, min(day) AS firstDay, max(day) AS lastDay, sum((
    SELECT sum(requests) FROM usage
    WHERE usage.day = sent.day AND usage.client = sent.client AND lane = 'alpha' AND usage.route = sent.route
  )) AS requests
  FROM sent WHERE ${ROUTES_AND_DAYS} GROUP BY client, route, pack, bits
`;
const NAMES = "SELECT pack, route, names FROM sent_names WHERE route IN (SELECT value FROM json_each(?))";

type Row = Record<string, unknown>;

function callerOf({ client, agent, last, ...counts }: Row): RouteCaller {
  return {
    ...(counts as unknown as Pick<RouteCaller, "route" | "requests" | "days" | "firstDay">),
    client: client === "" ? null : String(client),
    userAgent: typeof agent === "string" && agent !== "" ? agent : null,
    last: new Date(Number(last)).toISOString(),
  };
}

/** Reads who called routes, and which names they sent. */
export function readCallers(database: DatabaseSync, query: CallersQuery): RouteCallers {
  const routes = JSON.stringify(query.routes);
  const { first, last } = daysOf(query);
  const lists = database.prepare(NAMES).all(routes) as unknown as {
    pack: string;
    route: string;
    names: string;
  }[];
  return {
    namesSince: (database.prepare("SELECT min(day) AS day FROM sent").get()?.["day"] ?? null) as
      | string
      | null,
    callers: database.prepare(CALLERS).all(routes, first, last).map(callerOf),
    ...countNames(
      database.prepare(SENT).iterate(routes, first, last) as Iterable<never>,
      lists.map(({ names, ...list }) => ({ ...list, names: JSON.parse(names) as string[] })),
    ),
  };
}
