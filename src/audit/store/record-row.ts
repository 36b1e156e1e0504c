/**
 * The row of a record: the columns that queries and summaries need. A new column is a member of {@link
 * RecordColumns}, its value in {@link columnsOf}, its copy in {@link indexRow}, its name in {@link tableRow}, and a
 * step in `STEPS` of `sql/schema.ts`, which sets its value in old rows. To filter by it: `filterTerms` in
 * `sql/blocks.ts`.
 */
import { plainText, plainTextOrNull } from "../record/plain-text.ts";
import type { AuditRecord } from "../record/record.ts";
import type { RecordPlace } from "../record/record-memory.ts";
import type { NumberedNames } from "../record/numbered-names.ts";
import { applicationKey, type Keyed, labelKey } from "../usage/summary-key.ts";
import { usageAgent } from "../usage/usage.ts";

/** The columns of a record. */
export interface RecordColumns {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The fingerprint of the token. */
  readonly client: string | null;
  /**
   * The network of its address, or `""` if that is unknown. No table has this column. It decides which segment gets
   * the record.
   */
  readonly network: string;
  /** Whether v4 has accepted the client's token, or the login server the application. */
  readonly accepted: boolean;
  /** The key of its label, else of its application, in the summaries: `label:NAME` or `application:ID`. */
  readonly sender?: string | undefined;
  readonly route: string | null;
  readonly status: number;
  readonly lane: AuditRecord["lane"];
  readonly requestId: string;
  readonly agent: string | null;
  /** Whether the translation of the response lost something. */
  readonly lossy: boolean;
  /** The names of its route that the client sent. */
  readonly sent?: NumberedNames | undefined;
  /** The losses of its route that it had. */
  readonly lost?: NumberedNames | undefined;
  /** The number of requests that the record stands for. Default: one. Summaries leave out a record with 0. */
  readonly requests?: number | undefined;
}

/** The key of a label, else of an application. Undefined without both. */
const senderOf = ({ label, application }: AuditRecord["client"]): string | undefined =>
  label !== undefined
    ? labelKey(plainText(label))
    : application === undefined
      ? undefined
      : applicationKey(plainText(application));

/** Whether a request belongs to one of the clients with these keys. @param keys Undefined: all clients */
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
 * The columns of a record. All texts are cleaned, because clients choose some of them.
 *
 * @param network The network of its client: passed as an argument, because the thread of SQLite loads this file
 * without the code that finds networks
 * @throws {TypeError} If it has no time.
 */
export function columnsOf(record: AuditRecord, network: string): RecordColumns {
  const { id, time, client, alpha, lane, requestId, losses, sent, lost, requests } = record;
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new TypeError("An audit record needs a time.");
  return {
    id: plainText(id),
    time: ms,
    client: plainTextOrNull(client.fingerprint),
    network: plainText(network),
    accepted: client.accepted !== false,
    sender: senderOf(client),
    route: plainTextOrNull(alpha.route),
    status: alpha.status,
    lane,
    requestId: plainText(requestId),
    agent: plainTextOrNull(client.userAgent),
    lossy: losses.length > 0,
    sent,
    lost,
    requests,
  };
}

/** A record to be stored: its columns, and the place of its text in memory. */
export interface StoredRow extends RecordColumns, Omit<RecordPlace, "chunk"> {
  readonly chunk: Pick<RecordPlace["chunk"], "bytes">;
}

/** A stored record: its columns, and the place of its text in the decompressed segment, in bytes. */
export interface IndexRow extends Omit<RecordColumns, "network" | "sent" | "lost"> {
  readonly start: number;
  /** With the line feed. */
  readonly size: number;
  /** The names of `sent`, as JSON. */
  readonly sentNames?: string | undefined;
  /** The names of `lost`, as JSON. */
  readonly lostNames?: string | undefined;
}

/** All members are listed, because V8 executes `{ chunk, ...others }` slowly. */
export const indexRow = (row: StoredRow, start: number): IndexRow => ({
  id: row.id,
  time: row.time,
  client: row.client,
  accepted: row.accepted,
  sender: row.sender,
  route: row.route,
  status: row.status,
  lane: row.lane,
  requestId: row.requestId,
  agent: row.agent,
  lossy: row.lossy,
  requests: row.requests,
  sentNames: row.sent?.text,
  lostNames: row.lost?.text,
  start,
  size: row.size,
});

/** The row of a record in the table `audit`. */
export const tableRow = (row: Keyed<IndexRow>, seq: number, segment: number) => ({
  seq,
  id: row.id,
  time: row.time,
  client: row.client,
  sender: row.sender ?? null,
  route: row.route,
  status: row.status,
  lane: row.lane,
  request_id: row.requestId,
  // Counted names are not needed any more.
  agent: row.accepted ? null : usageAgent(row.agent),
  lossy: Number(row.lossy),
  requests: row.requests ?? 1,
  accepted: Number(row.accepted),
  sent: row.accepted ? null : (row.sentNames ?? null),
  lost: row.accepted ? null : (row.lostNames ?? null),
  segment,
  start: row.start,
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
