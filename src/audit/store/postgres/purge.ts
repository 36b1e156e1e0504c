import type { PoolClient } from "pg";
import type { PurgeLimits, PurgeResult } from "../purge.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import {
  CLIENT_STEP,
  cutLargest,
  DAY_MS,
  dayOf,
  NEWCOMERS_SHARE,
  SUMMARY_STEP_ROWS,
  takeClients,
  type ClientRows,
} from "../../usage/usage.ts";
import type { Database } from "./database.ts";
import { OLDEST_LOSSES } from "./losses.ts";
import { makeSpace, ROW_BYTES } from "./size-limit.ts";

/** Key of `pg_try_advisory_xact_lock`: only one replica deletes at a time. */
const LOCK = 7_012_026_002;
/** Index rows that a step deletes because of their age. PostgreSQL only marks them. */
const PURGE_ROWS = 20_000;
const REMOVE = `
  DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE time < $1 ORDER BY time, seq LIMIT ${PURGE_ROWS})
`;
const SIZE = `SELECT coalesce(sum(bytes::bigint + records * ${ROW_BYTES}), 0)::float8 AS bytes FROM audit_segment`;

const COUNT = "SELECT count(*)::float8 AS rows FROM audit_usage";
const LARGEST = `
  SELECT client, count(*)::float8 AS rows FROM audit_usage WHERE client <> '${UNACCEPTED}'
  GROUP BY client ORDER BY 2 DESC LIMIT ${SUMMARY_STEP_ROWS + 1}
`;
const DELETE_UNACCEPTED = `
  DELETE FROM audit_usage WHERE ctid IN (
    SELECT ctid FROM audit_usage WHERE client = '${UNACCEPTED}' ORDER BY day, last LIMIT $1
  )
`;
/** All rows of a client but its last request of the client's API: errors first, then the oldest days. */
const DELETE_OF_CLIENT = `
  DELETE FROM audit_usage WHERE ctid IN (
    SELECT ctid FROM audit_usage
    WHERE client = $1 AND ctid IS DISTINCT FROM (
      SELECT ctid FROM audit_usage WHERE client = $1 AND lane <> 'native' ORDER BY last DESC, status, route LIMIT 1
    )
    ORDER BY status >= 400 DESC, day, last LIMIT $2
  )
`;
/** Clients that no login server, no proxy and no directory has named. */
const IS_UNNAMED = `
  client NOT IN ('', '${UNACCEPTED}') AND NOT starts_with(client, 'label:') AND NOT starts_with(client, 'application:')
  AND client <> ALL($1::text[])
`;
/** Rows of a client may have been deleted: its token says whether it has called on several days. */
const IS_NEW_TOKEN = `
  client NOT IN (SELECT fingerprint FROM audit_token WHERE first / ${DAY_MS} < last / ${DAY_MS})
`;
/** Clients without a name that called on one day only. */
const NEWCOMERS = `
  FROM audit_usage WHERE ${IS_UNNAMED} GROUP BY client HAVING min(day) = max(day) AND ${IS_NEW_TOKEN}
`;
const COUNT_NEWCOMERS = `
  SELECT coalesce(sum(rows), 0)::float8 AS rows FROM (SELECT count(*) AS rows ${NEWCOMERS}) AS newcomers
`;
const OLDEST_NEWCOMERS = `
  SELECT client, count(*)::float8 AS rows ${NEWCOMERS} ORDER BY max(day), client LIMIT $2
`;
/** All clients, those without a name first, and of these the oldest. */
const OLDEST = `
  SELECT client, count(*)::float8 AS rows FROM audit_usage WHERE client <> '${UNACCEPTED}'
  GROUP BY client ORDER BY (${IS_UNNAMED}) DESC, max(day), client LIMIT $2
`;
/** The tables that have rows of a client, and the column with its key. */
const OF_CLIENTS = {
  audit_usage: "client",
  audit_sent: "client",
  audit_loss: "client",
  audit_token: "key",
} as const;

/** Tokens of clients without a name that were used on one day only. */
const NEW_TOKENS = `first / ${DAY_MS} = last / ${DAY_MS} AND fingerprint <> ALL($1::text[])`;
const LEAST_USED_NEW_TOKENS = `
  DELETE FROM audit_token WHERE fingerprint IN (
    SELECT fingerprint FROM audit_token WHERE ${NEW_TOKENS} ORDER BY last LIMIT greatest(0, least(
      (SELECT count(*) FROM audit_token) - $2::bigint,
      (SELECT count(*) FROM audit_token WHERE ${NEW_TOKENS}) - floor($2::bigint * ${NEWCOMERS_SHARE})::bigint
    ))
  )
`;
const LEAST_USED_TOKENS = `
  DELETE FROM audit_token WHERE fingerprint IN (
    SELECT fingerprint FROM audit_token ORDER BY fingerprint = ANY($1::text[]), last
    LIMIT greatest(0, (SELECT count(*) FROM audit_token) - $2::bigint)
  )
`;

const OLDEST_SENT = `
  DELETE FROM audit_sent WHERE ctid IN (
    SELECT ctid FROM audit_sent ORDER BY day
    LIMIT greatest(0, (SELECT count(*) FROM audit_sent) - $1::bigint)
  )
`;

type Limits = Pick<PurgeLimits, "usageBefore" | "summaryRows" | "summaryTokens" | "named">;

async function countRows(client: PoolClient, statement: string, values?: unknown[]): Promise<number> {
  const { rows } = await client.query<{ rows: number }>(statement, values);
  return rows[0]?.rows ?? 0;
}

/** Deletes some of the summaries above a number, in the order of `sqlite/summaries.ts`. */
async function cutSummaries(
  client: PoolClient,
  { summaryRows: maxRows, named }: Limits,
): Promise<Pick<PurgeResult, "clients" | "more">> {
  const excess = (await countRows(client, COUNT)) - maxRows;
  if (excess <= 0) return { clients: 0, more: false };
  const step = Math.min(excess, SUMMARY_STEP_ROWS);
  const ofStrangers = (await client.query(DELETE_UNACCEPTED, [step])).rowCount ?? 0;
  if (ofStrangers === step) return { clients: 0, more: excess > step };
  const ofNewcomers = await countRows(client, COUNT_NEWCOMERS, [named]);
  const left = excess - ofStrangers;
  const tooMany = Math.min(left, Math.ceil(ofNewcomers - maxRows * NEWCOMERS_SHARE));
  let clients = tooMany > 0 ? await deleteFirst(client, OLDEST_NEWCOMERS, named, tooMany) : 0;
  if (clients === 0 && (await cutLargestClients(client, step - ofStrangers)) === 0)
    clients = await deleteFirst(client, OLDEST, named, left);
  return { clients, more: (await countRows(client, COUNT)) > maxRows };
}

/** @returns how many rows were deleted */
async function cutLargestClients(client: PoolClient, excess: number): Promise<number> {
  const largest = (await client.query<ClientRows>(LARGEST)).rows;
  let deleted = 0;
  for (const cut of cutLargest(largest, excess))
    deleted += (await client.query(DELETE_OF_CLIENT, [cut.client, cut.rows])).rowCount ?? 0;
  return deleted;
}

/** Deletes the first clients of a list that have so many rows together. @returns how many */
async function deleteFirst(
  client: PoolClient,
  list: string,
  named: readonly string[],
  rows: number,
): Promise<number> {
  const found = await client.query<ClientRows>(list, [named, Math.min(rows, CLIENT_STEP)]);
  const clients = takeClients(found.rows, rows);
  for (const [table, column] of Object.entries(OF_CLIENTS))
    await client.query(`DELETE FROM ${table} WHERE ${column} = ANY($1::text[])`, [clients]);
  return clients.length;
}

async function purgeSummaries(
  client: PoolClient,
  limits: Limits,
): Promise<Pick<PurgeResult, "clients" | "more">> {
  const { usageBefore, summaryRows, summaryTokens, named } = limits;
  const day = dayOf(usageBefore);
  await client.query("DELETE FROM audit_usage WHERE day < $1", [day]);
  await client.query("DELETE FROM audit_sent WHERE day < $1", [day]);
  await client.query("DELETE FROM audit_sent_names WHERE day < $1", [day]);
  await client.query(OLDEST_SENT, [summaryRows]);
  await client.query("DELETE FROM audit_loss WHERE day < $1", [day]);
  await client.query("DELETE FROM audit_loss_names WHERE day < $1", [day]);
  await client.query(OLDEST_LOSSES, [summaryRows]);
  await client.query("DELETE FROM audit_token WHERE last < $1", [Math.floor(usageBefore)]);
  await client.query("DELETE FROM audit_erased WHERE time < $1", [Math.floor(usageBefore)]);
  await client.query(LEAST_USED_NEW_TOKENS, [named, summaryTokens]);
  await client.query(LEAST_USED_TOKENS, [named, summaryTokens]);
  return cutSummaries(client, limits);
}

/**
 * Deletes days that are too old. If no day is too old, deletes the least important segments while all records exceed the size
 * limit. The size is that of the records: PostgreSQL's own size includes deleted rows.
 */
export function purgeStep(
  database: Database,
  { before, sizeLimit, ...summaries }: PurgeLimits,
): Promise<PurgeResult> {
  return database.transaction(async (client) => {
    const lock = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [
      LOCK,
    ]);
    if (!lock.rows[0]?.mine) return { evicted: 0, clients: 0, more: false };
    const day = Date.parse(dayOf(before));
    const old = (await client.query(REMOVE, [day])).rowCount ?? 0;
    if (old === PURGE_ROWS) return { evicted: 0, clients: 0, more: true };
    await client.query("DELETE FROM audit_segment WHERE time < $1", [day]);
    const { clients, more } = await purgeSummaries(client, summaries);
    const { rows } = await client.query<{ bytes: number }>(SIZE);
    const excess = (rows[0]?.bytes ?? 0) - sizeLimit;
    if (excess <= 0) return { evicted: 0, clients, more };
    const made = await makeSpace(client, excess);
    return { ...made, clients, more: made.more || more };
  });
}
