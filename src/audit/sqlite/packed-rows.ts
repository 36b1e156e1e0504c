import type { StoredRow } from "../stored-row.ts";

/** Rows for the writer thread. Their records are one buffer, which is copied as bytes. */
export interface PackedRows {
  readonly rows: readonly Omit<StoredRow, "record">[];
  readonly records: Uint8Array;
  /** The end position of each record. */
  readonly ends: readonly number[];
}

/** Packs rows for the writer thread. */
export function packRows(rows: readonly StoredRow[]): PackedRows {
  let end = 0;
  const ends = rows.map(({ record }) => (end += record.length));
  // Not from Node's shared pool, because all of that would be copied.
  const records = Buffer.allocUnsafeSlow(end);
  rows.forEach(({ record }, index) => records.set(record, index === 0 ? 0 : ends[index - 1]));
  return { rows: rows.map(({ record: _record, ...row }) => row), records, ends };
}

/** Unpacks rows in the writer thread. */
export const unpackRows = ({ rows, records, ends }: PackedRows) =>
  rows.map((row, index) => ({ ...row, record: records.subarray(ends[index - 1] ?? 0, ends[index]) }));
