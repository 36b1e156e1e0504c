/** Deletes what is least important when the database exceeds its size limit. */
import type { DatabaseSync } from "node:sqlite";
import { ClientShares, type Cut } from "../client-shares.ts";
import type { PurgeResult } from "../purge.ts";
import { removeBodies } from "../../record/remove-bodies.ts";
import { compressSync, tryDecompress } from "../segment.ts";
import { WORTH } from "../stored-row.ts";
import { allRows } from "./rows.ts";

/** Size of the index rows of a record, approximately. */
const ROW_BYTES = 300;
/** Segments that one step changes or deletes. */
const STEP_SEGMENTS = 50;

/** Bytes of a segment with its rows, as SQL. */
const SIZE = `bytes + (last - seq + 1) * ${ROW_BYTES}`;

/** The statements about the owners of a day's segments. */
export function prepareOwners(database: DatabaseSync, day: string) {
  const name = `owner_${day}`;
  return {
    /** Adds a segment, unless it has an owner. */
    own: database.prepare(
      `INSERT INTO ${name} SELECT ?, 0, seq, ${SIZE} FROM segment_${day}
        WHERE seq = ?2 AND worth = ${WORTH.accepted} AND NOT EXISTS (SELECT 1 FROM ${name} WHERE seq = ?2)`,
    ),
    disown: database.prepare(`DELETE FROM ${name} WHERE owner = ? AND bare = ? AND seq = ?`),
    ownBare: database.prepare(`INSERT OR REPLACE INTO ${name} VALUES (?, 1, ?, ?)`),
    shares: database.prepare(`SELECT owner, bare, sum(bytes) AS bytes FROM ${name} GROUP BY owner, bare`),
    oldest: database.prepare(
      `SELECT seq, bytes FROM ${name} WHERE owner = ? AND bare = ? ORDER BY seq LIMIT 1`,
    ),
    least: database.prepare(
      `SELECT seq, last FROM segment_${day} WHERE worth = ? ORDER BY time LIMIT ${STEP_SEGMENTS}`,
    ),
    first: database.prepare(`SELECT seq, last FROM segment_${day} ORDER BY seq LIMIT ${STEP_SEGMENTS}`),
    segment: database.prepare(`SELECT last, ${SIZE} AS size, data FROM segment_${day} WHERE seq = ?`),
    places: database.prepare(
      `SELECT seq, start, size FROM record_${day} WHERE seq BETWEEN ? AND ? ORDER BY start`,
    ),
    place: database.prepare(`UPDATE record_${day} SET start = ?, size = ? WHERE seq = ?`),
    replace: database.prepare(`UPDATE segment_${day} SET data = ?, bytes = ? WHERE seq = ?`),
    removeRecords: database.prepare(`DELETE FROM record_${day} WHERE seq BETWEEN ? AND ?`),
    removeSegment: database.prepare(`DELETE FROM segment_${day} WHERE seq = ?`),
    disownAll: database.prepare(`DELETE FROM ${name} WHERE seq = ?`),
  };
}

type OwnerStatements = ReturnType<typeof prepareOwners>;

interface OldSegment {
  readonly last: number;
  readonly size: number;
  readonly data: Uint8Array;
}

/** Deletes the oldest segments of a day. @returns false if it has none */
export function removeOldest(day: OwnerStatements): boolean {
  const segments = day.first.all().map(({ seq, last }) => [Number(seq), Number(last)] as const);
  for (const [seq, last] of segments) {
    day.removeRecords.run(seq, last);
    day.removeSegment.run(seq);
    day.disownAll.run(seq);
  }
  return segments.length > 0;
}

/** One step of making space. */
class Step {
  freed = 0;
  evicted = 0;
  segments = 0;
  readonly #bytes: number;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.freed >= this.#bytes || this.segments >= STEP_SEGMENTS;
  }

  get result(): Omit<PurgeResult, "clients"> {
    return { evicted: this.evicted, more: this.freed < this.#bytes && this.segments > 0 };
  }

  #segment(day: OwnerStatements, seq: number): OldSegment {
    const segment = allRows<OldSegment>(day.segment, seq)[0];
    if (!segment) throw new Error(`the audit store has lost segment ${seq}`);
    return segment;
  }

  /** Deletes a segment and its records. */
  remove(day: OwnerStatements, seq: number): void {
    const { last, size } = this.#segment(day, seq);
    this.evicted += Number(day.removeRecords.run(seq, last).changes);
    day.removeSegment.run(seq);
    this.freed += size;
    this.segments += 1;
  }

  /** Removes the bodies of a segment, unless it is damaged. @returns Its size with its rows. */
  strip(day: OwnerStatements, seq: number): number {
    const { last, size, data } = this.#segment(day, seq);
    const rows = allRows<{ seq: number; start: number; size: number }>(day.places, seq, last);
    this.segments += 1;
    const decompressed = tryDecompress(data, rows);
    if (!decompressed) return size;
    const { bytes, places } = removeBodies(decompressed, rows);
    const compressed = compressSync(bytes);
    if (compressed.length >= data.length) return size;
    rows.forEach((row, index) => {
      const { start = 0, size: length = 0 } = places[index] ?? {};
      day.place.run(start, length, row.seq);
    });
    day.replace.run(compressed, compressed.length, seq);
    this.freed += data.length - compressed.length;
    return size - data.length + compressed.length;
  }
}

/**
 * Makes space: deletes the segments of callers whose tokens v4 has not accepted, by priority and age, and then removes from the
 * client with the largest share.
 *
 * @param days The statements of all days, the oldest first.
 * @param bytes By how many bytes the records exceed the limit.
 */
export function makeSpace(days: readonly OwnerStatements[], bytes: number): Omit<PurgeResult, "clients"> {
  const step = new Step(bytes);
  for (const worth of [WORTH.refused, WORTH.unaccepted]) removeLeast(days, worth, step);
  if (!step.isDone) cutShares(days, step);
  return step.result;
}

function removeLeast(days: readonly OwnerStatements[], worth: number, step: Step): void {
  for (const day of days) {
    if (step.isDone) return;
    for (const { seq } of day.least.all(worth)) {
      if (step.isDone) return;
      step.remove(day, Number(seq));
    }
  }
}

function cutShares(days: readonly OwnerStatements[], step: Step): void {
  const shares = new ClientShares();
  for (const day of days)
    for (const { owner, bare, bytes } of day.shares.all())
      shares.add({ owner: String(owner), bare: bare === 1 }, Number(bytes));
  for (let cut = shares.next(); cut && !step.isDone; cut = shares.next()) cutOldest(days, cut, shares, step);
}

function cutOldest(days: readonly OwnerStatements[], cut: Cut, shares: ClientShares, step: Step): void {
  const { owner, bare } = cut;
  for (const day of days) {
    const oldest = day.oldest.get(owner, Number(bare));
    if (!oldest) continue;
    const seq = Number(oldest["seq"]);
    day.disown.run(owner, Number(bare), seq);
    shares.add(cut, -Number(oldest["bytes"]));
    if (bare) return step.remove(day, seq);
    const size = step.strip(day, seq);
    day.ownBare.run(owner, seq, size);
    return shares.add({ owner, bare: true }, size);
  }
  shares.clear(cut);
}
