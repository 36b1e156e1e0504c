import type { PoolClient } from "pg";
import type { Purged } from "../purge.ts";
import { WORTH } from "../stored-row.ts";
import { dayOf, LEAST_WORTH, mostSummaries } from "../usage.ts";
import type { Database } from "./database.ts";

/** Of `pg_try_advisory_xact_lock`: one replica deletes at a time. */
const LOCK = 7_012_026_002;
export const PURGE_ROWS = 1000;
/** What a row and its indexes take besides the record, about. */
const ROW_BYTES = 600;

const REMOVE = `
  DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE time < $1 ORDER BY time, seq LIMIT ${PURGE_ROWS})
`;
/** The first of an order, as many as are needed to free so many bytes. */
const removeFirst = (which: string, order: string): string => `
  WITH removed AS (
    DELETE FROM audit WHERE seq IN (
      SELECT seq FROM (
        SELECT seq, sum(size + ${ROW_BYTES}) OVER (ORDER BY ${order}) - size - ${ROW_BYTES} AS freed
        FROM (SELECT seq, worth, time, size FROM audit ${which} ORDER BY ${order} LIMIT $2::int) AS first
      ) AS summed WHERE freed < $1
    ) RETURNING size
  )
  SELECT count(*)::int AS rows, coalesce(sum(size::bigint + ${ROW_BYTES}), 0)::float8 AS bytes FROM removed
`;
/** What is worth least goes first, then the oldest. */
const REMOVE_LEAST = [
  removeFirst(`WHERE worth < ${WORTH.accepted}`, "worth, time, seq"),
  removeFirst("", "time, seq"),
];
const SIZE = `SELECT (coalesce(sum(size::bigint + ${ROW_BYTES}), 0))::float8 AS bytes FROM audit`;
const UNCOUNT_LEAST = `
  DELETE FROM audit_usage WHERE (day, client, lane, route, status) IN (
    SELECT day, client, lane, route, status FROM audit_usage ORDER BY ${LEAST_WORTH}
    LIMIT greatest(0, (SELECT count(*) FROM audit_usage) - $1::bigint)
  )
`;

/**
 * Deletes a batch of records that are too old, or else what is worth least while all of them together are too large.
 * The size is that of the records: PostgreSQL's own figure still counts what is deleted.
 *
 * @param before Milliseconds since the epoch.
 * @returns how many were deleted; the summaries, which have a limit of their own, take no room of theirs
 */
export function purgeStep(database: Database, before: number, sizeLimit: number): Promise<Purged> {
  return database.transaction(async (client) => {
    const lock = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [
      LOCK,
    ]);
    if (!lock.rows[0]?.mine) return { deleted: 0, evicted: 0 };
    const old = (await client.query(REMOVE, [before])).rowCount ?? 0;
    if (old === PURGE_ROWS) return { deleted: old, evicted: 0 };
    await client.query("DELETE FROM audit_usage WHERE day < $1", [dayOf(before)]);
    await client.query(UNCOUNT_LEAST, [mostSummaries(sizeLimit)]);
    const { rows } = await client.query<{ bytes: number }>(SIZE);
    const excess = (rows[0]?.bytes ?? 0) - sizeLimit;
    const evicted = await removeLeast(client, excess);
    return { deleted: evicted, evicted };
  });
}

async function removeLeast(client: PoolClient, bytes: number): Promise<number> {
  let removed = 0;
  let freed = 0;
  for (const statement of REMOVE_LEAST) {
    if (freed >= bytes || removed === PURGE_ROWS) break;
    const given = [bytes - freed, PURGE_ROWS - removed];
    const { rows } = await client.query<{ rows: number; bytes: number }>(statement, given);
    removed += rows[0]?.rows ?? 0;
    freed += rows[0]?.bytes ?? 0;
  }
  return removed;
}
