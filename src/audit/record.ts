/**
 * One request as the audit keeps it: what alpha asked and got, and which v4 calls were made for it.
 * Secrets are taken out before a record leaves the request (`redact.ts`).
 */

/** The status of a request whose client went away before it had its answer: nobody was sent one. */
export const CLIENT_GONE = 499;

/** JSON, or `JsonText`, or the text as it came when it was none; `undefined` when bodies are not kept or there was none. */
export type RecordedBody = unknown;

export interface RecordedCall {
  readonly method: string;
  /** Path with query, as sent. */
  readonly path: string;
  readonly filter: string | null;
  readonly body?: RecordedBody;
  /** The status v4 answered, or null where none came (see the record's `warnings`). */
  readonly status: number | null;
  readonly response?: RecordedBody;
  /** Milliseconds from sending to the whole answer. */
  readonly ms: number;
}

export interface AuditRecord {
  /** Sortable by time: of two records the later one has the greater id. */
  readonly id: string;
  /** ISO 8601, UTC, with milliseconds. */
  readonly time: string;
  readonly lane: "alpha" | "native";
  /** The `X-Request-Id` of the answer, also in the log. */
  readonly requestId: string;
  readonly client: {
    /** The first 16 hex digits of the token's SHA-256, or null without a token. */
    readonly fingerprint: string | null;
    /** Whether v4 has accepted the token, as far as it is known; left out without a token. */
    readonly accepted?: boolean;
    /** Its first 512 characters. */
    readonly userAgent: string | null;
    readonly address: string;
  };
  readonly alpha: {
    readonly method: string;
    readonly path: string;
    /** The route of the pack, e.g. `GET /vm/instances/:id`; null where none matched, and on the native lane. */
    readonly route: string | null;
    readonly query: string;
    readonly filter: string | null;
    readonly body?: RecordedBody;
    /** The status alpha's client was told (of `X-Status` where the client asked for 200 always). */
    readonly status: number;
    readonly response?: RecordedBody;
  };
  readonly v4: readonly RecordedCall[];
  /** What this answer could not keep, `field: reason`. */
  readonly losses: readonly string[];
  /** What really happened where the client was told something simpler. */
  readonly warnings: readonly string[];
  /** Milliseconds. */
  readonly timings: { readonly total: number; readonly upstream: number; readonly translation: number };
  /** Body bytes: read from the client, and sent to it. */
  readonly bytes: { readonly in: number; readonly out: number };
  /** How many requests that a limit rejected have this one record; left out for one. */
  readonly requests?: number;
}
