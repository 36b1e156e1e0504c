import { dayOf } from "../usage.ts";
import type { Database } from "./database.ts";

/** Of `pg_try_advisory_xact_lock`: one replica deletes at a time. */
const LOCK = 7_012_026_002;
export const PURGE_ROWS = 1000;
/** What a row and its indexes take besides the record, about. */
const ROW_BYTES = 600;
/** Rows of the summaries: a client that makes up tokens must not fill the disk with them. */
const MOST_COUNTS = 1_000_000;

const REMOVE = `
  DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE time < $1 ORDER BY time, seq LIMIT ${PURGE_ROWS})
`;
/** The oldest, as many as are needed to free so many bytes. */
const REMOVE_OLDEST = `
  DELETE FROM audit WHERE seq IN (
    SELECT seq FROM (
      SELECT seq, sum(size + ${ROW_BYTES}) OVER (ORDER BY time, seq) - size - ${ROW_BYTES} AS freed
      FROM (SELECT seq, time, size FROM audit ORDER BY time, seq LIMIT ${PURGE_ROWS}) AS oldest
    ) AS summed WHERE freed < $1
  )
`;
const SIZE = `SELECT (coalesce(sum(size::bigint + ${ROW_BYTES}), 0))::float8 AS bytes FROM audit`;
const UNCOUNT_OLDEST = `
  DELETE FROM audit_usage WHERE (SELECT count(*) FROM audit_usage) > ${MOST_COUNTS}
    AND day = (SELECT min(day) FROM audit_usage)
`;

/**
 * Deletes a batch of records that are too old, or else the oldest while all of them together are too large.
 * The size is that of the records: PostgreSQL's own figure still counts what is deleted.
 *
 * @param before Milliseconds since the epoch.
 * @returns how many were deleted
 */
export function purgeStep(database: Database, before: number, sizeLimit: number): Promise<number> {
  return database.transaction(async (client) => {
    const lock = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [
      LOCK,
    ]);
    if (!lock.rows[0]?.mine) return 0;
    const old = (await client.query(REMOVE, [before])).rowCount ?? 0;
    if (old === PURGE_ROWS) return old;
    await client.query("DELETE FROM audit_usage WHERE day < $1", [dayOf(before)]);
    await client.query(UNCOUNT_OLDEST);
    const { rows } = await client.query<{ bytes: number }>(SIZE);
    const excess = (rows[0]?.bytes ?? 0) - sizeLimit;
    return excess > 0 ? ((await client.query(REMOVE_OLDEST, [excess])).rowCount ?? 0) : 0;
  });
}
