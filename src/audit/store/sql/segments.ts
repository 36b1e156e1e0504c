/** Removes segments, and changes their records. */
import type { TableRow } from "../record-row.ts";
import { compressSegment, tryDecompress } from "../segment.ts";
import { listOf, type Connection } from "./driver.ts";

/** A segment: the records `seq` to `last`. */
export interface StoredSegment {
  readonly seq: number;
  readonly last: number;
}

/** Deletes a segment and its records. @returns the number of records */
export async function removeSegment(connection: Connection, { seq, last }: StoredSegment): Promise<number> {
  const records = await connection.run("DELETE FROM audit WHERE seq BETWEEN $1 AND $2", [seq, last]);
  await connection.run("DELETE FROM audit_segment WHERE seq = $1", [seq]);
  return records;
}

/** Reads the rows of a segment, ordered by their records. */
export const rowsOf = (connection: Connection, { seq, last }: StoredSegment): Promise<TableRow[]> =>
  connection.query<TableRow>("SELECT * FROM audit WHERE seq BETWEEN $1 AND $2 ORDER BY start", [seq, last]);

/**
 * Writes a segment again.
 *
 * @param rows All of its rows
 * @param rewrite Returns the new line of a record, or undefined to delete it. The line of a record beyond the end of a
 *   damaged segment is shorter than its size, so that it stays unreadable
 * @returns the bytes that this saves; undefined if the segment is damaged, and unchanged
 */
export async function rewriteSegment(
  connection: Connection,
  segment: StoredSegment,
  rows: readonly TableRow[],
  rewrite: (row: TableRow, line: Uint8Array) => Uint8Array | undefined,
): Promise<number | undefined> {
  const { seq } = segment;
  const [stored] = await connection.query<{ data: Uint8Array }>(
    "SELECT data FROM audit_segment WHERE seq = $1",
    [seq],
  );
  const before = stored?.data ?? Buffer.alloc(0);
  const bytes = await tryDecompress(before, rows);
  if (!bytes) return undefined;
  const lines: Uint8Array[] = [];
  const kept: TableRow[] = [];
  let start = 0;
  let isChanged = false;
  for (const row of rows) {
    const line = bytes.subarray(row.start, row.start + row.size);
    const next = rewrite(row, line);
    isChanged ||= next !== line;
    if (next === undefined) continue;
    lines.push(next);
    kept.push({ ...row, start, size: next.length });
    start += next.length;
  }
  if (!isChanged) return 0;
  if (kept.length === 0) {
    await removeSegment(connection, segment);
    return before.length;
  }
  const data = await compressSegment(Buffer.concat(lines));
  await connection.run("UPDATE audit_segment SET data = $1, bytes = $2 WHERE seq = $3", [
    data,
    data.length,
    seq,
  ]);
  const numbers = new Set(kept.map((row) => row.seq));
  const removed = rows.flatMap((row) => (numbers.has(row.seq) ? [] : row.seq));
  await connection.run("DELETE FROM audit WHERE seq IN NUMBERS($1)", [listOf(removed)]);
  await connection.insert(
    "audit",
    kept,
    "ON CONFLICT (seq) DO UPDATE SET start = excluded.start, size = excluded.size",
  );
  return before.length - data.length;
}
