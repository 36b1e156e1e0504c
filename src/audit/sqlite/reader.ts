import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";
import { clampLimit, PAGE_SIZE, queryEnd, writeCursor } from "../paging.ts";
import type { AuditQuery, TextPage } from "../store.ts";
import { daysOf, MAX_USAGE_ROWS } from "../usage.ts";
import type { ClientUsage, RouteUsage, UsageQuery } from "../usage.ts";
import type { ReaderJob } from "./worker-messages.ts";

type Row = Record<string, unknown>;

interface Where {
  /** With `WHERE`, or empty. */
  readonly text: string;
  readonly values: SQLInputValue[];
}

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

/**
 * Opens the database for reading. It runs in a separate thread, so that long queries do not delay commits.
 *
 * @returns A function that runs one job.
 * @throws {Error} If there is no such database.
 */
export function openReader(file: string): (job: ReaderJob) => unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16384");
  const byId = database.prepare("SELECT record FROM audit WHERE id = ?");

  function page(query: AuditQuery): TextPage {
    const limit = clampLimit(query);
    const { text, values } = recordsOf(query);
    const rows = database
      .prepare(`SELECT time, seq, record FROM audit ${text} ORDER BY time DESC, seq DESC LIMIT ${limit + 1}`)
      .iterate(...values);
    const records: string[] = [];
    let size = 0;
    let next: string | null = null;
    for (const { time, seq, record } of rows) {
      const whole = String(record);
      size += whole.length;
      if (records.length === limit || (records.length > 0 && size > PAGE_SIZE)) return { records, next };
      records.push(whole);
      next = writeCursor({ time: Number(time), seq: Number(seq) });
    }
    return { records, next: null };
  }

  function count(query: AuditQuery): number {
    const { text, values } = recordsOf(query);
    return Number(database.prepare(`SELECT count(*) AS count FROM audit ${text}`).get(...values)?.["count"]);
  }

  function summary(statement: (where: string) => string, query: UsageQuery, limit: number[] = []): Row[] {
    const { text, values } = usageOf(query);
    return database.prepare(statement(text)).all(...values, ...limit);
  }

  return function work(job) {
    if (job.kind === "page") return page(job.query);
    if (job.kind === "get") return byId.get(job.id)?.["record"];
    if (job.kind === "count") return count(job.query);
    if (job.kind === "close") return database.close();
    const { limit = MAX_USAGE_ROWS } = job.query;
    if (job.kind === "days") return summary(DAYS, job.query);
    if (job.kind === "clients") return summary(CLIENTS, job.query, [limit]).map(clientOf);
    return summary(ROUTES, job.query, [limit]).map(routeOf);
  };
}

function recordsOf(query: AuditQuery): Where {
  const { client, route, status, since } = query;
  const { cursor, until } = queryEnd(query);
  return where([
    ["client = ?", client],
    ["route = ?", route],
    ["status = ?", status],
    ["time >= ?", since && Date.parse(since)],
    ["time < ?", until],
    ["(time, seq) < (?, ?)", cursor?.time, cursor?.seq],
  ]);
}

function usageOf(query: UsageQuery): Where {
  const { first, last } = daysOf(query);
  return where([
    ["day >= ?", first],
    ["day <= ?", last],
    ["client = ?", query.client === null ? "" : query.client],
  ]);
}

type Term = readonly [condition: string, ...values: (SQLInputValue | undefined)[]];

/** Joins the terms that have values with AND. */
function where(terms: readonly Term[]): Where {
  const given = terms.filter(([, value]) => value !== undefined);
  const text = given.map(([condition]) => condition).join(" AND ");
  return {
    text: text && `WHERE ${text}`,
    values: given.flatMap(([, ...values]) => values as SQLInputValue[]),
  };
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
