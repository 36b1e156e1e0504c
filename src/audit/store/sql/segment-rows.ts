/** The rows of the records of a segment. */
import type { Connection } from "./driver.ts";

/** A row, with the place of its record in the decompressed segment. */
export interface SegmentRow {
  readonly seq: number;
  readonly client: string | null;
  readonly sender: string | null;
  readonly start: number;
  readonly size: number;
}

/** Reads the rows of a segment, in the order of their records. They have all columns, so that they can be written again. */
export const rowsOf = (connection: Connection, seq: number, last: number): Promise<SegmentRow[]> =>
  connection.query<SegmentRow>("SELECT * FROM audit WHERE seq BETWEEN $1 AND $2 ORDER BY start", [seq, last]);

/** How many rows around those of a client are rewritten: more than fit into three pages of SQLite. */
const NEIGHBOURS = 200;

/**
 * Rewrites rows. When SQLite moves rows from one page to another, it may leave copies of them behind: pages whose rows are all
 * deleted are overwritten.
 */
export async function rewriteRows(connection: Connection, first: number, next: number): Promise<void> {
  const range = [first - NEIGHBOURS, next + NEIGHBOURS];
  const rows = await connection.query<SegmentRow>("SELECT * FROM audit WHERE seq >= $1 AND seq < $2", range);
  await connection.run("DELETE FROM audit WHERE seq >= $1 AND seq < $2", range);
  await connection.insert("audit", rows);
}

/** Writes the new places of rows that were read. */
export const moveRows = (connection: Connection, rows: readonly SegmentRow[]): Promise<void> =>
  connection.insert(
    "audit",
    rows,
    "ON CONFLICT (seq) DO UPDATE SET start = excluded.start, size = excluded.size",
  );
