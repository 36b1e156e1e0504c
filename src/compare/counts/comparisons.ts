/** Collects the results of comparisons, and adds them to the counts of all replicas. */
import { createRecordIds, type Redaction } from "../../audit/index.ts";
import { errorText, type KeyValueStore, type Log, type Metrics, Outage } from "../../base/index.ts";
import type { Compared, ComparisonSource } from "../answers/comparison.ts";
import type { CoverAnswer } from "./coverage.ts";
import { type BoundedStore, type ReportFull, WaitingResults } from "./waiting-results.ts";

/** The comparisons of a gateway. */
export type Comparisons = ReturnType<typeof openComparisons>;

interface ComparisonsOptions {
  readonly state: KeyValueStore;
  /** Returns the redaction of the active pack. */
  readonly redaction: () => Redaction;
  /** Returns the parts of a route that occur in a response, by the active pack. Default: none. */
  readonly cover?: CoverAnswer;
  readonly metrics: Pick<Metrics, "countComparison" | "countNoRoom">;
  readonly log: Log;
}

const FLUSH_MS = 500;
/**
 * A store on disk blocks the process while it writes. After a write, the process waits for this many times its
 * duration. With 200, at most 0.5 % of the requests are delayed. Time in which other code runs is not included.
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
  const waiting = new Map<ComparisonSource, WaitingResults>();
  const options = {
    redaction,
    cover,
    newId: createRecordIds(),
    onFull: createReportFull({ log, metrics }),
    onBegin: ({ source, subject }: Pick<Compared, "source" | "subject">) =>
      log.info({ source, subject }, "comparisons are counted from the beginning"),
  };
  const outage = createOutage(log);
  let timer: NodeJS.Timeout | undefined;
  let flushed = Promise.resolve();
  let pauseMs = FLUSH_MS;
  let isClosed = false;

  function schedule(): void {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, pauseMs).unref();
  }

  async function writeAll(): Promise<void> {
    const startedAt = performance.now();
    let isBlocking = true;
    const turn = setImmediate(() => (isBlocking = false));
    for (const one of waiting.values()) {
      if (one.isEmpty()) continue;
      try {
        await one.write();
        outage.succeeded();
      } catch (error) {
        outage.failed(error);
      }
    }
    clearImmediate(turn);
    const blockedMs = isBlocking ? performance.now() - startedAt : 0;
    pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FLUSH_MS, blockedMs * PAUSE_FACTOR));
    if ([...waiting.values()].some((one) => !one.isEmpty())) schedule();
  }

  /** Writes collected results, every half second while there are any. Never throws. Only one flush runs at a time. */
  const flush = (): Promise<void> => (flushed = flushed.then(writeAll));

  return {
    /** Accepts the result of a comparison. Never throws, and never waits. */
    report(compared: Compared): void {
      const { source, route, result, reason } = compared;
      try {
        metrics.countComparison(source, route, result, reason);
        const found = waiting.get(source) ?? new WaitingResults(state, source, options);
        waiting.set(source, found);
        found.add(compared);
        schedule();
      } catch (error) {
        log.error(
          { code: "AG_COMPARISON_LOST", requestId: compared.requestId, error: errorText(error) },
          "a comparison could not be counted",
        );
      }
    },
    flush,
    /** Writes collected results, and stops. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await flush();
    },
  };
}

/** Milliseconds between two log lines about the same store. */
const LOG_EVERY_MS = 3_600_000;

/** Creates the function that reports full stores. */
export function createReportFull({ log, metrics }: Pick<ComparisonsOptions, "log" | "metrics">): ReportFull {
  const loggedAt = new Map<BoundedStore, number>();
  return (store, entries) => {
    metrics.countNoRoom(store, entries);
    const now = performance.now();
    if (now - (loggedAt.get(store) ?? -Infinity) < LOG_EVERY_MS) return;
    loggedAt.set(store, now);
    log.warn(
      { code: "AG_COMPARISONS_FULL", store },
      "a store of comparisons is full, or the share of one client in it: more is left out",
    );
  };
}
