/** Collects the results of comparisons, and adds them to the counts of all replicas. */
import { errorText, Outage } from "../../base/index.ts";
import type { Compared } from "../answers/comparison.ts";
import { type ComparisonsOptions, CountsWriter } from "./counts-writer.ts";

/** The comparisons of a gateway. */
export type Comparisons = ReturnType<typeof openComparisons>;

const FLUSH_MS = 500;
/**
 * A store on disk blocks the process while it writes. After a write, the process waits for this many times its
 * duration. With 200, at most 0.5 % of the requests are delayed. Time in which other code runs is not included.
 */
const PAUSE_FACTOR = 200;
const MAX_PAUSE_MS = 5000;

/**
 * Creates the store for results of comparisons. Nothing runs before the first result.
 *
 * @example
 * ```ts
 * const comparisons = openComparisons({ state, redaction: () => redaction, metrics, log });
 * comparisons.report(compared);
 * ```
 */
export function openComparisons(options: ComparisonsOptions) {
  const { metrics, log } = options;
  const writer = new CountsWriter(options);
  const outage = new Outage({
    begins: (error) =>
      log.error(
        { code: "AG_COMPARISONS_NOT_STORED", error },
        "comparisons could not be stored: they are kept in memory and tried again",
      ),
    ends: () => log.info({}, "comparisons are stored again"),
  });
  let timer: NodeJS.Timeout | undefined;
  let flushed = Promise.resolve();
  let pauseMs = FLUSH_MS;
  let isClosed = false;

  function schedule(): void {
    if (isClosed || writer.isEmpty()) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, pauseMs).unref();
  }

  async function writeAll(): Promise<void> {
    const startedAt = performance.now();
    let isBlocking = true;
    const turn = setImmediate(() => (isBlocking = false));
    await writer.write((error) => (error === undefined ? outage.succeeded() : outage.failed(error)));
    clearImmediate(turn);
    const blockedMs = isBlocking ? performance.now() - startedAt : 0;
    pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FLUSH_MS, blockedMs * PAUSE_FACTOR));
    schedule();
  }

  /** Writes collected results, every half second while there are any. Never throws. Only one flush runs at a time. */
  const flush = (): Promise<void> => (flushed = flushed.then(writeAll));

  return {
    /** Accepts the result of a comparison. Never throws, and never waits. */
    report(compared: Compared): void {
      const { source, route, result, reason, requestId } = compared;
      try {
        metrics.countComparison(source, route, result, reason);
        writer.count(compared);
        schedule();
      } catch (error) {
        log.error(
          { code: "AG_COMPARISON_LOST", requestId, error: errorText(error) },
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
