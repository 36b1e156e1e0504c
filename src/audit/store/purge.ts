import { repeat } from "./repeat.ts";
import type { StoreOptions } from "./store.ts";
import { DAY_MS, MAX_SUMMARY_ROWS, MAX_TOKENS, USAGE_RETENTION_DAYS } from "../usage/usage.ts";

/** Frequent enough that a busy store does not exceed its size limit by much. Milliseconds. */
const EVERY_MS = 10_000;
/** Milliseconds between two steps, in which commits can run. */
const BETWEEN_STEPS_MS = 20;

/** The result of one step of a purge. */
export interface PurgeResult {
  /** Records that were deleted only because of the size limit. */
  readonly evicted: number;
  /** Clients that lost summaries because there are too many clients. */
  readonly clients: number;
  /** Whether there may be more to delete. */
  readonly more: boolean;
}

/** Options of {@link startPurge}. */
export interface PurgeOptions {
  /** Deletes an expired day, or some segments above the size limit. */
  readonly step: () => Promise<PurgeResult>;
  readonly everyMs?: number | undefined;
  /** See {@link StoreOptions.onTooManyClients}. */
  readonly onTooManyClients?: (() => void) | undefined;
}

/** Starts to delete old records at once, and then every ten seconds, in small steps. */
export function startPurge({ step, everyMs = EVERY_MS, onTooManyClients }: PurgeOptions): {
  readonly stop: () => void;
  /** Records deleted since the start because of the size limit. */
  readonly evicted: () => number;
  /** Clients that lost summaries since the start. */
  readonly evictedClients: () => number;
} {
  let evictedSince = 0;
  let clientsSince = 0;
  /** Clients that lost summaries since the last purge that had nothing more to delete. */
  let clientsOfRun = 0;
  let hadTooMany = false;

  async function purge(): Promise<number> {
    const { more, evicted, clients } = await step();
    evictedSince += evicted;
    clientsSince += clients;
    if (clients > 0 && clientsOfRun === 0 && !hadTooMany) onTooManyClients?.();
    clientsOfRun += clients;
    if (!more) [hadTooMany, clientsOfRun] = [clientsOfRun > 0, 0];
    return more ? BETWEEN_STEPS_MS : everyMs;
  }

  return {
    stop: repeat({ step: purge, retryMs: everyMs }),
    evicted: () => evictedSince,
    evictedClients: () => clientsSince,
  };
}

/**
 * The limits of age, in milliseconds since the epoch, and of size. Days (UTC) that ended before the age limit are
 * deleted.
 */
export interface PurgeLimits {
  readonly before: number;
  /** The age limit of the summaries. */
  readonly usageBefore: number;
  /** Maximum size of all records in bytes. Above it the least important segments are deleted. */
  readonly sizeLimit: number;
  /** Maximum number of rows of the summaries. */
  readonly summaryRows: number;
  /** Maximum number of tokens in the summaries. */
  readonly summaryTokens: number;
  /** The keys of clients that have a name. */
  readonly named: readonly string[];
}

/** Returns the limits at this moment. */
export function limitsOf({
  retentionDays,
  usageRetentionDays = USAGE_RETENTION_DAYS,
  sizeLimit,
  summaryRows = MAX_SUMMARY_ROWS,
  summaryTokens = MAX_TOKENS,
  namedClients = () => [],
  clock = Date.now,
}: StoreOptions): PurgeLimits {
  const now = clock();
  const before = now - retentionDays * DAY_MS;
  const usageBefore = now - usageRetentionDays * DAY_MS;
  return { before, usageBefore, sizeLimit, summaryRows, summaryTokens, named: namedClients() };
}
