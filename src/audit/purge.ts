import type { StoreOptions } from "./store.ts";

const DAY_MS = 86_400_000;
/** Often enough that a busy store does not exceed its size limit by much. */
const EVERY_MS = 10_000;
/** Pause between two steps, in which commits can run. */
const BETWEEN_STEPS_MS = 20;

/** The number of records that a step has deleted. */
export interface PurgeResult {
  readonly deleted: number;
  /** How many of them were deleted only because of the size limit. */
  readonly evicted: number;
}

/** Options of {@link startPurge}. */
export interface PurgeOptions {
  /** Deletes a small batch of records that are too old, or exceed the size limit. */
  readonly step: () => Promise<PurgeResult>;
  /** The size of a full batch, after which there may be more to delete. */
  readonly full: number;
  readonly everyMs?: number;
}

/** Starts to delete old records: at once, then every ten seconds, one small batch at a time. */
export function startPurge({ step, full, everyMs = EVERY_MS }: PurgeOptions): {
  readonly stop: () => void;
  /** Records deleted since the start because of the size limit. */
  readonly evicted: () => number;
} {
  let stopped = false;
  let evictedSince = 0;
  let timer = setTimeout(run, 0);

  async function purge(): Promise<number> {
    const { deleted, evicted } = await step();
    evictedSince += evicted;
    return deleted >= full ? BETWEEN_STEPS_MS : everyMs;
  }

  function run(): void {
    purge()
      .then(again)
      // Errors of the store are reported by its commits. The purge only tries again.
      .catch(() => again(everyMs));
  }

  function again(pause: number): void {
    if (!stopped) timer = setTimeout(run, pause);
  }

  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
    evicted: () => evictedSince,
  };
}

/** Returns the time, in milliseconds since the epoch, before which records are too old. */
export function cutoffOf({ retentionDays, clock = Date.now }: StoreOptions): number {
  return clock() - retentionDays * DAY_MS;
}
