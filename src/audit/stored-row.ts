import type { AuditRecord } from "./record.ts";
import { serializeRecord } from "./record-text.ts";

/** Combinations of columns by which pages are filtered. Each has an index, so that rare combinations are found quickly. */
export const QUERY_FILTERS = [
  [],
  ["client"],
  ["route"],
  ["status"],
  ["client", "route"],
  ["client", "status"],
  ["route", "status"],
  ["client", "route", "status"],
] as const;

/** A record as it is stored: its text, and the columns that queries and summaries need. */
export interface StoredRow {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly client: string | null;
  /** Whether v4 has accepted the client's token. */
  readonly accepted: boolean;
  readonly route: string | null;
  readonly status: number;
  readonly lane: AuditRecord["lane"];
  readonly agent: string | null;
  /** Whether the translation of the response lost something. */
  readonly lossy: boolean;
  /** How many requests it stands for. Default: one. */
  readonly requests?: number;
  /**
   * The record as JSON in UTF-8. A buffer is outside of the heap: the garbage collector would copy a string, and keep
   * everything that it was made of, until it is written.
   */
  readonly record: Buffer;
}

/**
 * The priority of records when the store is full. Deleted first are rejected requests of callers whose token v4 has not
 * accepted, then other requests of such callers, then the rest.
 */
export const WORTH = { refused: 0, unaccepted: 1, accepted: 2 } as const;

/** Converts a record. @throws {TypeError} If it can't be serialised as JSON. */
export function toRow(record: AuditRecord): StoredRow {
  const { id, time, client, alpha, lane, losses } = record;
  return {
    id,
    time: Date.parse(time),
    client: client.fingerprint,
    accepted: client.accepted !== false,
    route: alpha.route,
    status: alpha.status,
    lane,
    agent: client.userAgent,
    lossy: losses.length > 0,
    ...(record.requests !== undefined && { requests: record.requests }),
    record: Buffer.from(serializeRecord(record)),
  };
}
