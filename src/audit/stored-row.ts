import type { AuditRecord } from "./record.ts";
import type { RecordPlace } from "./record-memory.ts";

/** What queries and summaries need of a record: its row in the index. */
export interface RecordColumns {
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
  readonly requests?: number | undefined;
}

/** A record to be stored: its columns, and where its text is in memory. */
export interface StoredRow extends RecordColumns, Omit<RecordPlace, "chunk"> {
  readonly chunk: Pick<RecordPlace["chunk"], "bytes">;
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
    requests,
  };
}
