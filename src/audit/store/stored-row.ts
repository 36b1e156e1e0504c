import type { AuditRecord } from "../record/record.ts";
import type { NumberedNames } from "../usage/numbered-names.ts";
import type { RecordPlace } from "../record/record-memory.ts";

/** The columns of a record that queries and summaries need: its row in the index. */
export interface RecordColumns {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The fingerprint of the token. */
  readonly client: string | null;
  /** The network of its address; `""` if that is unknown. */
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
export interface IndexRow extends Omit<RecordColumns, "network" | "sent" | "lost"> {
  readonly start: number;
  /** With the line feed. */
  readonly size: number;
  /** The names of `sent`, as JSON. */
  readonly sentNames?: string | undefined;
  /** Those of `lost`. */
  readonly lostNames?: string | undefined;
}

/**
 * The priority of records when the store is full. Deleted first are rejected requests of callers whose token v4 has not
 * accepted, then other requests of such callers, then the rest.
 */
export const WORTH = { refused: 0, unaccepted: 1, accepted: 2 } as const;
