import type { CallersQuery, RouteCallers } from "../../../usage/callers.ts";
import type { CallsQuery, ClientCalls, PastQuery } from "../../decisions.ts";
import type { AuditQuery, TextPage } from "../../store.ts";
import type { EraseRequest, Erasure } from "../../erase.ts";
import type { PurgeLimits, PurgeResult } from "../../purge.ts";
import type { Batch } from "../../segment.ts";
import type { ErasePosition, EraseStep } from "../erase.ts";
import type { NameList } from "../../../usage/name-lists.ts";
import type { CallSpan, SpanQuery } from "../../../record/call-spans.ts";
import type { LossQuery, LossUsage } from "../../../usage/loss-usage.ts";
import type {
  ClientUsage,
  DayUsage,
  RouteUsage,
  TokenActivity,
  TokenPage,
  TokenQuery,
  TokenUsage,
  UsageQuery,
} from "../../../usage/usage.ts";
import type { SentUsage } from "../../../usage/sent-usage.ts";

/** The first message to a worker. */
export type SqliteWorkerData =
  | {
      readonly role: "writer";
      readonly file: string;
      /** SQLite's `synchronous`. NORMAL survives a crash of the process, FULL one of the machine. */
      readonly synchronous: "NORMAL" | "FULL";
    }
  | { readonly role: "reader" | "decider"; readonly file: string };

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

/** A job that writes a batch. */
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
  | ({ readonly kind: "purge" } & PurgeJob)
  | { readonly kind: "erase"; readonly keys: readonly string[]; readonly from: ErasePosition | undefined }
  /** `records`: how many were erased before. */
  | { readonly kind: "eraseSummaries"; readonly request: EraseRequest; readonly records: number }
  | { readonly kind: "close" };

/** What each kind of job returns. */
export interface JobResults {
  write: WrittenBatch;
  purge: PurgeResult;
  erase: EraseStep;
  eraseSummaries: Erasure;
  page: TextPage;
  get: string | undefined;
  count: number;
  clients: ClientUsage[];
  tokens: TokenUsage[];
  activity: TokenActivity;
  sent: SentUsage[];
  losses: LossUsage[];
  spans: CallSpan[];
  callers: RouteCallers;
  usage: RouteUsage[];
  days: DayUsage[];
  erasures: Erasure[];
  past: boolean;
  calls: ClientCalls;
  tokenPage: TokenUsage[];
  close: void;
}

/** A job of the reader thread. */
export type ReaderJob =
  | { readonly kind: "page"; readonly query: AuditQuery }
  | { readonly kind: "get"; readonly id: string }
  | { readonly kind: "count"; readonly query: AuditQuery }
  | { readonly kind: "clients" | "usage" | "days" | "sent"; readonly query: UsageQuery }
  | { readonly kind: "losses"; readonly query: LossQuery }
  | { readonly kind: "spans"; readonly query: SpanQuery }
  | { readonly kind: "callers"; readonly query: CallersQuery }
  | { readonly kind: "tokens"; readonly query: TokenQuery }
  | { readonly kind: "activity"; readonly fingerprint: string }
  | { readonly kind: "erasures" }
  | { readonly kind: "close" };

/** A job of the thread that reads what requests wait for. */
export type DecisionJob =
  | { readonly kind: "past"; readonly query: PastQuery }
  | { readonly kind: "calls"; readonly query: CallsQuery }
  | { readonly kind: "tokenPage"; readonly query: TokenPage }
  | { readonly kind: "close" };
