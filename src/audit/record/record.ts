import { crc32 } from "node:zlib";
import { z } from "zod";
import { REJECTIONS } from "../../pack/index.ts";
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

/** A body of a record. A store may contain any JSON. */
const recordedBody = z.unknown().exactOptional();

const callSchema = z
  .object({
    method: z.string(),
    /** The path with its query, as sent. */
    path: z.string(),
    filter: z.string().nullable(),
    body: recordedBody,
    /** The status of v4's response, or null if missing (see the record's `warnings`). */
    status: z.int().nullable(),
    response: recordedBody,
    /** Milliseconds from sending to the complete response. */
    ms: z.number(),
  })
  .readonly();

export type RecordedCall = z.output<typeof callSchema>;

/**
 * The service that responded to a request: the translation (`alpha`), v4 without translation (`native`), or the old
 * service (`legacy`).
 */
export const LANES = ["alpha", "native", "legacy"] as const;

type Lane = (typeof LANES)[number];

/** Whether a request was a call of the client's API, regardless of the service that responded. */
export const isClientApi = ({ lane }: { readonly lane: Lane }): boolean => lane !== "native";

/** The schema of a stored record. */
export const recordSchema = z.object({
  /** The id of the record. Ids are sorted by time: a later record has a greater id. */
  id: z.string(),
  /** The time in ISO 8601, UTC, with milliseconds. */
  time: z.iso.datetime(),
  lane: z.enum(LANES),
  /** The hash of the pack that translated the request. Missing for the native proxy. */
  pack: z.string().exactOptional(),
  /** The `X-Request-Id` of the response, which the log also contains. */
  requestId: z.string(),
  client: z
    .object({
      /** The first 16 hex digits of the token's SHA-256, or null if there is no token. */
      fingerprint: z.string().nullable(),
      /**
       * Whether v4 has accepted the token, if this is known. For a call to the login server: whether that server has
       * accepted the application. Missing if there is no token or application.
       */
      accepted: z.boolean().exactOptional(),
      /**
       * The OAuth client id of the application to which the token was issued, or which a call to the login server
       * contains. Missing if it is unknown.
       */
      application: z.string().exactOptional(),
      /** The name of the client that a trusted proxy sent in `CLIENT_HEADER`. Left out if empty. */
      label: z.string().exactOptional(),
      /** The first 512 characters of the user agent. */
      userAgent: z.string().nullable(),
      address: z.string(),
    })
    .readonly(),
  alpha: z
    .object({
      method: z.string(),
      path: z.string(),
      /** The route of the pack, e.g. `GET /vm/instances/:id`; null if none matched, and for the native proxy. */
      route: z.string().nullable(),
      query: z.string(),
      /** Names of query parameters without effect, because the pack does not define them. Left out if empty. */
      ignored: z.array(z.string()).readonly().exactOptional(),
      filter: z.string().nullable(),
      body: recordedBody,
      /** The status of the response (that of `X-Status` if the client always requests 200). */
      status: z.int(),
      response: recordedBody,
      /** CRC-32 of the response as it was sent: 8 hex digits. Present only if the response is recorded unchanged. */
      checksum: z.string().exactOptional(),
    })
    .readonly(),
  v4: z.array(callSchema).readonly(),
  /** The losses of this request or response: `field: reason`. */
  losses: z.array(z.string()).readonly(),
  /** Facts about the outcome that the response does not contain. */
  warnings: z.array(z.string()).readonly(),
  /** Durations in milliseconds. */
  timings: z.object({ total: z.number(), upstream: z.number(), translation: z.number() }).readonly(),
  /**
   * Bytes of the body that was read from the client, and of the body that was sent to it. For a body with a secret:
   * the recorded bytes.
   */
  bytes: z.object({ in: z.number(), out: z.number() }).readonly(),
  /**
   * The part of the gateway that rejected the request: a rate limit or a share of the connections (`limit`), the memory
   * for bodies, the limit of the head, a brown-out, or the rule for writes from pages of a different origin
   * (`cross_site`). Missing for all other requests.
   */
  rejectedBy: z.enum(REJECTIONS).exactOptional(),
  /**
   * The number of rejected requests that share this record. Missing if it is one. 0: the request is not a call of the
   * client's API, but for a page, or a check of a token. It is not included in summaries.
   */
  requests: z.int().exactOptional(),
});

/** A record. Its members beyond those of the schema are counted, and are not part of the stored record. */
export interface AuditRecord extends Readonly<z.output<typeof recordSchema>> {
  /** The names of the route that the client sent. */
  readonly sent?: NumberedNames;
  /** The losses of the route that occurred. */
  readonly lost?: NumberedNames;
}
