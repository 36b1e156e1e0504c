import type { AuditRecord } from "./record.ts";
import type { UsageReader } from "./usage.ts";

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 500;

/** Which records are asked for; what is left out does not narrow. */
export interface AuditQuery {
  /** Records of one page, 1 to 500. Default 50. */
  readonly limit?: number;
  /** The `next` of the page before; what is none counts as left out. */
  readonly before?: string;
  /** A token's fingerprint. */
  readonly client?: string;
  /** The route as the pack names it, e.g. `GET /vm/instances/:id`. */
  readonly route?: string;
  /** The status that alpha's client was told. */
  readonly status?: number;
  /** ISO 8601 in UTC with milliseconds, as `Date.toISOString` writes it; this moment included. */
  readonly since?: string;
  /** The same form; this moment excluded. */
  readonly until?: string;
}

export interface AuditPage {
  /** Whole records, the newest first by their time. May be fewer than asked for where records are large. */
  readonly records: readonly AuditRecord[];
  /** For `before` of the following page, or null where there is none. */
  readonly next: string | null;
}

/** A page whose records are JSON texts still, as they are stored. */
export interface TextPage {
  readonly records: readonly string[];
  readonly next: string | null;
}

export interface AuditStats {
  /** Records waiting to be committed. */
  readonly queued: number;
  /** Records lost since the start: the queue was full, or they could not be written. */
  readonly dropped: number;
  /** Records committed since the start. */
  readonly written: number;
  /** Commits and restarts of the store that failed since the start. */
  readonly errors: number;
  /** Records deleted before `retentionDays` since the start, since they took more than `sizeLimit`. */
  readonly evicted: number;
}

/** `relaxed` commits in groups within 100 ms; `strict` commits before `append` resolves. */
export type AuditDurability = "relaxed" | "strict";

/** What every store is opened with. */
export interface StoreOptions {
  readonly durability: AuditDurability;
  /** Records older than so many days are deleted, in small batches. */
  readonly retentionDays: number;
  /** Bytes that the records may take: above it the oldest are deleted, in small batches, and counted. */
  readonly sizeLimit: number;
  /** Bounds of what waits to be committed: above either the oldest are dropped. Default `MOST_QUEUED`. */
  readonly queue?: { readonly maxRows?: number; readonly maxBytes?: number };
  /** Hears of the first of the commits that fail one after the other; for the log, not for clients. */
  readonly onFault?: (error: unknown) => void;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** Where records are kept: SQLite or PostgreSQL. One contract suite says what any store has to do. */
export interface AuditStore extends UsageReader {
  /**
   * Takes a record, already redacted. Relaxed it returns at once and never throws. Strict it resolves once
   * the record is on the disk, and rejects with `AuditUnavailableError` when it is not.
   */
  readonly append: (record: AuditRecord) => void | Promise<void>;
  /** @throws {AuditUnavailableError} while the store cannot be read. */
  readonly query: (query: AuditQuery) => Promise<AuditPage>;
  /** As `query`, with the records as JSON texts. @throws {AuditUnavailableError} */
  readonly texts: (query: AuditQuery) => Promise<TextPage>;
  /** How many records there are now; `limit` does not matter. @throws {AuditUnavailableError} */
  readonly count: (query: AuditQuery) => Promise<number>;
  /** @throws {AuditUnavailableError} while the store cannot be read. */
  readonly get: (id: string) => Promise<AuditRecord | undefined>;
  /** Whether the last that is known of the store is good. */
  readonly ready: () => boolean;
  /** What is wrong where it isn't, for everybody to read: no address, no path. */
  readonly fault: () => string | undefined;
  readonly stats: () => AuditStats;
  /** Commits what is queued, then lets go of everything. What is appended later is dropped. */
  readonly close: () => Promise<void>;
}

/**
 * The audit store cannot be written or read now. Its message names the cause for the operator.
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
