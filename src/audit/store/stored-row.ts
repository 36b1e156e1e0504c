import type { AuditRecord } from "../record/record.ts";
import type { NumberedNames } from "../redact/numbered-names.ts";
import type { RecordPlace } from "../record/record-memory.ts";
import { applicationKey, labelKey } from "../usage/summary-key.ts";

/** What queries and summaries need of a record: its row in the index. */
export interface RecordColumns {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The fingerprint of the token. */
  readonly client: string | null;
  /** Whether v4 has accepted the client's token, or the login server the application. */
  readonly accepted: boolean;
  /** The key of its label, else of its application, in the summaries: `label:NAME` or `application:ID`. */
  readonly sender?: string | undefined;
  readonly route: string | null;
  readonly status: number;
  readonly lane: AuditRecord["lane"];
  readonly method: string;
  readonly requestId: string;
  readonly agent: string | null;
  /** Whether the translation of the response lost something. */
  readonly lossy: boolean;
  /** Which names of its route the client sent. */
  readonly sent?: NumberedNames | undefined;
  /** Which losses of its route it had. */
  readonly lost?: NumberedNames | undefined;
  /** How many requests it stands for. Default: one. 0: it is counted in no summary. */
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
  /** The pack and the bits of `sent`, separated by a blank. */
  readonly sentBits?: string | undefined;
  /** Those of `lost`. */
  readonly lostBits?: string | undefined;
}

/**
 * The priority of records when the store is full. Deleted first are rejected requests of callers whose token v4 has not
 * accepted, then other requests of such callers, then the rest.
 */
export const WORTH = { refused: 0, unaccepted: 1, accepted: 2 } as const;

/** PostgreSQL can't store U+0000, and a form may have it. */
const plainText = (text: string): string => text.replaceAll("\u0000", "");

/** The key of a label, else of an application; undefined without both. */
const senderOf = ({ label, application }: AuditRecord["client"]): string | undefined =>
  label !== undefined
    ? labelKey(plainText(label))
    : application === undefined
      ? undefined
      : applicationKey(plainText(application));

/** Whether a request is one of the clients with these keys. @param keys Undefined: all clients */
export function isOfClients(client: AuditRecord["client"], keys: readonly string[] | undefined): boolean {
  const { fingerprint } = client;
  const sender = senderOf(client);
  return (
    keys === undefined ||
    (fingerprint !== null && keys.includes(fingerprint)) ||
    (sender !== undefined && keys.includes(sender))
  );
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
  sent,
  lost,
  requests,
}: AuditRecord): RecordColumns {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new TypeError("An audit record needs a time.");
  return {
    id,
    time: ms,
    client: client.fingerprint,
    accepted: client.accepted !== false,
    sender: senderOf(client),
    route: alpha.route,
    status: alpha.status,
    lane,
    method: alpha.method,
    requestId,
    agent: client.userAgent,
    lossy: losses.length > 0,
    sent,
    lost,
    requests,
  };
}
