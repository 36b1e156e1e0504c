/**
 * The row of a record: the columns that queries and summaries need. To add a column:
 *
 * 1. Add a step to `STEPS` of `sql/schema.ts`, which adds it to the table and sets its value in old rows.
 * 2. Add it here to {@link RecordColumns}. Then {@link columnsOf} and {@link indexRow} only compile with its value.
 *
 * No further change is needed: a row is written with all its columns, and `SELECT *` reads whole rows ({@link
 * TableRow}) to count earlier requests of a token, and to write rows again.
 *
 * To filter by the column: "A filter of records" in `docs/internals/architecture.md`.
 */
import { plainText, plainTextOrNull } from "../record/plain-text.ts";
import type { AuditRecord } from "../record/record.ts";
import type { RecordPlace } from "../record/record-memory.ts";
import type { NumberedNames } from "../record/numbered-names.ts";
import { applicationKey, labelKey } from "../usage/summary-key.ts";

/** The columns of a record, with their names in the table. Flags are 1 or 0. */
export interface RecordColumns {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The fingerprint of the token. */
  readonly client: string | null;
  /** Whether v4 has accepted the client's token, or the login server has accepted the application. */
  readonly accepted: number;
  /** The key of the label, otherwise of the application, in the summaries: `label:NAME` or `application:ID`. */
  readonly sender: string | null;
  readonly route: string | null;
  readonly status: number;
  readonly lane: AuditRecord["lane"];
  readonly request_id: string;
  readonly agent: string | null;
  /** Whether the translation of the response lost something. */
  readonly lossy: number;
  /** Number of requests that the summaries count for the record. Records with 0 are omitted. */
  readonly requests: number;
}

/** The columns of a record that waits for its commit. */
export interface WaitingColumns extends RecordColumns {
  /** The network of the client's address, or `""` if it is unknown. It decides which segment contains the record. */
  readonly network: string;
  /** The names of the route that the client sent. */
  readonly sent: NumberedNames | undefined;
  /** The losses of the route that occurred. */
  readonly lost: NumberedNames | undefined;
}

/** Returns the key of a label, otherwise of an application. Undefined if there is neither. */
const senderOf = ({ label, application }: AuditRecord["client"]): string | undefined =>
  label !== undefined
    ? labelKey(plainText(label))
    : application === undefined
      ? undefined
      : applicationKey(plainText(application));

/** Whether a request belongs to a client with one of these keys. @param keys Undefined: all clients */
export function isOfClients(client: AuditRecord["client"], keys: readonly string[] | undefined): boolean {
  const { fingerprint } = client;
  const sender = senderOf(client);
  return (
    keys === undefined ||
    (fingerprint !== null && keys.includes(fingerprint)) ||
    (sender !== undefined && keys.includes(sender))
  );
}

/**
 * Returns the columns of a record. All texts are cleaned, because clients choose some of them.
 *
 * @param network The network of its client: passed as an argument, because the thread of SQLite loads this file without
 *   the code that finds networks
 * @throws {TypeError} if the record has no time
 */
export function columnsOf(record: AuditRecord, network: string): WaitingColumns {
  const { id, time, client, alpha, lane, requestId, losses, sent, lost, requests = 1 } = record;
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new TypeError("An audit record needs a time.");
  return {
    id: plainText(id),
    time: ms,
    client: plainTextOrNull(client.fingerprint),
    accepted: Number(client.accepted !== false),
    sender: senderOf(client) ?? null,
    route: plainTextOrNull(alpha.route),
    status: alpha.status,
    lane,
    request_id: plainText(requestId),
    agent: plainTextOrNull(client.userAgent),
    lossy: Number(losses.length > 0),
    requests,
    network: plainText(network),
    sent,
    lost,
  };
}

/** A record to be stored: its columns, and the position of its text in memory. */
export interface StoredRow extends WaitingColumns, Omit<RecordPlace, "chunk"> {
  readonly chunk: Pick<RecordPlace["chunk"], "bytes">;
}

/** A stored record: its columns, and the position of its text in the decompressed segment, in bytes. */
export interface IndexRow extends RecordColumns {
  /** The names that the client sent, and those of the losses, as JSON. */
  readonly sent: string | null;
  readonly lost: string | null;
  readonly start: number;
  /** The size including the line feed. */
  readonly size: number;
}

/** A row of the table `audit`, with all its columns. */
export interface TableRow extends IndexRow {
  /** The number of the record, in the order of the commits. */
  readonly seq: number;
  /** The segment that contains the record's text. */
  readonly segment: number;
}

/** Converts a row. All members are listed, because V8 executes `{ chunk, ...others }` slowly. */
export const indexRow = (row: StoredRow, start: number): IndexRow => ({
  id: row.id,
  time: row.time,
  client: row.client,
  accepted: row.accepted,
  sender: row.sender,
  route: row.route,
  status: row.status,
  lane: row.lane,
  request_id: row.request_id,
  agent: row.agent,
  lossy: row.lossy,
  requests: row.requests,
  sent: row.sent?.text ?? null,
  lost: row.lost?.text ?? null,
  start,
  size: row.size,
});

/**
 * The priority of records when the store is full. Deleted first are rejected requests of callers whose token v4 has not
 * accepted, then other requests of such callers, then the rest.
 */
export const WORTH = { refused: 0, unaccepted: 1, accepted: 2 } as const;

type Judged = Pick<RecordColumns, "client" | "status" | "accepted">;

/** Returns the priority of a record, one of `WORTH`. */
export const worthOf = ({ client, status, accepted }: Judged): number =>
  client !== null && accepted ? WORTH.accepted : status >= 400 ? WORTH.refused : WORTH.unaccepted;

/** Returns the clients whose tokens v4 has accepted in one of the rows. */
export const acceptedClients = (rows: readonly Judged[]): Set<string> =>
  new Set(rows.flatMap(({ client, accepted }) => (client !== null && accepted ? [client] : [])));
