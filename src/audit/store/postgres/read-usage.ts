/** Reads the summaries of requests by their days, clients, routes or tokens. */
import type { QueryResultRow } from "pg";
import { spansStatement, type CallSpan } from "../../record/call-spans.ts";
import { listLosses, type LossDays, type LossQuery } from "../../usage/loss-usage.ts";
import type { NameList } from "../../usage/name-lists.ts";
import { bytesOfBits } from "../../usage/sent-members.ts";
import { listSent, type RouteRequests, type SentDays } from "../../usage/sent-usage.ts";
import type { AuditStore } from "../store.ts";
import { identityOfKey, UNACCEPTED } from "../../usage/summary-key.ts";
import {
  daysOf,
  MAX_RECORDS_COUNTED,
  MAX_SUMS_READ,
  MAX_TOKENS_READ,
  MAX_USAGE_ROWS,
  usageKeysOf,
  type ClientUsage,
  type DayUsage,
  type RouteUsage,
  type TokenPage,
  type TokenUsage,
  type UsageQuery,
} from "../../usage/usage.ts";
import type { UsageReader } from "../../usage/usage-reader.ts";
import type { Database } from "./database.ts";
import { parameters, type Term } from "./parameters.ts";

const CLIENTS = (where: string, limit: string): string => `
  WITH daily AS (
    SELECT client, day, (array_agg(agent ORDER BY last DESC))[1] AS agent, sum(requests) AS requests,
      sum(lossy) AS lossy, min(first) AS first, max(last) AS last,
      coalesce(sum(requests) FILTER (WHERE status >= 400), 0) AS errors,
      coalesce(sum(requests) FILTER (WHERE lane = 'native'), 0) AS native,
      max(last) FILTER (WHERE lane = 'native') AS last_native,
      min(first) FILTER (WHERE lane <> 'native') AS first_alpha,
      max(last) FILTER (WHERE lane <> 'native') AS last_alpha
    FROM audit_usage ${where} GROUP BY client, day
  ), paused AS (
    SELECT *, first_alpha - max(last_alpha) OVER (
      PARTITION BY client ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS pause FROM daily
  )
  SELECT client, (array_agg(agent ORDER BY last DESC))[1] AS "userAgent", sum(requests)::float8 AS requests,
    sum(lossy)::float8 AS lossy, min(first)::float8 AS first, max(last)::float8 AS last,
    sum(errors)::float8 AS errors, sum(native)::float8 AS native, max(last_alpha)::float8 AS "lastAlpha",
    max(last_native)::float8 AS "lastNative", max(pause)::float8 AS "longestPauseMs",
    (SELECT count(*) FROM audit_token WHERE key = paused.client)::float8 AS tokens
  FROM paused GROUP BY client ORDER BY 3 DESC, client LIMIT ${limit}
`;
/** The clients that have the most rows: the index alone says which. */
const CHOSEN_CLIENTS = (where: string, limit: string): string => `
  SELECT client FROM audit_usage ${where} GROUP BY client ORDER BY count(*) DESC, client LIMIT ${limit}
`;
const TOKEN_COLUMNS = `
  SELECT fingerprint, key AS client, agent AS "userAgent", first::float8, last::float8,
    last_alpha::float8 AS "lastAlpha", last_native::float8 AS "lastNative", requests::float8, native::float8
  FROM audit_token
`;
const TOKENS = (where: string): string =>
  `${TOKEN_COLUMNS} ${where} ORDER BY audit_token.requests DESC, fingerprint LIMIT ${MAX_TOKENS_READ}`;
const TOKEN = `${TOKEN_COLUMNS} WHERE fingerprint = $1`;
const TOKEN_PAGE = `
  ${TOKEN_COLUMNS} WHERE fingerprint > $1 AND last_alpha >= $2::bigint ORDER BY fingerprint LIMIT ${MAX_TOKENS_READ}
`;
const RECORDED_ROUTES = `
  SELECT $1 AS client, lane, route, status, count(*)::float8 AS requests, sum(lossy)::float8 AS lossy,
    min(time)::float8 AS first, max(time)::float8 AS last, '' AS sample
  FROM (
    SELECT lane, route, status, lossy, time FROM audit WHERE client = $1 ORDER BY time DESC LIMIT ${MAX_RECORDS_COUNTED}
  ) AS newest GROUP BY lane, route, status ORDER BY 5 DESC, lane, route, status
`;
const ROUTES = (where: string, limit: string): string => `
  SELECT client, lane, route, status, sum(requests)::float8 AS requests, sum(lossy)::float8 AS lossy,
    min(first)::float8 AS first, max(last)::float8 AS last, (array_agg(sample ORDER BY last DESC))[1] AS sample
  FROM audit_usage ${where} GROUP BY client, lane, route, status
  ORDER BY 5 DESC, client, lane, route, status LIMIT ${limit}
`;
const DAYS = (where: string): string => `
  SELECT day, coalesce(sum(requests) FILTER (WHERE lane <> 'native'), 0)::float8 AS alpha,
    coalesce(sum(requests) FILTER (WHERE lane = 'native'), 0)::float8 AS native,
    coalesce(sum(requests) FILTER (WHERE status >= 400), 0)::float8 AS errors, sum(lossy)::float8 AS lossy,
    (count(DISTINCT client) FILTER (WHERE lane <> 'native' AND client NOT IN ('', '${UNACCEPTED}')))::float8 AS "alphaClients"
  FROM audit_usage ${where} GROUP BY day ORDER BY day
`;

const SENT = (where: string): string => `
  SELECT client, route, pack, bits::text AS bits, min(day) AS "firstDay", max(day) AS "lastDay"
  FROM audit_sent ${where} GROUP BY client, route, pack, audit_sent.bits
  ORDER BY max(day) DESC LIMIT ${MAX_SUMS_READ}
`;
const NAMES = (table: string): string =>
  `SELECT pack, route, names FROM ${table} WHERE pack = ANY($1::text[])`;
const LOSSES = (where: string): string => `
  SELECT client, route, pack, place, sum(requests)::float8 AS requests, min(day) AS "firstDay", max(day) AS "lastDay"
  FROM audit_loss ${where} GROUP BY client, route, pack, place ORDER BY sum(requests) DESC LIMIT ${MAX_SUMS_READ}
`;
const REQUESTS = (where: string): string => `
  SELECT client, route, sum(requests)::float8 AS requests FROM audit_usage ${where} GROUP BY client, route
  ORDER BY sum(requests) DESC LIMIT ${MAX_SUMS_READ}
`;

function usageTerms(query: UsageQuery, route?: string): Term[] {
  const { first, last } = daysOf(query);
  return [
    ["day >= ?", first],
    ["day <= ?", last],
    ["client = ANY(?::text[])", usageKeysOf(query)],
    ["lane = ?", query.lane],
    ["lane <> ?", query.isClientApi ? "native" : undefined],
    ["route = ?", route],
  ];
}

/** Creates the reader of the summaries. Counts are doubles, which are exact below 2^53. */
export function usageReader(database: Database): UsageReader & Pick<AuditStore, "activity"> {
  async function read<Row extends object>(
    statement: (where: string, limit: string) => string,
    query: UsageQuery & Pick<LossQuery, "route">,
    limit?: number,
  ): Promise<Row[]> {
    const { values, add, where } = parameters();
    const text = where(usageTerms(query, query.route));
    return database.query<Row>(statement(text, limit === undefined ? "" : add(limit)), values);
  }

  async function readClients({ mostClients, ...query }: UsageQuery): Promise<(ReadTimes & ClientUsage)[]> {
    if (mostClients === undefined) return read(CLIENTS, query, query.limit ?? MAX_USAGE_ROWS);
    const chosen = await read<{ client: string }>(CHOSEN_CLIENTS, query, mostClients);
    // All clients are read faster by days.
    const isAll = chosen.length < mostClients;
    const keys = chosen.map(({ client }) => client);
    return readClients({ ...query, ...(!isAll && { clients: keys }), limit: mostClients });
  }

  /** Reads the names of packs, by pack and route. */
  async function namesOf(
    table: "audit_sent_names" | "audit_loss_names",
    rows: readonly Pick<SentDays, "pack">[],
  ): Promise<(pack: string, route: string) => readonly string[] | undefined> {
    const packs = [...new Set(rows.map(({ pack }) => pack))];
    const lists = await database.query<NameList & QueryResultRow>(NAMES(table), [packs]);
    const byKey = new Map(lists.map(({ pack, route, names }) => [`${pack} ${route}`, names]));
    return (pack, route) => byKey.get(`${pack} ${route}`);
  }

  return {
    clients: async (query) =>
      (await readClients(query)).map((row) => ({
        ...row,
        client: row.client || null,
        ...identityOfKey(row.client || null),
        ...times(row),
      })),
    tokens: async (query) => {
      const { values, where } = parameters();
      const text = where([
        ["key = ?", "client" in query ? query.client : undefined],
        ["starts_with(fingerprint, ?)", "fingerprint" in query ? query.fingerprint : undefined],
        ["fingerprint = ANY(?::text[])", "fingerprints" in query ? query.fingerprints : undefined],
      ]);
      return (await database.query<ReadTimes & TokenUsage>(TOKENS(text), values)).map((row) => ({
        ...row,
        ...times(row),
      }));
    },
    async activity({ fingerprint }) {
      const [row] = await database.query<ReadTimes & TokenUsage>(TOKEN, [fingerprint]);
      const token = row && { ...row, ...times(row) };
      const rows =
        token?.client === fingerprint
          ? await read<Span & RouteUsage>(ROUTES, { client: fingerprint }, MAX_USAGE_ROWS)
          : await database.query<Span & RouteUsage>(RECORDED_ROUTES, [fingerprint]);
      return { token, routes: rows.map(routeOf) };
    },
    usage: async (query) =>
      (await read<Span & RouteUsage>(ROUTES, query, query.limit ?? MAX_USAGE_ROWS)).map(routeOf),
    days: (query) => read<DayUsage>(DAYS, query),
    async sent(query) {
      const ofAllLanes = { ...query, lane: undefined, isClientApi: undefined };
      const rows = await read<Omit<SentDays, "bits"> & { bits: string }>(SENT, ofAllLanes);
      return listSent(
        rows.map((row) => ({ ...row, bits: bytesOfBits(row.bits) })),
        await namesOf("audit_sent_names", rows),
        await read<RouteRequests>(REQUESTS, ofAllLanes),
      );
    },
    async losses(query) {
      const rows = await read<LossDays>(LOSSES, { ...query, lane: undefined, isClientApi: undefined });
      const names = await namesOf("audit_loss_names", rows);
      return listLosses(rows, names, { limit: MAX_USAGE_ROWS, ...query });
    },
    spans({ days, clients }) {
      const { values, add, where } = parameters();
      const condition = where([
        ["client NOT IN ('', ?)", UNACCEPTED],
        ["client = ANY(?::text[])", clients],
      ]);
      const most = `${add(days)}::integer`;
      const lastOfSpan = (day: string): string => `to_char(${day}::date + ${most}, 'YYYY-MM-DD')`;
      const source = { table: "audit_usage", where: condition, lastOfSpan };
      return database.query<CallSpan>(spansStatement(source), values);
    },
  };
}

/** Reads one page of tokens. */
export const readTokenPage = async (
  database: Pick<Database, "query">,
  { after, since }: TokenPage,
): Promise<TokenUsage[]> => {
  const rows = await database.query<ReadTimes & TokenUsage>(TOKEN_PAGE, [after, Date.parse(since)]);
  return rows.map((row) => ({ ...row, ...times(row) }));
};

interface Span {
  readonly first: string;
  readonly last: string;
}

/** Converts milliseconds to ISO 8601. */
function span({ first, last }: Span): Span {
  return { first: new Date(first).toISOString(), last: new Date(last).toISOString() };
}

const routeOf = (row: Span & RouteUsage): RouteUsage => ({
  ...row,
  client: row.client || null,
  route: row.route || null,
  ...span(row),
});

interface ReadTimes extends Span {
  readonly lastAlpha: string | null;
  readonly lastNative: string | null;
}

/** A time; null for one that is 0 or missing. */
const moment = (ms: string | null): string | null => (ms ? new Date(ms).toISOString() : null);

/** Converts milliseconds to ISO 8601. */
const times = (row: ReadTimes): ReadTimes => ({
  ...span(row),
  lastAlpha: moment(row.lastAlpha),
  lastNative: moment(row.lastNative),
});
