import type { DatabaseSync } from "node:sqlite";
import { daysOf, MAX_USAGE_ROWS, type ClientUsage, type RouteUsage, type UsageQuery } from "../usage.ts";
import { where, type Where } from "./where.ts";
import type { ReaderJob } from "./worker-messages.ts";

type Row = Record<string, unknown>;

/** SQL of the value of a column in the row with the greatest `last`. */
const OF_LAST = (column: string): string => `substr(max(format('%015d%s', last, ${column})), 16)`;

const CLIENTS = (where: string): string => `
  SELECT client, ${OF_LAST("agent")} AS agent, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first, max(last) AS last,
    sum(iif(status >= 400, requests, 0)) AS errors, sum(iif(lane = 'native', requests, 0)) AS native
  FROM usage ${where} GROUP BY client ORDER BY requests DESC, client LIMIT ?
`;
const ROUTES = (where: string): string => `
  SELECT client, lane, route, status, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first,
    max(last) AS last, ${OF_LAST("sample")} AS sample
  FROM usage ${where} GROUP BY client, lane, route, status
  ORDER BY requests DESC, client, lane, route, status LIMIT ?
`;
const DAYS = (where: string): string => `
  SELECT day, sum(iif(lane = 'alpha', requests, 0)) AS alpha, sum(iif(lane = 'native', requests, 0)) AS native,
    sum(iif(status >= 400, requests, 0)) AS errors, sum(lossy) AS lossy,
    count(DISTINCT iif(lane = 'alpha', client, NULL)) AS alphaClients
  FROM usage ${where} GROUP BY day ORDER BY day
`;

type UsageJob = Extract<ReaderJob, { readonly kind: "clients" | "usage" | "days" }>;

/** Reads the summaries of requests by their days, clients or routes. */
export function readUsage(database: DatabaseSync, { kind, query }: UsageJob): unknown[] {
  const { text, values } = usageOf(query);
  const { limit = MAX_USAGE_ROWS } = query;
  const read = (statement: (where: string) => string, ...more: number[]): Row[] =>
    database.prepare(statement(text)).all(...values, ...more);
  if (kind === "days") return read(DAYS);
  if (kind === "clients") return read(CLIENTS, limit).map(clientOf);
  return read(ROUTES, limit).map(routeOf);
}

function usageOf(query: UsageQuery): Where {
  const { first, last } = daysOf(query);
  return where([
    ["day >= ?", first],
    ["day <= ?", last],
    ["client = ?", query.client === null ? "" : query.client],
  ]);
}

function clientOf({ client, agent, first, last, ...counts }: Row): ClientUsage {
  const numbers = counts as Pick<ClientUsage, "requests" | "lossy" | "errors" | "native">;
  return { client: nullable(client), userAgent: nullable(agent), ...span(first, last), ...numbers };
}

function routeOf({ client, route, first, last, ...rest }: Row): RouteUsage {
  const others = rest as Pick<RouteUsage, "lane" | "status" | "requests" | "lossy" | "sample">;
  return { client: nullable(client), route: nullable(route), ...span(first, last), ...others };
}

function span(first: unknown, last: unknown): { first: string; last: string } {
  return { first: new Date(Number(first)).toISOString(), last: new Date(Number(last)).toISOString() };
}

function nullable(text: unknown): string | null {
  return text === "" ? null : String(text);
}
