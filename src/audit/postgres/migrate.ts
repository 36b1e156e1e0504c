import type { PoolClient } from "pg";
import { repeat } from "../repeat.ts";
import { compressBatch, createBatch } from "../segment.ts";
import { rowOfText, type StoredRow } from "../stored-row.ts";
import { worthOf } from "../usage.ts";
import type { Database } from "./database.ts";

/** Key of `pg_try_advisory_xact_lock`: one replica migrates at a time. */
const LOCK = 7_012_026_003;
/** Records that one step moves, and bytes above which it moves no more. */
const STEP_ROWS = 200;
const STEP_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 5000;
/** Replicas of an earlier version may still write while they are replaced. */
const AGAIN_MS = 60_000;

/** The newest first, since they are read most. */
const NEXT = `
  SELECT id, worth, record::text FROM (
    SELECT id, time, seq, worth, record, sum(size) OVER (ORDER BY time DESC, seq DESC) - size AS before
    FROM (
      SELECT id, time, seq, worth, record, size FROM audit WHERE segment IS NULL
      ORDER BY time DESC, seq DESC LIMIT ${STEP_ROWS}
    ) AS newest
  ) AS sized WHERE before < ${STEP_BYTES}
`;
const ADD_SEGMENT = `
  INSERT INTO audit_segment (time, worth, records, bytes, data) VALUES ($1, $2, $3, $4, $5) RETURNING id::text
`;
const MOVE = `
  UPDATE audit SET record = NULL, segment = $1, start = given.start, size = given.size, method = given.method,
    request_id = given.request_id, lane = given.lane, lossy = given.lossy
  FROM unnest($2::text[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::int[])
    AS given (id, start, size, method, request_id, lane, lossy)
  WHERE audit.id = given.id
`;
const LEFT = "SELECT count(*)::int AS count FROM audit WHERE segment IS NULL";

/** Moves the next records of an earlier version. @returns How many; undefined while another replica does it. */
function migrateStep(database: Database): Promise<number | undefined> {
  return database.transaction(async (client) => {
    const lock = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [
      LOCK,
    ]);
    if (!lock.rows[0]?.mine) return undefined;
    const { rows } = await client.query<{ id: string; worth: number; record: string }>(NEXT);
    await moveRows(
      client,
      rows.map(({ record, worth }) => rowOfText(record, worth)),
    );
    return rows.length;
  });
}

async function moveRows(client: PoolClient, waiting: readonly StoredRow[]): Promise<void> {
  const batch = createBatch(waiting);
  const parts = await compressBatch(batch);
  for (const [index, { rows }] of batch.segments.entries()) {
    const data = parts[index];
    const time = rows.reduce((latest, row) => Math.max(latest, row.time), 0);
    const worth = rows.reduce((most, row) => Math.max(most, worthOf(row)), 0);
    const given = [time, worth, rows.length, data?.length, data];
    const [segment] = (await client.query<{ id: string }>(ADD_SEGMENT, given)).rows;
    await client.query(MOVE, [
      segment?.id,
      rows.map(({ id }) => id),
      rows.map(({ start }) => start),
      rows.map(({ size }) => size),
      rows.map(({ method }) => method),
      rows.map(({ requestId }) => requestId),
      rows.map(({ lane }) => lane),
      rows.map(({ lossy }) => Number(lossy)),
    ]);
  }
}

/**
 * Moves the records of earlier versions into segments, while the store is used. They can be read all the time.
 *
 * @param onProgress Is called with the number of records that are left.
 */
export function startMigration(
  database: Database,
  onProgress?: (left: number) => void,
): { readonly stop: () => void } {
  let left: number | undefined;

  async function step(): Promise<number> {
    const moved = await migrateStep(database);
    if (moved) await report(moved);
    if (moved === undefined) return RETRY_MS;
    return moved === 0 ? AGAIN_MS : 0;
  }

  async function report(moved: number): Promise<void> {
    left = left === undefined ? (await database.query<{ count: number }>(LEFT))[0]?.count : left - moved;
    onProgress?.(left ?? 0);
  }

  return { stop: repeat({ step, retryMs: RETRY_MS }) };
}
