import type { AuditRecord } from "./record.ts";
import { serializeRecord } from "./record-text.ts";

/** What pages are narrowed by besides time. Each has an index of its own, so that rare combinations are found at once. */
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

/** A record as stores keep it: its whole text, and beside it what queries narrow by and summaries count. */
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
  /** Whether the answer could not keep something. */
  readonly lossy: boolean;
  /** How many requests it stands for. Default: one. */
  readonly requests?: number;
  /**
   * The record as JSON, in UTF-8. Bytes lie outside of the heap: the collector would carry texts about, and all that
   * they are made of, for as long as they wait to be written.
   */
  readonly record: Buffer;
}

/**
 * What a record is worth where there is no room for all: what was refused to a caller without a token that v4 has
 * accepted goes first, then what such a caller was answered, then the rest.
 */
export const WORTH = { refused: 0, unaccepted: 1, accepted: 2 } as const;

/** @throws {TypeError} where the record is no JSON. */
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
