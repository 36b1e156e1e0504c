/** Collects the results of comparisons, and adds them to the counts of all replicas. */
import { createRecordIds, type Redaction } from "../../audit/index.ts";
import { errorText, type KeyValueStore, type Log, type Metrics, Outage } from "../../base/index.ts";
import type { Compared, ComparisonSource } from "../answers/comparison.ts";
import type { CoverAnswer } from "./coverage.ts";
import { createReportFull, WaitingCounts } from "./waiting-counts.ts";

/** The comparisons of a gateway. */
export type Comparisons = ReturnType<typeof openComparisons>;

export interface ComparisonsOptions {
  readonly state: KeyValueStore;
  /** The route of the audit, by the active pack. */
  readonly redaction: () => Redaction;
  /** The parts of its route that an answer shows, by the active pack. Default: nothing. */
  readonly cover?: CoverAnswer;
  readonly metrics: Pick<Metrics, "countComparison" | "countNoRoom">;
  readonly log: Log;
}

const FLUSH_MS = 500;
/**
 * A store on a disk blocks the process while it writes. After a write it waits for this many times the duration of
 * the write. With 200, at most 0.5 % of the requests wait for it.
 */
const PAUSE_FACTOR = 200;
const MAX_PAUSE_MS = 5000;

const createOutage = (log: Log): Outage =>
  new Outage({
    begins: (error) =>
      log.error(
        { code: "AG_COMPARISONS_NOT_STORED", error },
        "comparisons could not be stored: they are kept in memory and tried again",
      ),
    ends: () => log.info({}, "comparisons are stored again"),
  });

/** Adds waiting results to the counts of all replicas. If they can't be stored, they wait. */
async function writeAll(waiting: Iterable<WaitingCounts>, outage: Outage): Promise<void> {
  for (const one of waiting) {
    try {
      await one.write();
      outage.succeeded();
    } catch (error) {
      outage.failed(error);
    }
  }
}

/**
 * Creates the store for results of comparisons. Nothing runs before the first result.
 *
 * @example
 * ```ts
 * const comparisons = openComparisons({ state, redaction: () => redaction, metrics, log });
 * comparisons.report(compared);
 * ```
 */
export function openComparisons({ state, redaction, cover, metrics, log }: ComparisonsOptions) {
  const waiting = new Map<ComparisonSource, WaitingCounts>();
  const options = {
    redaction,
    cover,
    newId: createRecordIds(),
    onFull: createReportFull({ log, metrics }),
    onBegin: ({ source, subject }: Pick<Compared, "source" | "subject">) =>
      log.info({ source, subject }, "comparisons are counted from the beginning"),
  };
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  const outage = createOutage(log);
  let pauseMs = FLUSH_MS;
  let isClosed = false;

  function waitingOf(source: ComparisonSource): WaitingCounts {
    const found = waiting.get(source) ?? new WaitingCounts(state, source, options);
    waiting.set(source, found);
    return found;
  }

  function schedule(): void {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, pauseMs).unref();
  }

  /** Takes the result of a comparison. Never throws, and never waits. */
  function report(compared: Compared): void {
    try {
      const { source, route, result, reason } = compared;
      metrics.countComparison(source, route, result, reason);
      waitingOf(source).add(compared);
      schedule();
    } catch (error) {
      log.error(
        { code: "AG_COMPARISON_LOST", requestId: compared.requestId, error: errorText(error) },
        "a comparison could not be counted",
      );
    }
  }

  async function writeAndMeasure(): Promise<void> {
    const startedAt = performance.now();
    let isBlocking = true;
    const turn = setImmediate(() => (isBlocking = false));
    await writeAll(waiting.values(), outage);
    clearImmediate(turn);
    const blockedMs = isBlocking ? performance.now() - startedAt : 0;
    pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FLUSH_MS, blockedMs * PAUSE_FACTOR));
    if ([...waiting.values()].some((one) => !one.isEmpty())) schedule();
  }

  /**
   * Writes collected results, every half second while there are any. Never throws. Only one flush runs at a time. A
   * second one waits, and writes the later results.
   */
  function flush(): Promise<void> {
    const next = (flushing ?? Promise.resolve()).then(writeAndMeasure).finally(() => {
      if (flushing === next) flushing = undefined;
    });
    flushing = next;
    return next;
  }

  return {
    report,
    flush,
    /** Writes collected results, and stops. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await flush();
    },
  };
}
