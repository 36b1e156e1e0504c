/** Regularly deletes data that is too old or exceeds the limits. */
import { DAY_MS } from "../../base/index.ts";
import type { StoreJobs } from "./sql/jobs.ts";
import type { StoreLimits, StoreOptions } from "./store.ts";
import { dayNumber, MAX_SUMMARY_ROWS, MAX_TOKENS, USAGE_RETENTION_DAYS } from "../usage/usage.ts";

/** Milliseconds between two checks of the summaries. */
const SUMMARIES_MS = 60_000;
/** Milliseconds between two steps, so that commits can run. */
const BETWEEN_STEPS_MS = 20;

/** Returns the current limits. */
function limitsOf({
  retentionDays,
  usageRetentionDays = USAGE_RETENTION_DAYS,
  sizeLimit,
  summaryRows = MAX_SUMMARY_ROWS,
  summaryTokens = MAX_TOKENS,
  namedClients = () => [],
  clock = Date.now,
}: StoreOptions): StoreLimits {
  const dayBefore = (days: number): number => dayNumber(clock() - days * DAY_MS) * DAY_MS;
  return {
    before: dayBefore(retentionDays),
    usageBefore: dayBefore(usageRetentionDays),
    sizeLimit,
    summaryRows,
    summaryTokens,
    named: namedClients(),
  };
}

/**
 * Runs steps until there is nothing left to do, and again after some time. The first step runs after the store was
 * opened.
 *
 * @param step Returns whether there may be more to do. After an error, it is tried again: commits report errors of a
 *   store
 * @returns a function that stops the work after the current step
 */
function repeat(step: () => Promise<boolean>, everyMs: number): () => void {
  let isStopped = false;
  async function run(): Promise<void> {
    const isMore = await step().catch(() => false);
    if (!isStopped) timer = setTimeout(() => void run(), isMore ? BETWEEN_STEPS_MS : everyMs);
  }
  let timer = setTimeout(() => void run(), 0);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Starts to delete in small steps: records at intervals, summaries each minute. */
export function startPurge(
  writer: Pick<StoreJobs, "makeRoom" | "cutSummaries">,
  options: StoreOptions,
  everyMs: number,
): {
  readonly stop: () => void;
  /** Number of records and clients that were deleted since the start because of a size limit. */
  readonly counts: { readonly evicted: number; readonly evictedClients: number };
} {
  const counts = { evicted: 0, evictedClients: 0 };
  /** The number of clients that lost summaries in this round of steps, and whether some did in the previous round. */
  let clientsOfRound = 0;
  let hadTooMany = false;

  async function makeRoom(): Promise<boolean> {
    const { evicted, more } = await writer.makeRoom(limitsOf(options));
    counts.evicted += evicted;
    return more;
  }

  async function cutSummaries(): Promise<boolean> {
    const { clients, more } = await writer.cutSummaries(limitsOf(options));
    counts.evictedClients += clients;
    if (clients > 0 && clientsOfRound === 0 && !hadTooMany) options.onTooManyClients?.();
    clientsOfRound += clients;
    if (!more) [hadTooMany, clientsOfRound] = [clientsOfRound > 0, 0];
    return more;
  }

  const stops = [repeat(makeRoom, everyMs), repeat(cutSummaries, SUMMARIES_MS)];
  return { stop: () => stops.forEach((stop) => stop()), counts };
}
