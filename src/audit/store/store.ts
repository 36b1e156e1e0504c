import type { CallersReader } from "../usage/callers.ts";
import type { DecisionReader } from "./decisions.ts";
import type { AuditRecord } from "../record/record.ts";
import type { TokenActivity } from "../usage/usage.ts";
import type { UsageReader } from "../usage/usage-reader.ts";

/** Default number of records of one page. */
export const DEFAULT_LIMIT = 50;
/** Maximum number of records of one page. */
export const MAX_LIMIT = 500;

/** A query of records. All filters are optional. */
export interface AuditQuery {
  /** Number of records of one page, 1 to 500. Default 50. */
  readonly limit?: number;
  /** The `next` of the previous page. An invalid value is ignored. */
  readonly before?: string;
  /** The key of a client: a token's fingerprint, `application:ID` or `label:NAME`. */
  readonly client?: string;
  /** Keys of several clients. */
  readonly clients?: readonly string[];
  readonly lane?: AuditRecord["lane"];
  /** The route, named as in the pack, e.g. `GET /vm/instances/:id`. */
  readonly route?: string;
  /** The status of alpha's response. */
  readonly status?: number;
  /** ISO 8601 in UTC with milliseconds, as `Date.toISOString` writes it; inclusive. */
  readonly since?: string;
  /** ISO 8601 in UTC with milliseconds; exclusive. */
  readonly until?: string;
}

/**
 * The filters that compare one value of a record. The code that applies a query contains a member for each of them, so
 * that a new filter is a type error until it is applied: `filterTerms` of `sql/blocks.ts`, and `matchesQuery` for
 * exported records.
 */
export type ValueFilter = Exclude<
  keyof AuditQuery,
  "limit" | "before" | "client" | "clients" | "since" | "until"
>;

/** Returns the keys of the clients of a query; undefined: all clients. */
export const clientsOf = ({ client, clients }: AuditQuery): readonly string[] | undefined =>
  client === undefined ? clients : [client, ...(clients ?? [])];

/** One page of records. */
export interface AuditPage {
  /** Records, newest first. There may be fewer than requested if they are large. */
  readonly records: readonly AuditRecord[];
  /** The value of `before` for the next page; null on the last page. */
  readonly next: string | null;
}

/** A page whose records are the stored JSON texts. */
export interface TextPage {
  readonly records: readonly string[];
  readonly next: string | null;
}

/** Counters of a store. */
export interface AuditStats {
  /** Number of records that wait to be committed. */
  readonly queued: number;
  /** Number of records lost since the start: the queue was full, or they could not be written. */
  readonly dropped: number;
  /** Number of records committed since the start. */
  readonly written: number;
  /** Number of commits and restarts of the store that failed since the start. */
  readonly errors: number;
  /** Size in bytes of the records committed since the start, as JSON. */
  readonly recordBytes: number;
  /** Size in bytes of the same records in the store, compressed. */
  readonly storedBytes: number;
  /** Number of commits since the start, and their total duration. */
  readonly commits: number;
  readonly commitSeconds: number;
  /** Number of records deleted since the start because of `sizeLimit`, before `retentionDays`. */
  readonly evicted: number;
  /** Number of clients that lost summaries since the start, because there were too many clients. */
  readonly evictedClients: number;
  /** Statistics of the export to a collector; undefined if missing. */
  readonly exported?: ExportStats;
}

/** Counters of records that are sent to a collector. */
export interface ExportStats {
  /** Number of records that wait to be sent. */
  readonly queued: number;
  /** Number of records that the collector accepted since the start. */
  readonly sent: number;
  /** Number of records that were not sent since the start: the queue was full, or the collector did not accept them. */
  readonly dropped: number;
}

/** `relaxed` commits in groups within 100 ms; `strict` commits before `append` resolves. */
export type AuditDurability = "relaxed" | "strict";

/** Options of every store. */
export interface StoreOptions {
  readonly durability: AuditDurability;
  /** Number of days (UTC) for which records are kept. */
  readonly retentionDays: number;
  /** Maximum size of all records in bytes. Above it, whole segments of the least important records are deleted and counted. */
  readonly sizeLimit: number;
  /** Days (UTC) for which summaries are kept, regardless of their records. Default 400. */
  readonly usageRetentionDays?: number;
  /** Maximum number of rows of the summaries. Default 1 000 000. */
  readonly summaryRows?: number;
  /** Maximum number of tokens in the summaries. Default 100 000. */
  readonly summaryTokens?: number;
  /** The keys of clients that have a name: unauthenticated clients can't displace them from the summaries. Default: none. */
  readonly namedClients?: () => readonly string[];
  /** Called when clients start to lose summaries, because there are too many clients. */
  readonly onTooManyClients?: () => void;
  /** Limits of the rows that wait to be committed: above either limit, the oldest rows are dropped. Default `MOST_QUEUED`. */
  readonly queue?: { readonly maxRows?: number; readonly maxBytes?: number };
  /** Called with the error of the first of several commits that fail for the same reason, for the log. */
  readonly onFault?: (error: unknown) => void;
  /** Called when a commit succeeds after a failed one, for the log. */
  readonly onRecovery?: () => void;
  /** Called with each record that a relaxed store drops because its database rejects it, and the reason. */
  readonly onRefused?: (requestId: string, error: unknown) => void;
  /** Called for each page that omits damaged records, with their number. */
  readonly onDamaged?: (records: number) => void;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** The limits of age and size at a moment. */
export interface StoreLimits {
  /** Records of earlier days (UTC) are deleted. Milliseconds since the epoch. */
  readonly before: number;
  /** Summaries of earlier days (UTC) are deleted. Milliseconds since the epoch. */
  readonly usageBefore: number;
  /** Maximum size of all records in bytes. Above it, the least important records are deleted. */
  readonly sizeLimit: number;
  /** Maximum number of rows of the summaries. */
  readonly summaryRows: number;
  /** Maximum number of tokens in the summaries. */
  readonly summaryTokens: number;
  /** The keys of clients that have a name. */
  readonly named: readonly string[];
}

/** The subject of an erasure. */
export interface EraseRequest {
  /** The keys of the client. */
  readonly keys: readonly string[];
  /** The command that erases the client. */
  readonly command: string;
}

/** An entry about an erased client, without its name. It is kept as long as the summaries. */
export interface Erasure {
  /** The time in ISO 8601 with milliseconds, UTC. */
  readonly time: string;
  readonly command: string;
  /** Numbers of erased records, rows of summaries, and tokens. */
  readonly records: number;
  readonly summaries: number;
  readonly tokens: number;
}

/** An audit store: SQLite or PostgreSQL. One test suite defines the behaviour of both. */
export interface AuditStore extends UsageReader, CallersReader {
  /**
   * Stores a redacted record. `relaxed`: returns immediately and never throws. `strict`: resolves after the record is
   * on disk, and rejects with `AuditUnavailableError` if it can't be written.
   */
  readonly append: (record: AuditRecord) => void | Promise<void>;
  /** Returns one page of records. @throws {AuditUnavailableError} While the store can't be read. */
  readonly query: (query: AuditQuery) => Promise<AuditPage>;
  /** Like `query`, but returns the records as JSON texts. @throws {AuditUnavailableError} */
  readonly texts: (query: AuditQuery) => Promise<TextPage>;
  /** Counts the matching records; `limit` is ignored. @throws {AuditUnavailableError} */
  readonly count: (query: AuditQuery) => Promise<number>;
  /** Returns the activity of one token. @throws {AuditUnavailableError} */
  readonly activity: (query: { readonly fingerprint: string }) => Promise<TokenActivity>;
  /** Returns one record. @throws {AuditUnavailableError} While the store can't be read. */
  readonly get: (id: string) => Promise<AuditRecord | undefined>;
  /**
   * Erases the records, summaries and tokens of a client, in small steps, so that other records can be written in the
   * meantime. Later requests are recorded again.
   *
   * @param onRecords Called after each step with the number of records so far.
   * @throws {AuditUnavailableError} if it fails. A part may have been erased, and the call can be repeated
   */
  readonly erase: (request: EraseRequest, onRecords?: (done: number) => void) => Promise<Erasure>;
  /** Returns the entries about erased clients, the newest first. @throws {AuditUnavailableError} */
  readonly erasures: () => Promise<readonly Erasure[]>;
  /** Runs queries that requests wait for. */
  readonly decisions: DecisionReader;
  /** Whether the last operation of the store succeeded. */
  readonly ready: () => boolean;
  /** Returns the reason why the store is not ready. The text is public: it contains no address or path. */
  readonly fault: () => string | undefined;
  readonly stats: () => AuditStats;
  /** Commits all queued records and closes the store. Records that are appended later are dropped. */
  readonly close: () => Promise<void>;
}

/**
 * The audit store can't be written or read now. Its message names the cause for the operator.
 *
 * @example
 * ```ts
 * import { AuditUnavailableError, createGateway } from "alpha-gateway";
 *
 * const gateway = createGateway({ upstream: "https://api.example.com" });
 * await gateway.start().catch((error: unknown) => {
 *   if (error instanceof AuditUnavailableError) console.error(error.message);
 * });
 * ```
 */
export class AuditUnavailableError extends Error {
  override readonly name = "AuditUnavailableError";
  readonly code = "AG_AUDIT_UNAVAILABLE";
}

/** A stored record is damaged. Other records can be read. */
export class DamagedRecordError extends AuditUnavailableError {
  /** @param id the record's id */
  constructor(id: string) {
    super(`The record ${id} is damaged. The export as ndjson has its text as it is.`);
  }
}
