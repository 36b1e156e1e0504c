/** Deletes what is least important when the records exceed the size limit. */
import type { PoolClient } from "pg";
import { ClientShares, type Cut } from "../client-shares.ts";
import type { PurgeResult } from "../purge.ts";
import { removeBodies } from "../../record/remove-bodies.ts";
import { compressAsync, decompressAsync } from "../segment.ts";
import { WORTH } from "../stored-row.ts";

/** Approximate size of a row and its indexes. */
export const ROW_BYTES = 600;
/** Segments of unaccepted tokens that a step deletes. */
const LEAST_SEGMENTS = 200;
/** Segments of clients that a step changes or deletes, one after the other. */
const CUT_SEGMENTS = 50;

const SIZE = `bytes + records * ${ROW_BYTES}`;

/** Deletes the first segments of unaccepted tokens, by priority and age, until enough bytes are free. */
const REMOVE_LEAST = `
  WITH first AS (
    SELECT id, sum(${SIZE}) OVER (ORDER BY worth, time, id) - (${SIZE}) AS before
    FROM (
      SELECT id, worth, time, records, bytes FROM audit_segment WHERE worth < ${WORTH.accepted}
      ORDER BY worth, time, id LIMIT ${LEAST_SEGMENTS}
    ) AS least
  ), segments AS (
    DELETE FROM audit_segment WHERE id IN (SELECT id FROM first WHERE before < $1) RETURNING id, ${SIZE} AS size
  ), rows AS (
    DELETE FROM audit WHERE segment IN (SELECT id FROM segments) RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM segments) AS segments, (SELECT coalesce(sum(size), 0)::float8 FROM segments) AS freed,
    (SELECT count(*)::int FROM rows) AS evicted
`;
const SHARES = `
  SELECT owner, bare, sum(${SIZE})::float8 AS bytes FROM audit_segment WHERE worth = ${WORTH.accepted} GROUP BY 1, 2
`;
const OLDEST = `
  SELECT id::text, ${SIZE} AS size FROM audit_segment
  WHERE worth = ${WORTH.accepted} AND owner = $1 AND bare = $2 ORDER BY time, audit_segment.id LIMIT 1
`;
const REMOVE_SEGMENT = "DELETE FROM audit_segment WHERE id = $1";
const REMOVE_ROWS = "DELETE FROM audit WHERE segment = $1";
const MARK_BARE = "UPDATE audit_segment SET bare = true WHERE id = $1";
const DATA = "SELECT data FROM audit_segment WHERE id = $1";
const PLACES = "SELECT seq::text, start, size FROM audit WHERE segment = $1 ORDER BY start";
/** Another segment, because a page may have read the places in the old one. */
const REPLACE = `
  INSERT INTO audit_segment (time, worth, records, owner, bare, bytes, data)
    SELECT time, worth, records, owner, true, $2, $3 FROM audit_segment WHERE id = $1 RETURNING id::text
`;
const MOVE = `
  UPDATE audit SET segment = $1, start = given.start, size = given.size
  FROM unnest($2::bigint[], $3::int[], $4::int[]) AS given (seq, start, size) WHERE audit.seq = given.seq
`;

interface OldSegment {
  readonly id: string;
  readonly size: number;
}

/** What a cut has done. */
interface CutResult {
  readonly freed: number;
  readonly evicted: number;
}

async function remove(client: PoolClient, { id, size }: OldSegment): Promise<CutResult> {
  const { rowCount } = await client.query(REMOVE_ROWS, [id]);
  await client.query(REMOVE_SEGMENT, [id]);
  return { freed: size, evicted: rowCount ?? 0 };
}

/** Removes the bodies of a segment, unless it is damaged. */
async function strip(client: PoolClient, { id }: OldSegment): Promise<CutResult> {
  const data = (await client.query<{ data: Buffer }>(DATA, [id])).rows[0]?.data ?? Buffer.alloc(0);
  const { rows } = await client.query<{ seq: string; start: number; size: number }>(PLACES, [id]);
  const decompressed = await decompressAsync(data, rows).catch(() => undefined);
  const { bytes, places } = removeBodies(decompressed ?? Buffer.alloc(0), decompressed ? rows : []);
  const compressed = await compressAsync(bytes);
  if (!decompressed || compressed.length >= data.length) {
    await client.query(MARK_BARE, [id]);
    return { freed: 0, evicted: 0 };
  }
  const [added] = (await client.query<{ id: string }>(REPLACE, [id, compressed.length, compressed])).rows;
  await client.query(MOVE, [
    added?.id,
    rows.map(({ seq }) => seq),
    places.map(({ start }) => start),
    places.map(({ size }) => size),
  ]);
  await client.query(REMOVE_SEGMENT, [id]);
  return { freed: data.length - compressed.length, evicted: 0 };
}

async function cutOldest(client: PoolClient, cut: Cut, shares: ClientShares): Promise<CutResult> {
  const [oldest] = (await client.query<OldSegment>(OLDEST, [cut.owner, cut.bare])).rows;
  if (!oldest) {
    shares.clear(cut);
    return { freed: 0, evicted: 0 };
  }
  const result = await (cut.bare ? remove : strip)(client, oldest);
  shares.add(cut, -oldest.size);
  if (!cut.bare) shares.add({ ...cut, bare: true }, oldest.size - result.freed);
  return result;
}

/**
 * Makes space: deletes the segments of callers whose tokens v4 has not accepted, by priority and age, and then removes from the
 * client with the largest share.
 *
 * @param client In a transaction.
 * @param bytes By how many bytes the records exceed the limit.
 */
export async function makeSpace(client: PoolClient, bytes: number): Promise<Omit<PurgeResult, "clients">> {
  const least = await client.query<CutResult & { readonly segments: number }>(REMOVE_LEAST, [bytes]);
  const { segments = 0, freed: first = 0, evicted: removed = 0 } = least.rows[0] ?? {};
  if (first >= bytes || segments === LEAST_SEGMENTS) return { evicted: removed, more: first < bytes };

  const shares = new ClientShares();
  const { rows } = await client.query<Cut & { readonly bytes: number }>(SHARES);
  for (const { bytes: size, ...cut } of rows) shares.add(cut, size);
  let freed = first;
  let evicted = removed;
  let cuts = 0;
  for (let cut = shares.next(); cut && freed < bytes && cuts < CUT_SEGMENTS; cut = shares.next()) {
    const done = await cutOldest(client, cut, shares);
    freed += done.freed;
    evicted += done.evicted;
    cuts += 1;
  }
  return { evicted, more: freed < bytes && cuts === CUT_SEGMENTS };
}
