import { repeat } from "../record/repeat.ts";
import type { StoreOptions } from "./store.ts";
import { MAX_SUMMARY_ROWS, USAGE_RETENTION_DAYS } from "../usage/usage.ts";

const DAY_MS = 86_400_000;
/** Often enough that a busy store does not exceed its size limit by much. */
const EVERY_MS = 10_000;
/** Pause between two steps, in which commits can run. */
const BETWEEN_STEPS_MS = 20;

/** What a step has deleted. */
export interface PurgeResult {
  /** Records that were deleted only because of the size limit. */
  readonly evicted: number;
  /** Whether there may be more to delete. */
  readonly more: boolean;
}

/** Options of {@link startPurge}. */
export interface PurgeOptions {
  /** Deletes a day that is too old, or some segments above the size limit. */
  readonly step: () => Promise<PurgeResult>;
  readonly everyMs?: number;
}

/** Starts to delete old records: at once, then every ten seconds, in small steps. */
export function startPurge({ step, everyMs = EVERY_MS }: PurgeOptions): {
  readonly stop: () => void;
  /** Records deleted since the start because of the size limit. */
  readonly evicted: () => number;
} {
  let evictedSince = 0;

  async function purge(): Promise<number> {
    const { more, evicted } = await step();
    evictedSince += evicted;
    return more ? BETWEEN_STEPS_MS : everyMs;
  }

  return { stop: repeat({ step: purge, retryMs: everyMs }), evicted: () => evictedSince };
}

/** What is too old, in milliseconds since the epoch, and how much is too much. Days (UTC) that ended before are deleted. */
export interface PurgeLimits {
  readonly before: number;
  /** For the summaries. */
  readonly usageBefore: number;
  /** Maximum size of all records in bytes. Above it the least important segments are deleted. */
  readonly sizeLimit: number;
  /** Maximum number of rows of the summaries. */
  readonly summaryRows: number;
}

/** Returns the limits at this moment. */
export function limitsOf({
  retentionDays,
  usageRetentionDays = USAGE_RETENTION_DAYS,
  sizeLimit,
  summaryRows = MAX_SUMMARY_ROWS,
  clock = Date.now,
}: StoreOptions): PurgeLimits {
  const now = clock();
  const before = now - retentionDays * DAY_MS;
  return { before, usageBefore: now - usageRetentionDays * DAY_MS, sizeLimit, summaryRows };
}
