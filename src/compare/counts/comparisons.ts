/** Collects the results of comparisons, and adds them to what all replicas have counted. */
import { createRecordIds, type Redaction } from "../../audit/index.ts";
import { errorText, type KeyValueStore, type Log, type Metrics, Outage } from "../../base/index.ts";
import type { Compared, ComparisonSource, ReportComparison } from "./comparison.ts";
import { readComparisons, writeComparisons } from "./comparison-store.ts";
import type { SourceCounts } from "./counts.ts";
import { createReportFull } from "./full-stores.ts";
import { Pending, type CoverAnswer } from "./pending.ts";

/** The comparisons of a gateway. */
export interface Comparisons {
  /** Takes the result of a comparison. Never throws, and never waits. */
  readonly report: ReportComparison;
  /** What all replicas have found. @throws {StateUnavailableError} */
  read(): Promise<readonly SourceCounts[]>;
  /** Writes what was collected. It is called each half second while there is something. Never throws. */
  flush(): Promise<void>;
  /** Writes what was collected, and stops. */
  close(): Promise<void>;
}

export interface ComparisonsOptions {
  readonly state: KeyValueStore;
  /** That of the audit, by the active pack. */
  readonly redaction: () => Redaction;
  /** What an answer shows of its route, by the active pack. Default: nothing. */
  readonly cover?: CoverAnswer;
  readonly metrics: Pick<Metrics, "countComparison" | "countNoRoom">;
  readonly log: Log;
}

const FLUSH_MS = 500;
/**
 * A store on a disk blocks the process while it writes: for so many times as long it is not written again. With 200
 * at most 0.5 % of the requests wait for it.
 */
const PAUSE_FACTOR = 200;
const MAX_PAUSE_MS = 5000;

/**
 * Creates what takes the results of comparisons. Nothing runs before the first result.
 *
 * @example
 * ```ts
 * const comparisons = openComparisons({ state, redaction: () => redaction, metrics, log });
 * comparisons.report(compared);
 * ```
 */
export function openComparisons({ state, redaction, cover, metrics, log }: ComparisonsOptions): Comparisons {
  const pending = new Map<ComparisonSource, Pending>();
  const newId = createRecordIds();
  const onFull = createReportFull({ log, metrics });
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  const outage = new Outage({
    begins: (error) =>
      log.error(
        { code: "AG_COMPARISONS_NOT_STORED", error },
        "comparisons could not be stored: they are kept in memory and tried again",
      ),
    ends: () => log.info({}, "comparisons are stored again"),
  });
  let pauseMs = FLUSH_MS;
  let isClosed = false;

  function pendingOf(source: ComparisonSource): Pending {
    const found = pending.get(source);
    if (found) return found;
    const created = new Pending({ source, redaction, cover, newId, onFull });
    pending.set(source, created);
    return created;
  }

  function schedule(): void {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, pauseMs).unref();
  }

  function report(compared: Compared): void {
    try {
      const { source, route, result, reason } = compared;
      metrics.countComparison(source, route, result, reason);
      pendingOf(source).add(compared);
      schedule();
    } catch (error) {
      log.error(
        { code: "AG_COMPARISON_LOST", requestId: compared.requestId, error: errorText(error) },
        "a comparison could not be counted",
      );
    }
  }

  async function writeAll(): Promise<void> {
    for (const one of pending.values()) {
      try {
        await writeComparisons(state, one, {
          onBegin: ({ source, subject }) =>
            log.info({ source, subject }, "comparisons are counted from the beginning"),
          onFull,
        });
        outage.succeeded();
      } catch (error) {
        outage.failed(error);
      }
    }
  }

  async function writeAndMeasure(): Promise<void> {
    const startedAt = performance.now();
    let isBlocking = true;
    const turn = setImmediate(() => (isBlocking = false));
    await writeAll();
    clearImmediate(turn);
    const blockedMs = isBlocking ? performance.now() - startedAt : 0;
    pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FLUSH_MS, blockedMs * PAUSE_FACTOR));
    if ([...pending.values()].some((one) => !one.isEmpty())) schedule();
  }

  /** One flush at a time: a second one waits for the first, and writes what came meanwhile. */
  function flush(): Promise<void> {
    const next = (flushing ?? Promise.resolve()).then(writeAndMeasure).finally(() => {
      if (flushing === next) flushing = undefined;
    });
    flushing = next;
    return next;
  }

  return {
    report,
    read: () => readComparisons(state),
    flush,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await flush();
    },
  };
}
