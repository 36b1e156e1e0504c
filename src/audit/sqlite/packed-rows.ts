import type { StoredRow } from "../stored-row.ts";

/** Rows on their way to the writing thread. Their records travel as one piece, which is copied as bytes. */
export interface PackedRows {
  readonly rows: readonly Omit<StoredRow, "record">[];
  readonly records: Uint8Array;
  /** Where each record ends. */
  readonly ends: readonly number[];
}

export function packRows(rows: readonly StoredRow[]): PackedRows {
  let end = 0;
  const ends = rows.map(({ record }) => (end += record.length));
  // Not of Node's common pool, all of which would be copied along.
  const records = Buffer.allocUnsafeSlow(end);
  rows.forEach(({ record }, index) => records.set(record, index === 0 ? 0 : ends[index - 1]));
  return { rows: rows.map(({ record: _record, ...row }) => row), records, ends };
}

/** The rows again, each with its piece of the records. */
export const unpackRows = ({ rows, records, ends }: PackedRows) =>
  rows.map((row, index) => ({ ...row, record: records.subarray(ends[index - 1] ?? 0, ends[index]) }));
