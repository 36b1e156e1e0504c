import { crc32 } from "node:zlib";
import type { RejectedBy } from "../../pack/index.ts";
import type { NumberedNames } from "./numbered-names.ts";

/**
 * The audit record of one request: the alpha request and its response, and the v4 calls for it. Secrets are removed
 * before a record leaves the request (`redact.ts`).
 */

/** The CRC-32 of a response, in the form of records: 8 hex digits. */
export const checksumOf = (response: string | Uint8Array): string =>
  crc32(response).toString(16).padStart(8, "0");

/**
 * JSON, `JsonText`, or the received text if it is not JSON. Undefined if there is no body, or if bodies are not
 * recorded.
 */
export type RecordedBody = unknown;

export interface RecordedCall {
  readonly method: string;
  /** The path with its query, as sent. */
  readonly path: string;
  readonly filter: string | null;
  readonly body?: RecordedBody;
  /** The status of v4's response, or null if missing (see the record's `warnings`). */
  readonly status: number | null;
  readonly response?: RecordedBody;
  /** Milliseconds from sending to the complete response. */
  readonly ms: number;
}

/**
 * The service that responded to a request: the translation (`alpha`), v4 without translation (`native`), or the old
 * service (`legacy`).
 */
export const LANES = ["alpha", "native", "legacy"] as const;

type Lane = (typeof LANES)[number];

/** Whether a request was a call of the client's API, regardless of the service that responded. */
export const isClientApi = ({ lane }: { readonly lane: Lane }): boolean => lane !== "native";

export interface AuditRecord {
  /** The id of the record. Ids are sorted by time: a later record has a greater id. */
  readonly id: string;
  /** The time in ISO 8601, UTC, with milliseconds. */
  readonly time: string;
  readonly lane: Lane;
  /** The hash of the pack that translated the request. Missing for the native proxy. */
  readonly pack?: string;
  /** The `X-Request-Id` of the response, which the log also contains. */
  readonly requestId: string;
  readonly client: {
    /** The first 16 hex digits of the token's SHA-256, or null if there is no token. */
    readonly fingerprint: string | null;
    /**
     * Whether v4 has accepted the token, if this is known. For a call to the login server: whether that server has
     * accepted the application. Missing if there is no token or application.
     */
    readonly accepted?: boolean;
    /**
     * The OAuth client id of the application to which the token was issued, or which a call to the login server
     * contains. Missing if it is unknown.
     */
    readonly application?: string;
    /** The name of the client that a trusted proxy sent in `CLIENT_HEADER`. Left out if empty. */
    readonly label?: string;
    /** The first 512 characters of the user agent. */
    readonly userAgent: string | null;
    readonly address: string;
  };
  readonly alpha: {
    readonly method: string;
    readonly path: string;
    /** The route of the pack, e.g. `GET /vm/instances/:id`; null if none matched, and for the native proxy. */
    readonly route: string | null;
    readonly query: string;
    /** Names of query parameters without effect, because the pack does not define them. Left out if empty. */
    readonly ignored?: readonly string[];
    readonly filter: string | null;
    readonly body?: RecordedBody;
    /** The status of the response (that of `X-Status` if the client always requests 200). */
    readonly status: number;
    readonly response?: RecordedBody;
    /** CRC-32 of the response as it was sent: 8 hex digits. Present only if the response is recorded unchanged. */
    readonly checksum?: string;
  };
  readonly v4: readonly RecordedCall[];
  /** The losses of this request or response: `field: reason`. */
  readonly losses: readonly string[];
  /** Facts about the outcome that the response does not contain. */
  readonly warnings: readonly string[];
  /** Durations in milliseconds. */
  readonly timings: { readonly total: number; readonly upstream: number; readonly translation: number };
  /**
   * Bytes of the body that was read from the client, and of the body that was sent to it. For a body with a secret:
   * the recorded bytes.
   */
  readonly bytes: { readonly in: number; readonly out: number };
  /**
   * The part of the gateway that rejected the request: a rate limit or a share of the connections (`limit`), the memory
   * for bodies, the limit of the head, a brown-out, or the rule for writes from pages of a different origin
   * (`cross_site`). Missing for all other requests.
   */
  readonly rejectedBy?: RejectedBy;
  /** The names of the route that the client sent. They are counted, and not part of the stored record. */
  readonly sent?: NumberedNames;
  /** The losses of the route that occurred. They are counted, and not part of the stored record. */
  readonly lost?: NumberedNames;
  /**
   * The number of rejected requests that share this record. Missing if it is one. 0: the request is not a call of the
   * client's API, but for a page, or a check of a token. It is not included in summaries.
   */
  readonly requests?: number;
}
