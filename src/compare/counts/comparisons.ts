/** Collects the results of comparisons, and adds them to the counts of all replicas. */
import { createRecordIds, type Redaction } from "../../audit/index.ts";
import { errorText, type KeyValueStore, type Log, type Metrics, Outage } from "../../base/index.ts";
import { ClientRoom } from "../answers/client-room.ts";
import type { Compared } from "../answers/comparison.ts";
import {
  addToStored,
  type BoundedStore,
  createCounts,
  GrowingCounts,
  type ReportFull,
} from "./add-counts.ts";
import {
  createCountsDocument,
  deleteExamples,
  exampleIds,
  type SourceCounts,
  writeExample,
} from "./counts.ts";
import type { CoverAnswer } from "./coverage.ts";

interface ComparisonsOptions {
  readonly state: KeyValueStore;
  /** Returns the redaction of the active pack. */
  readonly redaction: () => Redaction;
  /** Returns the parts of a route that occur in a response, by the active pack. Default: none. */
  readonly cover?: CoverAnswer;
  readonly metrics: Pick<Metrics, "countComparison" | "countNoRoom">;
  readonly log: Log;
}

/** The comparisons of a gateway. */
export type Comparisons = ReturnType<typeof openComparisons>;

/** Milliseconds between two log lines about the same store. */
const LOG_EVERY_MS = 3_600_000;

/** Creates the function that reports full stores: each of them at most once an hour in the log. */
export function createReportFull({ log, metrics }: Pick<ComparisonsOptions, "log" | "metrics">): ReportFull {
  const loggedAt = new Map<BoundedStore, number>();
  return (store) => {
    metrics.countNoRoom(store, 1);
    const now = performance.now();
    if (now - (loggedAt.get(store) ?? -Infinity) < LOG_EVERY_MS) return;
    loggedAt.set(store, now);
    log.warn(
      { code: "AG_COMPARISONS_FULL", store },
      "a store of comparisons is full, or the share of one client in it: more is left out",
    );
  };
}

/** Maximum number of examples between two writes, because each of them is written on its own. */
const MAX_EXAMPLES_WAITING = 30;

/** Creates the counts of one process, which wait until they are added to those of all replicas. */
function createPending({ state, redaction, cover = () => [], metrics, log }: ComparisonsOptions) {
  const reportFull = createReportFull({ log, metrics });
  const exampleRoom = new ClientRoom(MAX_EXAMPLES_WAITING);
  const options = { redaction, cover, newId: createRecordIds(), exampleRoom };
  const documents = {
    candidate: createCountsDocument(state, "candidate"),
    legacy: createCountsDocument(state, "legacy"),
  };
  /** The counts by source and subject that wait, and those that are being written. The oldest subject is first. */
  let waiting = new Map<string, GrowingCounts>();
  let writing = new Map<string, GrowingCounts>();

  /** Counts are written once, even if the examples that no counts refer to can't be deleted. */
  async function writeOne(key: string, { counts: more, examples }: GrowingCounts): Promise<void> {
    const { source, subject } = more;
    // Examples are written before the counts that refer to them.
    for (const [id, { text }] of examples) await writeExample(state, id, text);
    let before: SourceCounts | null = null;
    let after: SourceCounts | undefined;
    let full: BoundedStore[] = [];
    await documents[source].change((stored) => {
      full = [];
      before = stored;
      after = addToStored(stored, more, (store) => full.push(store));
      return after ?? stored;
    });
    writing.delete(key);
    for (const { by } of examples.values()) exampleRoom.giveBack(by);
    const known = before as SourceCounts | null;
    if (after && known?.subject !== subject)
      log.info({ source, subject }, "comparisons are counted from the beginning");
    for (const store of full) reportFull(store);
    const written = exampleIds(known).union(new Set(examples.keys()));
    await deleteExamples(state, written.difference(exampleIds(after ?? known)));
  }

  return {
    isEmpty: (): boolean => waiting.size === 0,
    count(compared: Compared): void {
      const { source, subject, time } = compared;
      const key = `${source} ${subject}`;
      const counts =
        waiting.get(key) ?? new GrowingCounts(createCounts({ source, subject }, time), reportFull);
      waiting.set(key, counts);
      counts.count(compared, [writing.get(key)?.counts, documents[source].current()], options);
    },
    /** Writes all counts that wait. @param onEnd called for each source and subject, with the error if there is one */
    async write(onEnd: (error?: unknown) => void): Promise<void> {
      [writing, waiting] = [waiting, new Map()];
      for (const [key, counts] of writing) await writeOne(key, counts).then(() => onEnd(), onEnd);
      // Unwritten counts stay before later ones.
      for (const [key, later] of waiting) {
        const counts = writing.get(key);
        if (counts) counts.join(later);
        else writing.set(key, later);
      }
      [writing, waiting] = [new Map(), writing];
    },
  };
}

const FLUSH_MS = 500;
/**
 * A store on disk blocks the process while it writes. After a write, the process waits for this many times its
 * duration. With 200, at most 0.5 % of the requests are delayed. A write during which other code runs counts as 0,
 * because it does not block the process.
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
  const pending = createPending(options);
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
    if (isClosed || pending.isEmpty()) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, pauseMs).unref();
  }

  async function writeAll(): Promise<void> {
    const startedAt = performance.now();
    let isBlocking = true;
    const turn = setImmediate(() => (isBlocking = false));
    await pending.write((error) => (error === undefined ? outage.succeeded() : outage.failed(error)));
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
        pending.count(compared);
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
