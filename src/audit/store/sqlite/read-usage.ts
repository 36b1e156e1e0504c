import type { DatabaseSync } from "node:sqlite";
import type { Erasure } from "../erase.ts";
import { spansStatement, type CallSpan, type SpanQuery } from "../../record/call-spans.ts";
import { listLosses, type LossQuery, type LossUsage } from "../../usage/loss-usage.ts";
import { identityOfKey, UNACCEPTED } from "../../usage/summary-key.ts";
import {
  daysOf,
  MAX_SUMS_READ,
  MAX_TOKENS_READ,
  MAX_USAGE_ROWS,
  usageKeysOf,
  type ClientUsage,
  type RouteUsage,
  type TokenPage,
  type TokenQuery,
  type TokenUsage,
  type UsageQuery,
} from "../../usage/usage.ts";
import { cacheNames, listSent, type SentUsage } from "../../usage/sent-usage.ts";
import { where, type Where } from "./where.ts";
import type { ReaderJob } from "./thread/worker-messages.ts";
import { allRows } from "./rows.ts";

type Row = Record<string, unknown>;

/** SQL of the value of a column in the row with the greatest `last`. */
const OF_LAST = (column: string): string => `substr(max(format('%015d%s', last, ${column})), 16)`;

/** A pause ends with the first translated request of a day, and began with the last one of all days before. */
const CLIENTS = (where: string): string => `
  WITH daily AS (
    SELECT client, day, max(format('%015d%s', last, agent)) AS agent, sum(requests) AS requests, sum(lossy) AS lossy,
      min(first) AS first, max(last) AS last, sum(iif(status >= 400, requests, 0)) AS errors,
      sum(iif(lane = 'native', requests, 0)) AS native, max(iif(lane = 'native', last, NULL)) AS lastNative,
      min(iif(lane <> 'native', first, NULL)) AS firstAlpha, max(iif(lane <> 'native', last, NULL)) AS lastAlpha
    FROM usage ${where} GROUP BY client, day
  ), paused AS (
    SELECT *, firstAlpha - max(lastAlpha) OVER (
      PARTITION BY client ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS pause FROM daily
  )
  SELECT client, substr(max(agent), 16) AS agent, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first,
    max(last) AS last, sum(errors) AS errors, sum(native) AS native, max(lastAlpha) AS lastAlpha,
    max(lastNative) AS lastNative, max(pause) AS longestPauseMs,
    (SELECT count(*) FROM token WHERE key = client) AS tokens
  FROM paused GROUP BY client ORDER BY requests DESC, client LIMIT ?
`;
/** The clients that have the most rows: the index alone says which. */
const CHOSEN_CLIENTS = (where: string): string => `
  SELECT client FROM usage ${where} GROUP BY client ORDER BY count(*) DESC, client LIMIT ?
`;
const TOKEN_COLUMNS = `
  SELECT fingerprint, key AS client, agent, first, last, last_alpha AS lastAlpha, last_native AS lastNative, requests,
    native
  FROM token
`;
const TOKENS = (where: string): string =>
  `${TOKEN_COLUMNS} ${where} ORDER BY requests DESC, fingerprint LIMIT ${MAX_TOKENS_READ}`;
const TOKEN = `${TOKEN_COLUMNS} WHERE fingerprint = ?`;
const TOKEN_PAGE = `
  ${TOKEN_COLUMNS} WHERE fingerprint > ? AND last_alpha >= ? ORDER BY fingerprint LIMIT ${MAX_TOKENS_READ}
`;
const ROUTES = (where: string): string => `
  SELECT client, lane, route, status, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first,
    max(last) AS last, ${OF_LAST("sample")} AS sample
  FROM usage ${where} GROUP BY client, lane, route, status
  ORDER BY requests DESC, client, lane, route, status LIMIT ?
`;
const DAYS = (where: string): string => `
  SELECT day, sum(iif(lane <> 'native', requests, 0)) AS alpha, sum(iif(lane = 'native', requests, 0)) AS native,
    sum(iif(status >= 400, requests, 0)) AS errors, sum(lossy) AS lossy,
    count(DISTINCT iif(lane <> 'native' AND client NOT IN ('', '${UNACCEPTED}'), client, NULL)) AS alphaClients
  FROM usage ${where} GROUP BY day ORDER BY day
`;

const SENT = (where: string): string => `
  SELECT client, route, pack, bits, min(day) AS firstDay, max(day) AS lastDay FROM sent ${where}
  GROUP BY client, route, pack, bits ORDER BY lastDay DESC LIMIT ${MAX_SUMS_READ}
`;
const NAMES = (table: string): string => `SELECT names FROM ${table} WHERE pack = ? AND route = ?`;
const LOSSES = (where: string): string => `
  SELECT client, route, pack, place, sum(requests) AS requests, min(day) AS firstDay, max(day) AS lastDay
  FROM loss ${where} GROUP BY client, route, pack, place ORDER BY requests DESC LIMIT ${MAX_SUMS_READ}
`;
const SPANS = (where: string): string =>
  spansStatement({ table: "usage", where, lastOfSpan: (day) => `date(${day}, ? || ' days')` });
const REQUESTS = (where: string): string => `
  SELECT client, route, sum(requests) AS requests FROM usage ${where} GROUP BY client, route
  ORDER BY requests DESC LIMIT ${MAX_SUMS_READ}
`;

type UsageJob = Extract<
  ReaderJob,
  { readonly kind: "clients" | "usage" | "days" | "sent" | "losses" | "spans" | "tokens" }
>;

/** Reads the summaries of requests by their days, clients, routes or tokens. */
export function readUsage(database: DatabaseSync, job: UsageJob): unknown[] {
  if (job.kind === "losses") return readLosses(database, job.query);
  if (job.kind === "spans") return readSpans(database, job.query);
  if (job.kind === "tokens") return readTokens(database, job.query);
  const { kind, query } = job;
  const { text, values } = usageOf(query, query.route);
  const { limit = MAX_USAGE_ROWS } = query;
  const read = (statement: (where: string) => string, ...more: number[]): Row[] =>
    database.prepare(statement(text)).all(...values, ...more);
  if (kind === "days") return read(DAYS);
  if (kind === "sent") return readSent(database, query);
  if (kind === "clients") return readClients(database, query);
  return read(ROUTES, limit).map(routeOf);
}

function readClients(database: DatabaseSync, { mostClients, ...query }: UsageQuery): ClientUsage[] {
  const { text, values } = usageOf(query, query.route);
  if (mostClients === undefined)
    return database
      .prepare(CLIENTS(text))
      .all(...values, query.limit ?? MAX_USAGE_ROWS)
      .map(clientOf);
  const chosen = database.prepare(CHOSEN_CLIENTS(text)).all(...values, mostClients);
  // All clients are read faster by days.
  const isAll = chosen.length < mostClients;
  const keys = chosen.map(({ client }) => String(client));
  return readClients(database, { ...query, ...(!isAll && { clients: keys }), limit: mostClients });
}

function readTokens(database: DatabaseSync, query: TokenQuery): TokenUsage[] {
  const { text, values } = where([
    ["key = ?", "client" in query ? query.client : undefined],
    // Digits have no meaning in a pattern.
    ["fingerprint GLOB ?", "fingerprint" in query ? `${query.fingerprint}*` : undefined],
    [
      "fingerprint IN (SELECT value FROM json_each(?))",
      "fingerprints" in query ? JSON.stringify(query.fingerprints) : undefined,
    ],
  ]);
  return database
    .prepare(TOKENS(text))
    .all(...values)
    .map(tokenOf);
}

/** Reads the counts of a token. @returns Undefined for one that was never counted. */
export function readToken(database: DatabaseSync, fingerprint: string): TokenUsage | undefined {
  const row = database.prepare(TOKEN).get(fingerprint);
  return row && tokenOf(row);
}

export const readTokenPage = (database: DatabaseSync, { after, since }: TokenPage): TokenUsage[] =>
  database.prepare(TOKEN_PAGE).all(after, Date.parse(since)).map(tokenOf);

/** Reads the names that clients sent. */
function readSent(database: DatabaseSync, query: UsageQuery): SentUsage[] {
  const { text, values } = usageOf({ ...query, lane: undefined, isClientApi: undefined });
  const rows = database.prepare(SENT(text)).iterate(...values) as Iterable<never>;
  const counted = database.prepare(REQUESTS(text)).iterate(...values) as Iterable<never>;
  return listSent(rows, namesIn(database, "sent_names"), counted);
}

/** Looks up the names of routes. */
function namesIn(database: DatabaseSync, table: "sent_names" | "loss_names"): ReturnType<typeof cacheNames> {
  const find = database.prepare(NAMES(table));
  return cacheNames((pack, route) => {
    const names = find.get(pack, route)?.["names"];
    return names === undefined ? undefined : (JSON.parse(String(names)) as string[]);
  });
}

function readLosses(database: DatabaseSync, query: LossQuery): LossUsage[] {
  const { text, values } = usageOf({ ...query, lane: undefined, isClientApi: undefined }, query.route);
  const rows = database.prepare(LOSSES(text)).iterate(...values) as Iterable<never>;
  return listLosses(rows, namesIn(database, "loss_names"), { limit: MAX_USAGE_ROWS, ...query });
}

function readSpans(database: DatabaseSync, { days, clients }: SpanQuery): CallSpan[] {
  const { text, values } = where([
    ["client NOT IN ('', ?)", UNACCEPTED],
    ["client IN (SELECT value FROM json_each(?))", clients && JSON.stringify(clients)],
  ]);
  return allRows<CallSpan>(database.prepare(SPANS(text)), ...values, days);
}

/** Reads the entries about clients that were erased, the newest first. */
export const readErasures = (database: DatabaseSync): Erasure[] =>
  allRows<Omit<Erasure, "time"> & { time: number }>(
    database.prepare(`SELECT * FROM erased ORDER BY time DESC LIMIT ${MAX_USAGE_ROWS}`),
  ).map((row) => ({ ...row, time: new Date(row.time).toISOString() }));

function usageOf(query: UsageQuery, route?: string): Where {
  const { first, last } = daysOf(query);
  const keys = usageKeysOf(query);
  return where([
    ["day >= ?", first],
    ["day <= ?", last],
    ["client IN (SELECT value FROM json_each(?))", keys && JSON.stringify(keys)],
    ["lane = ?", query.lane],
    ["lane <> ?", query.isClientApi ? "native" : undefined],
    ["route = ?", route],
  ]);
}

function clientOf({ client, agent, first, last, lastAlpha, lastNative, ...counts }: Row): ClientUsage {
  const numbers = counts as Pick<
    ClientUsage,
    "requests" | "lossy" | "errors" | "native" | "longestPauseMs" | "tokens"
  >;
  const key = nullable(client);
  return {
    client: key,
    ...identityOfKey(key),
    userAgent: nullable(agent),
    ...span(first, last),
    lastAlpha: moment(lastAlpha),
    lastNative: moment(lastNative),
    ...numbers,
  };
}

function tokenOf({ agent, first, last, lastAlpha, lastNative, ...rest }: Row): TokenUsage {
  const others = rest as Pick<TokenUsage, "fingerprint" | "client" | "requests" | "native">;
  return {
    userAgent: nullable(agent),
    ...span(first, last),
    lastAlpha: moment(lastAlpha),
    lastNative: moment(lastNative),
    ...others,
  };
}

/** The usage of a route, from a row whose times are milliseconds. */
export function routeOf({ client, route, first, last, ...rest }: Row): RouteUsage {
  const others = rest as Pick<RouteUsage, "lane" | "status" | "requests" | "lossy" | "sample">;
  return { client: nullable(client), route: nullable(route), ...span(first, last), ...others };
}

function span(first: unknown, last: unknown): { first: string; last: string } {
  return { first: new Date(Number(first)).toISOString(), last: new Date(Number(last)).toISOString() };
}

/** A time; null for one that is 0 or missing. */
function moment(ms: unknown): string | null {
  return ms ? new Date(Number(ms)).toISOString() : null;
}

function nullable(text: unknown): string | null {
  return typeof text === "string" && text !== "" ? text : null;
}

/** Adds up rows of several days and blocks, those with the most requests first. */
export function addRows(client: string, rows: readonly Record<string, unknown>[]): RouteUsage[] {
  const groups = Map.groupBy(rows, ({ lane, route, status }) => JSON.stringify([lane, route, status]));
  return [...groups.values()]
    .map((group) => {
      const join = (name: string, of: (one: number, other: number) => number): number =>
        group.map((row) => Number(row[name])).reduce(of);
      return routeOf({
        ...group[0],
        client,
        requests: join("requests", (one, other) => one + other),
        lossy: join("lossy", (one, other) => one + other),
        first: join("first", (one, other) => Math.min(one, other)),
        last: join("last", (one, other) => Math.max(one, other)),
        sample: "",
      });
    })
    .toSorted((one, other) => other.requests - one.requests);
}
