import type { PoolClient } from "pg";
import type { PurgeLimits, PurgeResult } from "../purge.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { cutLargest, dayOf, MAX_TOKENS, SUMMARY_STEP_ROWS, type ClientRows } from "../../usage/usage.ts";
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
const LEAST_USED_TOKENS = `
  DELETE FROM audit_token WHERE fingerprint IN (
    SELECT fingerprint FROM audit_token ORDER BY last
    LIMIT greatest(0, (SELECT count(*) FROM audit_token) - ${MAX_TOKENS})
  )
`;

const OLDEST_SENT = `
  DELETE FROM audit_sent WHERE ctid IN (
    SELECT ctid FROM audit_sent ORDER BY day
    LIMIT greatest(0, (SELECT count(*) FROM audit_sent) - $1::bigint)
  )
`;

/** Deletes some of the summaries above a number, in the order of `sqlite/summaries.ts`. @returns whether there are still more */
async function cutSummaries(client: PoolClient, maxRows: number): Promise<boolean> {
  const [counted] = (await client.query<{ rows: number }>(COUNT)).rows;
  const excess = (counted?.rows ?? 0) - maxRows;
  if (excess <= 0) return false;
  const step = Math.min(excess, SUMMARY_STEP_ROWS);
  const ofStrangers = (await client.query(DELETE_UNACCEPTED, [step])).rowCount ?? 0;
  if (ofStrangers === step) return excess > step;
  const largest = (await client.query<ClientRows>(LARGEST)).rows;
  let deleted = 0;
  for (const cut of cutLargest(largest, step - ofStrangers))
    deleted += (await client.query(DELETE_OF_CLIENT, [cut.client, cut.rows])).rowCount ?? 0;
  return deleted > 0 && excess > ofStrangers + deleted;
}

async function purgeSummaries(
  client: PoolClient,
  { usageBefore, summaryRows }: Pick<PurgeLimits, "usageBefore" | "summaryRows">,
): Promise<boolean> {
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
  await client.query(LEAST_USED_TOKENS);
  return cutSummaries(client, summaryRows);
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
    if (!lock.rows[0]?.mine) return { evicted: 0, more: false };
    const day = Date.parse(dayOf(before));
    const old = (await client.query(REMOVE, [day])).rowCount ?? 0;
    if (old === PURGE_ROWS) return { evicted: 0, more: true };
    await client.query("DELETE FROM audit_segment WHERE time < $1", [day]);
    const more = await purgeSummaries(client, summaries);
    const { rows } = await client.query<{ bytes: number }>(SIZE);
    const excess = (rows[0]?.bytes ?? 0) - sizeLimit;
    if (excess <= 0) return { evicted: 0, more };
    const made = await makeSpace(client, excess);
    return { ...made, more: made.more || more };
  });
}
