/** Deletes records that are too old, and the least important records if they exceed the size limit. */
import { StoredShares } from "../sender-bytes.ts";
import type { StoreLimits } from "../store.ts";
import { WORTH } from "../record-row.ts";
import { removeBodies } from "../remove-bodies.ts";
import { blockOf } from "./blocks.ts";
import type { Connection } from "./driver.ts";
import { removeSegment, rewriteSegment, rowsOf, type StoredSegment } from "./segments.ts";
import { StoredAmount } from "./stored-amount.ts";

/** Approximate size in bytes of the row of a record, including its share of the indexes and of partly filled pages. */
export const ROW_BYTES = 600;
/** Maximum number of segments that one step changes or deletes. */
const STEP_SEGMENTS = 50;

/** SQL for the size of a segment and its rows in bytes. */
const SIZE = `bytes + (last - seq + 1) * ${ROW_BYTES}`;

interface SizedSegment extends StoredSegment {
  readonly size: number;
}

/** Milliseconds between two computations of the total size, while it is below the limit. */
const SUM_MS = 60_000;

/** The size of all records of a store in bytes. */
export const recordBytes = (): StoredAmount =>
  new StoredAmount(async (query) => {
    const [stored] = await query<{ bytes: number }>(
      `SELECT coalesce(sum(${SIZE}), 0) AS bytes FROM audit_segment`,
    );
    return stored?.bytes ?? 0;
  }, SUM_MS);

/** The result of one step. */
export interface MadeRoom {
  /** Number of records that were only deleted because of the size limit. */
  readonly evicted: number;
  /** Whether there may be more to delete. */
  readonly more: boolean;
}

/**
 * Deletes some records: first those of days that ended before the age limit, then those above the size limit.
 *
 * @param bytes the size of all records
 * @returns the number of evicted records, and whether there may be more to delete
 */
export async function makeRoom(
  connection: Connection,
  { before, sizeLimit }: Pick<StoreLimits, "before" | "sizeLimit">,
  bytes: StoredAmount,
): Promise<MadeRoom> {
  const old = await connection.query<SizedSegment>(
    `SELECT seq, last, ${SIZE} AS size FROM audit_segment
      WHERE worth IN (${Object.values(WORTH).join(", ")}) AND time < $1 LIMIT ${STEP_SEGMENTS}`,
    [before],
  );
  for (const segment of old) await removeSegment(connection, segment);
  if (old.length > 0) return { evicted: 0, more: true };
  await forgetBlocks(connection);
  const step = new Step(connection, await bytes.excess(connection.query, sizeLimit));
  await cutStrangers(connection, step);
  await cutShares(connection, step);
  return step.result;
}

/** Deletes the index of blocks without records. */
async function forgetBlocks(connection: Connection): Promise<void> {
  const [first] = await connection.query<{ seq: number | null }>("SELECT min(seq) AS seq FROM audit_segment");
  if (first?.seq === null || first === undefined) return;
  await connection.run("DELETE FROM audit_block WHERE block < $1", [blockOf(first.seq)]);
}

/** Reduces segments until there is enough space, or until many segments were changed. */
class Step {
  #left: number;
  #evicted = 0;
  #segments = 0;
  readonly #connection: Connection;

  /** @param excess number of bytes by which the records exceed the limit */
  constructor(connection: Connection, excess: number) {
    this.#connection = connection;
    this.#left = excess;
  }

  get isDone(): boolean {
    return this.#left <= 0 || this.#segments >= STEP_SEGMENTS;
  }

  get result(): MadeRoom {
    return { evicted: this.#evicted, more: this.#left > 0 && this.#segments > 0 };
  }

  /** Deletes a segment and its records. */
  async remove(segment: SizedSegment): Promise<void> {
    this.#segments += 1;
    this.#evicted += await removeSegment(this.#connection, segment);
    this.#left -= segment.size;
  }

  /** Removes the bodies of a segment, unless it is damaged. @returns the size of the segment and its rows */
  async strip(segment: SizedSegment): Promise<number> {
    const connection = this.#connection;
    this.#segments += 1;
    await connection.run("UPDATE audit_segment SET bare = 1 WHERE seq = $1", [segment.seq]);
    const rows = await rowsOf(connection, segment);
    const saved = (await rewriteSegment(connection, segment, rows, (_, line) => removeBodies(line))) ?? 0;
    this.#left -= saved;
    return segment.size - saved;
  }
}

/** Deletes segments of callers whose tokens v4 has not accepted, by priority and age. */
async function cutStrangers(connection: Connection, step: Step): Promise<void> {
  if (step.isDone) return;
  const found = await connection.query<SizedSegment>(
    `SELECT seq, last, ${SIZE} AS size FROM audit_segment WHERE worth < ${WORTH.accepted}
      ORDER BY worth, time, seq LIMIT ${STEP_SEGMENTS}`,
  );
  for (const segment of found) if (!step.isDone) await step.remove(segment);
}

/** Reduces the segments of the client with the largest share. */
async function cutShares(connection: Connection, step: Step): Promise<void> {
  if (step.isDone) return;
  const shares = new StoredShares();
  const found = await connection.query<{ owner: string; bare: number; size: number }>(
    `SELECT owner, bare, sum(${SIZE}) AS size FROM audit_segment WHERE worth = ${WORTH.accepted} GROUP BY owner, bare`,
  );
  for (const { owner, bare, size } of found) shares.add({ owner, isBare: bare === 1 }, size);
  for (let cut = shares.next(); cut && !step.isDone; cut = shares.next()) {
    const [oldest] = await connection.query<SizedSegment>(
      `SELECT seq, last, ${SIZE} AS size FROM audit_segment
        WHERE worth = ${WORTH.accepted} AND owner = $1 AND bare = $2 ORDER BY time, seq LIMIT 1`,
      [cut.owner, Number(cut.isBare)],
    );
    // Each size is part of the sum: if there are no segments, the sum is 0.
    if (!oldest) return;
    shares.add(cut, -oldest.size);
    if (cut.isBare) await step.remove(oldest);
    else shares.add({ ...cut, isBare: true }, await step.strip(oldest));
  }
}
