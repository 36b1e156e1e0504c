/** Deletes records that are too old, and what is least important when the records exceed their size limit. */
import { removeBodies } from "../remove-bodies.ts";
import { ClientShares, type Cut } from "../client-shares.ts";
import type { PurgeResult } from "../purge.ts";
import { compressSegment, tryDecompress } from "../segment.ts";
import { WORTH } from "../worth.ts";
import { blockOf } from "./blocks.ts";
import type { Connection } from "./driver.ts";
import { moveRows, rowsOf } from "./segment-rows.ts";

/** Size of the row of a record with its share of the indexes and of pages that are not full, approximately. */
export const ROW_BYTES = 600;
/** Segments that one step changes or deletes. */
const STEP_SEGMENTS = 50;

/** Bytes of a segment with its rows, as SQL. */
const SIZE = `bytes + (last - seq + 1) * ${ROW_BYTES}`;

interface OldSegment {
  readonly seq: number;
  readonly last: number;
  readonly size: number;
}

/** Bytes of all records. */
export async function recordBytes(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ bytes: number }>(
    `SELECT coalesce(sum(${SIZE}), 0) AS bytes FROM audit_segment`,
  );
  return row?.bytes ?? 0;
}

/** Deletes a segment and its records. @returns how many records */
async function removeSegment(
  connection: Connection,
  { seq, last }: Pick<OldSegment, "seq" | "last">,
): Promise<number> {
  const records = await connection.run("DELETE FROM audit WHERE seq BETWEEN $1 AND $2", [seq, last]);
  await connection.run("DELETE FROM audit_segment WHERE seq = $1", [seq]);
  return records;
}

/** The oldest segments of a priority that end before a time. */
const findOldest = (connection: Connection, worth: number, before: number): Promise<OldSegment[]> =>
  connection.query<OldSegment>(
    `SELECT seq, last, ${SIZE} AS size FROM audit_segment WHERE worth = $1 AND time < $2
      ORDER BY time, seq LIMIT ${STEP_SEGMENTS}`,
    [worth, before],
  );

/** Deletes some records of days that ended before a time. @returns whether there were any */
export async function removeOld(connection: Connection, before: number): Promise<boolean> {
  for (const worth of Object.values(WORTH)) {
    const found = await findOldest(connection, worth, before);
    for (const segment of found) await removeSegment(connection, segment);
    if (found.length > 0) return true;
  }
  await forgetBlocks(connection);
  return false;
}

/** Deletes segments of callers without an accepted token, and what a client with a large share has most of. */
class Step {
  freed = 0;
  evicted = 0;
  #segments = 0;
  readonly #connection: Connection;
  readonly #bytes: number;

  constructor(connection: Connection, bytes: number) {
    this.#connection = connection;
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.freed >= this.#bytes || this.#segments >= STEP_SEGMENTS;
  }

  get result(): Omit<PurgeResult, "clients"> {
    return { evicted: this.evicted, more: this.freed < this.#bytes && this.#segments > 0 };
  }

  /** Deletes a segment and its records. */
  async remove(segment: OldSegment): Promise<void> {
    this.evicted += await removeSegment(this.#connection, segment);
    this.freed += segment.size;
    this.#segments += 1;
  }

  /** Removes the bodies of a segment, unless it is damaged. @returns Its size with its rows */
  async strip({ seq, last, size }: OldSegment): Promise<number> {
    const connection = this.#connection;
    this.#segments += 1;
    await connection.run("UPDATE audit_segment SET bare = 1 WHERE seq = $1", [seq]);
    const [segment] = await connection.query<{ data: Uint8Array }>(
      "SELECT data FROM audit_segment WHERE seq = $1",
      [seq],
    );
    const rows = await rowsOf(connection, seq, last);
    const before = segment?.data ?? Buffer.alloc(0);
    const decompressed = await tryDecompress(before, rows);
    if (!decompressed) return size;
    const { bytes, places } = removeBodies(decompressed, rows);
    const data = await compressSegment(bytes);
    const saved = before.length - data.length;
    if (saved <= 0) return size;
    await moveRows(
      connection,
      rows.map((row, index) => ({ ...row, ...places[index] })),
    );
    await connection.run("UPDATE audit_segment SET data = $1, bytes = $2 WHERE seq = $3", [
      data,
      data.length,
      seq,
    ]);
    this.freed += saved;
    return size - saved;
  }
}

/** Removes from the client with the largest share, until there is enough space. */
async function cutShares(connection: Connection, step: Step): Promise<void> {
  const shares = new ClientShares();
  const found = await connection.query<{ owner: string; bare: number; size: number }>(
    `SELECT owner, bare, sum(${SIZE}) AS size FROM audit_segment WHERE worth = ${WORTH.accepted} GROUP BY owner, bare`,
  );
  for (const { owner, bare, size } of found) shares.add({ owner, bare: bare === 1 }, size);
  for (let cut = shares.next(); cut && !step.isDone; cut = shares.next())
    await cutOldest(connection, cut, shares, step);
}

async function cutOldest(connection: Connection, cut: Cut, shares: ClientShares, step: Step): Promise<void> {
  const { owner, bare } = cut;
  const [oldest] = await connection.query<OldSegment>(
    `SELECT seq, last, ${SIZE} AS size FROM audit_segment
      WHERE worth = ${WORTH.accepted} AND owner = $1 AND bare = $2 ORDER BY time, seq LIMIT 1`,
    [owner, Number(bare)],
  );
  if (!oldest) return shares.clear(cut);
  shares.add(cut, -oldest.size);
  if (bare) return step.remove(oldest);
  shares.add({ owner, bare: true }, await step.strip(oldest));
}

/** Deletes the index of blocks without records. */
async function forgetBlocks(connection: Connection): Promise<void> {
  const [first] = await connection.query<{ seq: number | null }>("SELECT min(seq) AS seq FROM audit_segment");
  if (first?.seq === null || first === undefined) return;
  await connection.run("DELETE FROM audit_block WHERE block < $1", [blockOf(first.seq)]);
}

/**
 * Makes space: deletes the segments of callers whose tokens v4 has not accepted, by priority and age, and then removes from the
 * client with the largest share.
 *
 * @param bytes By how many bytes the records exceed the limit.
 */
export async function makeSpace(
  connection: Connection,
  bytes: number,
): Promise<Omit<PurgeResult, "clients">> {
  const step = new Step(connection, bytes);
  for (const worth of [WORTH.refused, WORTH.unaccepted])
    for (const segment of await findOldest(connection, worth, Number.MAX_SAFE_INTEGER)) {
      if (step.isDone) return step.result;
      await step.remove(segment);
    }
  if (!step.isDone) await cutShares(connection, step);
  return step.result;
}
