import type { DatabaseSync } from "node:sqlite";
import {
  countNames,
  type CallersQuery,
  type RouteCaller,
  type RouteCallers,
  type SentCalls,
} from "../../usage/callers.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { daysOf, MAX_SUMS_READ } from "../../usage/usage.ts";
import { allRows } from "./rows.ts";

/** Of more routes than this the tables are read in the order in which they are stored: it takes half as long. */
const MOST_INDEXED = 40;

/** Which rows are read, and in which order of days. */
interface Access {
  readonly where: string;
  readonly order: string;
}
const BY_ROUTE: Access = {
  where: "day >= ? AND day <= ? AND route IN (SELECT value FROM json_each(?))",
  order: "route, client, day",
};
const BY_DAY: Access = { where: "day >= ? AND day <= ?", order: "day, client, lane, route" };

/** The bare column `agent` is that of the row with the greatest `last`. */
const CALLERS = ({ where, order }: Access): string => `
  SELECT client, route, sum(requests) AS requests, count(*) AS days, min(day) AS firstDay,
    substr(max(format('%015d%s', last, agent)), 16) AS agent, max(last) AS last
  FROM (
    SELECT client, route, day, sum(requests) AS requests, agent, max(last) AS last FROM usage
    WHERE ${where} AND +lane <> 'native' AND +client <> '${UNACCEPTED}' AND (+client <> '' OR status < 400)
    GROUP BY ${order}
  ) GROUP BY client, route ORDER BY requests DESC LIMIT ${MAX_SUMS_READ}
`;
const SENT = ({ where }: Access): string => `
  SELECT client, route, pack, bits, count(*) AS days, min(day) AS firstDay, max(day) AS lastDay, sum((
    SELECT sum(requests) FROM usage
    WHERE usage.day = sent.day AND usage.client = sent.client AND lane = 'alpha' AND usage.route = sent.route
  )) AS requests
  FROM sent WHERE ${where} GROUP BY +client, +route, pack, bits ORDER BY requests DESC LIMIT ${MAX_SUMS_READ}
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
  const { first, last } = daysOf(query);
  const routes = JSON.stringify(query.routes);
  const wanted = new Set(query.routes);
  const isWanted = ({ route }: Row): boolean => wanted.has(String(route));
  const hasMany = query.routes.length > MOST_INDEXED;
  const read = (statement: (access: Access) => string): Row[] =>
    hasMany
      ? database.prepare(statement(BY_DAY)).all(first, last).filter(isWanted)
      : database.prepare(statement(BY_ROUTE)).all(first, last, routes);
  const lists = allRows<{ pack: string; route: string; names: string }>(database.prepare(NAMES), routes);
  return {
    namesSince:
      allRows<{ day: string | null }>(database.prepare("SELECT min(day) AS day FROM sent"))[0]?.day ?? null,
    callers: read(CALLERS).map(callerOf),
    ...countNames(
      read(SENT) as unknown as SentCalls[],
      lists.map(({ names, ...list }) => ({ ...list, names: JSON.parse(names) as string[] })),
    ),
  };
}
