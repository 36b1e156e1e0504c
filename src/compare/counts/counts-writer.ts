/** Adds the counts of one process to those of all replicas. */
import { createRecordIds, type Redaction } from "../../audit/index.ts";
import type { KeyValueStore, Log, Metrics } from "../../base/index.ts";
import type { Compared } from "../answers/comparison.ts";
import { addToStored, createCounts, type GrowingCounts } from "./add-counts.ts";
import { exampleIds, type SourceCounts } from "./counts.ts";
import type { CoverAnswer } from "./coverage.ts";
import { createCountsDocument, deleteExamples, writeExample } from "./stored-counts.ts";
import { WaitingCounts } from "./waiting-counts.ts";

/**
 * `cases`: cases that prove a bound. `fields`: fields that differ, and their examples. `writes`: writes that invalidate
 * comparisons.
 */
type BoundedStore = "cases" | "fields" | "writes";

/**
 * Called with the number of entries for which there was no room: the store is full, or the share of their client is
 * used up.
 */
export type ReportFull = (store: BoundedStore, entries: number) => void;

export interface ComparisonsOptions {
  readonly state: KeyValueStore;
  /** Returns the redaction of the active pack. */
  readonly redaction: () => Redaction;
  /** Returns the parts of a route that occur in a response, by the active pack. Default: none. */
  readonly cover?: CoverAnswer;
  readonly metrics: Pick<Metrics, "countComparison" | "countNoRoom">;
  readonly log: Log;
}

/** The counts of one process, until they are written. */
export class CountsWriter {
  readonly #state: KeyValueStore;
  readonly #log: Log;
  readonly #reportFull: ReportFull;
  readonly #options: Parameters<WaitingCounts["count"]>[2];
  readonly #documents;
  /** The counts by source and subject that wait, and those that are being written. The oldest subject is first. */
  #waiting = new Map<string, WaitingCounts>();
  #writing = new Map<string, WaitingCounts>();

  constructor({ state, redaction, cover = () => [], metrics, log }: ComparisonsOptions) {
    this.#state = state;
    this.#log = log;
    this.#reportFull = createReportFull({ log, metrics });
    this.#options = { redaction, cover, newId: createRecordIds() };
    this.#documents = {
      candidate: createCountsDocument(state, "candidate"),
      legacy: createCountsDocument(state, "legacy"),
    };
  }

  isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  count(compared: Compared): void {
    const { source, subject, time } = compared;
    const key = `${source} ${subject}`;
    const counts =
      this.#waiting.get(key) ??
      this.#writing.get(key)?.createLater(time) ??
      new WaitingCounts(createCounts({ source, subject }, time));
    this.#waiting.set(key, counts);
    const others = [this.#writing.get(key)?.counts, this.#documents[source].current()];
    counts.count(compared, others, this.#options);
    this.#reportNoRoom(counts);
  }

  /** Writes all counts that wait. @param onEnd called for each source and subject, with the error if there is one */
  async write(onEnd: (error?: unknown) => void): Promise<void> {
    [this.#writing, this.#waiting] = [this.#waiting, new Map()];
    for (const [key, counts] of this.#writing) await this.#writeOne(key, counts).then(() => onEnd(), onEnd);
    // Unwritten counts stay before later ones.
    for (const [key, later] of this.#waiting) {
      const counts = this.#writing.get(key) ?? later;
      if (counts !== later) counts.join(later);
      this.#writing.set(key, counts);
      this.#reportNoRoom(counts);
    }
    [this.#writing, this.#waiting] = [new Map(), this.#writing];
  }

  /** Counts are written once, even if the examples that no counts refer to can't be deleted. */
  async #writeOne(key: string, waiting: WaitingCounts): Promise<void> {
    const { counts: more, texts } = waiting;
    const { source, subject } = more;
    // Examples are written before the counts that refer to them.
    for (const [id, text] of texts) await writeExample(this.#state, id, text);
    const change: { before: SourceCounts | null; after?: GrowingCounts | undefined } = { before: null };
    await this.#documents[source].change((before) => {
      const after = addToStored(before, more, Date.now());
      Object.assign(change, { before, after });
      return after?.counts ?? before;
    });
    this.#writing.delete(key);
    waiting.giveRoomBack();
    const { before, after } = change;
    if (after && before?.subject !== subject)
      this.#log.info({ source, subject }, "comparisons are counted from the beginning");
    if (after) this.#reportNoRoom(after);
    const written = exampleIds(before).union(new Set(texts.keys()));
    await deleteExamples(this.#state, written.difference(exampleIds(after?.counts ?? before)));
  }

  #reportNoRoom(counts: GrowingCounts): void {
    for (const [store, entries] of counts.takeNoRoom()) if (entries > 0) this.#reportFull(store, entries);
  }
}

/** Milliseconds between two log lines about the same store. */
const LOG_EVERY_MS = 3_600_000;

/** Creates the function that reports full stores: each of them at most once an hour in the log. */
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
