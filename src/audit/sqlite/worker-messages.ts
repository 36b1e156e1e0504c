import type { AuditQuery } from "../store.ts";
import type { PackedRows } from "./packed-rows.ts";
import type { UsageQuery } from "../usage.ts";

/** The data with which a worker is started. */
export type SqliteWorkerData =
  | {
      readonly role: "writer";
      readonly file: string;
      /** SQLite's `synchronous`. NORMAL survives a crash of the process, FULL one of the machine. */
      readonly synchronous: "NORMAL" | "FULL";
    }
  | { readonly role: "reader"; readonly file: string };

/** A job that deletes old records. */
export interface PurgeJob {
  /** Milliseconds since the epoch. Older records are deleted. */
  readonly before: number;
  /** Maximum size of the database in bytes. Above it the least important records are deleted. */
  readonly sizeLimit: number;
  /** Maximum number of records to delete. */
  readonly limit: number;
}

/** A job of the writer thread. */
export type WriterJob =
  | { readonly kind: "write"; readonly rows: PackedRows }
  /** Returns a `PurgeResult`. */
  | ({ readonly kind: "purge" } & PurgeJob)
  | { readonly kind: "close" };

/** A job of the reader thread. */
export type ReaderJob =
  | { readonly kind: "page"; readonly query: AuditQuery }
  | { readonly kind: "get"; readonly id: string }
  | { readonly kind: "count"; readonly query: AuditQuery }
  | { readonly kind: "clients" | "usage" | "days"; readonly query: UsageQuery }
  | { readonly kind: "close" };
