import type { AuditQuery } from "./store.ts";
import type { StoredRow } from "./stored-row.ts";

/** What the worker is started with. */
export interface SqliteWorkerData {
  readonly file: string;
  /** SQLite's `synchronous`: NORMAL outlives the process, FULL the machine. */
  readonly synchronous: "NORMAL" | "FULL";
}

/** One job for the worker. */
export type SqliteJob =
  | { readonly kind: "write"; readonly rows: readonly StoredRow[] }
  | { readonly kind: "query"; readonly query: AuditQuery }
  | { readonly kind: "get"; readonly id: string }
  | { readonly kind: "purge"; readonly before: string; readonly limit: number }
  | { readonly kind: "close" };

/** The texts of one page, and where the next begins. */
export interface SqlitePage {
  readonly records: readonly string[];
  readonly next: string | null;
}
