import type { AuditRecord } from "./record.ts";
import { serializeRecord, type SerializedRecord } from "./record-text.ts";

/** What queries and summaries need of a record: its row in the index. */
interface RecordColumns {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly client: string | null;
  /** Whether v4 has accepted the client's token. */
  readonly accepted: boolean;
  readonly route: string | null;
  readonly status: number;
  readonly lane: AuditRecord["lane"];
  readonly method: string;
  readonly requestId: string;
  readonly agent: string | null;
  /** Whether the translation of the response lost something. */
  readonly lossy: boolean;
  /** How many requests it stands for. Default: one. */
  readonly requests?: number;
}

/** A record that waits for its commit. Its text is outside of the heap, where the garbage collector does not copy it. */
export interface StoredRow extends RecordColumns {
  readonly record: SerializedRecord;
}

/** A record as it is stored: its columns, and where its text is in the decompressed segment, in bytes. */
export interface IndexRow extends RecordColumns {
  readonly start: number;
  /** With the line feed. */
  readonly size: number;
}

/**
 * The priority of records when the store is full. Deleted first are rejected requests of callers whose token v4 has not
 * accepted, then other requests of such callers, then the rest.
 */
export const WORTH = { refused: 0, unaccepted: 1, accepted: 2 } as const;

/** Converts a record. @throws {TypeError} If it can't be serialised as JSON. */
export function toRow(record: AuditRecord): StoredRow {
  return Object.assign(columnsOf(record), { record: serializeRecord(record) });
}

/** The columns of a record. @throws {TypeError} If it has no time. */
export function columnsOf({
  id,
  time,
  client,
  alpha,
  lane,
  requestId,
  losses,
  requests,
}: AuditRecord): RecordColumns {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new TypeError("An audit record needs a time.");
  return {
    id,
    time: ms,
    client: client.fingerprint,
    accepted: client.accepted !== false,
    route: alpha.route,
    status: alpha.status,
    lane,
    method: alpha.method,
    requestId,
    agent: client.userAgent,
    lossy: losses.length > 0,
    ...(requests !== undefined && { requests }),
  };
}
