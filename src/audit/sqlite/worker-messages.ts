import type { AuditQuery } from "../store.ts";
import type { PackedRows } from "./packed-rows.ts";
import type { UsageQuery } from "../usage.ts";

/** What a worker is started with. */
export type SqliteWorkerData =
  | {
      readonly role: "writer";
      readonly file: string;
      /** SQLite's `synchronous`: NORMAL outlives the process, FULL the machine. */
      readonly synchronous: "NORMAL" | "FULL";
    }
  | { readonly role: "reader"; readonly file: string };

export interface PurgeJob {
  /** Milliseconds since the epoch: what is older goes. */
  readonly before: number;
  /** Bytes that the database may take: above it the oldest records go. */
  readonly sizeLimit: number;
  /** Records, at most. */
  readonly limit: number;
}

export type WriterJob =
  | { readonly kind: "write"; readonly rows: PackedRows }
  /** Gives what was deleted, as `Purged`. */
  | ({ readonly kind: "purge" } & PurgeJob)
  | { readonly kind: "close" };

export type ReaderJob =
  | { readonly kind: "page"; readonly query: AuditQuery }
  | { readonly kind: "get"; readonly id: string }
  | { readonly kind: "count"; readonly query: AuditQuery }
  | { readonly kind: "clients" | "usage" | "days"; readonly query: UsageQuery }
  | { readonly kind: "close" };
