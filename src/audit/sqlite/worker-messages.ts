import type { CallersQuery } from "../callers.ts";
import type { AuditQuery } from "../store.ts";
import type { EraseRequest } from "../erase.ts";
import type { PurgeLimits } from "../purge.ts";
import type { Batch } from "../segment.ts";
import type { ErasePosition } from "./erase.ts";
import type { NameList } from "../name-lists.ts";
import type { SpanQuery } from "../call-spans.ts";
import type { LossQuery } from "../loss-usage.ts";
import type { UsageQuery } from "../usage.ts";

/** The first message to a worker. */
export type SqliteWorkerData =
  | {
      readonly role: "writer";
      readonly file: string;
      /** SQLite's `synchronous`. NORMAL survives a crash of the process, FULL one of the machine. */
      readonly synchronous: "NORMAL" | "FULL";
    }
  | { readonly role: "reader"; readonly file: string };

/** A job that deletes what is too old or too much. */
export type PurgeJob = PurgeLimits;

/** A batch in a message. Its rows are JSON, because a thread gets one string much faster than many small objects. */
export interface PackedBatch {
  readonly segments: string;
  readonly bytes: Batch["bytes"];
}

/** Packs a batch for a message. Its bytes can be transferred. */
export const packBatch = ({ segments, bytes }: Batch): PackedBatch => ({
  segments: JSON.stringify(segments),
  bytes,
});

/** Reverses {@link packBatch}. */
export const unpackBatch = ({ segments, bytes }: PackedBatch): Batch => ({
  segments: JSON.parse(segments) as Batch["segments"],
  bytes,
});

/** The result of writing a batch. */
export interface WrittenBatch {
  /** Bytes of the compressed segments. */
  readonly storedBytes: number;
  /** The buffer of the batch, which is sent back to be used again. */
  readonly buffer: ArrayBuffer;
}

/** A job that writes a batch. It returns a `WrittenBatch`. */
export interface WriteJob {
  readonly kind: "write";
  readonly batch: PackedBatch;
  /** New lists of what clients may send, and of what routes may lose. */
  readonly names?: readonly NameList[];
  readonly lossNames?: readonly NameList[];
}

/** A job of the writer thread. */
export type WriterJob =
  | WriteJob
  /** Returns a `PurgeResult`. */
  | ({ readonly kind: "purge" } & PurgeJob)
  /** Returns an `EraseStep`. */
  | { readonly kind: "erase"; readonly keys: readonly string[]; readonly from: ErasePosition | undefined }
  /** Returns an `Erasure`. @param records The records that were erased before */
  | { readonly kind: "eraseSummaries"; readonly request: EraseRequest; readonly records: number }
  | { readonly kind: "close" };

/** A job of the reader thread. */
export type ReaderJob =
  | { readonly kind: "page"; readonly query: AuditQuery }
  | { readonly kind: "get"; readonly id: string }
  | { readonly kind: "count"; readonly query: AuditQuery }
  | { readonly kind: "clients" | "usage" | "days" | "sent"; readonly query: UsageQuery }
  | { readonly kind: "losses"; readonly query: LossQuery }
  | { readonly kind: "spans"; readonly query: SpanQuery }
  | { readonly kind: "callers"; readonly query: CallersQuery }
  | { readonly kind: "tokens"; readonly client: string }
  | { readonly kind: "activity"; readonly fingerprint: string }
  | { readonly kind: "erasures" }
  | { readonly kind: "close" };
