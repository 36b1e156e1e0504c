import type { AuditRecord } from "./record.ts";

export const DEFAULT_LIMIT = 50;
export const GREATEST_LIMIT = 500;

/** Which records are asked for; what is left out does not narrow. */
export interface AuditQuery {
  /** Records of one page, 1 to 500. Default 50. */
  readonly limit?: number;
  /** The `next` of the page before: only records with a lesser id. */
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
  /** Whole records, the newest first. May be fewer than asked for where records are large. */
  readonly records: readonly AuditRecord[];
  /** For `before` of the following page, or null where there is none. */
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
}

/** `relaxed` commits in groups within 100 ms; `strict` commits before `append` resolves. */
export type AuditDurability = "relaxed" | "strict";

/** Where records are kept. SQLite now; one contract suite says what any store has to do. */
export interface AuditStore {
  /**
   * Takes a record, already redacted. Relaxed it returns at once and never throws. Strict it resolves once
   * the record is on the disk, and rejects with `AuditUnavailable` when it is not.
   */
  readonly append: (record: AuditRecord) => void | Promise<void>;
  /** @throws {AuditUnavailable} while the store cannot be read. */
  readonly query: (query: AuditQuery) => Promise<AuditPage>;
  /** @throws {AuditUnavailable} while the store cannot be read. */
  readonly get: (id: string) => Promise<AuditRecord | undefined>;
  /** Whether the last that is known of the store is good. */
  readonly ready: () => boolean;
  readonly stats: () => AuditStats;
  /** Commits what is queued, then lets go of everything. What is appended later is dropped. */
  readonly close: () => Promise<void>;
}

/** The store cannot be written or read now. Its message names the cause for the operator. */
export class AuditUnavailable extends Error {
  override readonly name = "AuditUnavailable";
}
