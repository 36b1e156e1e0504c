import type { AuditRecord } from "./record.ts";

/** A record as stores keep it: its whole text, and beside it what queries narrow by. */
export interface StoredRow {
  readonly id: string;
  readonly time: string;
  readonly client: string | null;
  readonly route: string | null;
  readonly status: number;
  /** The record as JSON. */
  readonly record: string;
}

/** @throws {TypeError} where the record is no JSON. */
export function toRow(record: AuditRecord): StoredRow {
  return {
    id: record.id,
    time: record.time,
    client: record.client.fingerprint,
    route: record.alpha.route,
    status: record.alpha.status,
    record: JSON.stringify(record),
  };
}
