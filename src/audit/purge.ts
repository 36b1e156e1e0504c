import type { StoreOptions } from "./store.ts";

const DAY_MS = 86_400_000;
/** Often enough that a busy store does not pass its size by much. */
const EVERY_MS = 10_000;
/** Commits get their turn between two steps. */
const BETWEEN_STEPS_MS = 20;

/** Records that a step deleted. */
export interface PurgeResult {
  readonly deleted: number;
  /** How many of them were not too old. */
  readonly evicted: number;
}

export interface PurgeOptions {
  /** Deletes a small batch of what is too old or too much. */
  readonly step: () => Promise<PurgeResult>;
  /** As many deleted mean that there may be more. */
  readonly full: number;
  readonly everyMs?: number;
}

/** Deletes what is over: at once, then every ten seconds, one small batch at a time. */
export function startPurge({ step, full, everyMs = EVERY_MS }: PurgeOptions): {
  readonly stop: () => void;
  /** Records deleted since the start that were not too old. */
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
      // A store that fails says so by its commits; the purge only comes back.
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

/** Milliseconds since the epoch before which records are too old. */
export function cutoffOf({ retentionDays, clock = Date.now }: StoreOptions): number {
  return clock() - retentionDays * DAY_MS;
}
