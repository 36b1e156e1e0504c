/** The results of one process and source, until they are added to the counts of all replicas. */
import type { Redaction } from "../../audit/index.ts";
import type { KeyValueStore, Log, Metrics } from "../../base/index.ts";
import {
  caseOf,
  CLIENT_SHARE,
  countOne,
  createCounts,
  examplesOf,
  hasCase,
  isLate,
  MAX_EXAMPLES,
  type SourceCounts,
} from "./counts.ts";
import { type Compared, type ComparisonSource, lineKey } from "../answers/comparison.ts";
import type { CoverAnswer } from "./coverage.ts";
import { createExample } from "./example.ts";
import { GrowingCounts, STORED, WAITING } from "./growing-counts.ts";
import { createIsSameClient } from "../../gateway/index.ts";
import { createCountsDocument, deleteExamples, writeExample } from "./stored-counts.ts";

/** Examples that wait to be written. */
const MAX_EXAMPLES_WAITING = 30;
/** Bytes of an answer that is looked at for coverage. */
const MAX_COVERED_BYTES = 65_536;

export interface WaitingOptions {
  readonly redaction: () => Redaction;
  readonly cover?: CoverAnswer | undefined;
  readonly newId: () => string;
  /** Called with results that find no room. */
  readonly onFull: ReportFull;
  /** Called when counts begin: at first, with another subject, and after a reset. */
  readonly onBegin: (counts: SourceCounts) => void;
}

/** An example that waits to be written. */
interface WaitingExample {
  readonly by: string;
  readonly json: string;
}

/** The counts of a source that wait to be stored. */
export class WaitingCounts {
  readonly #state: KeyValueStore;
  readonly #options: WaitingOptions;
  readonly #stored: ReturnType<typeof createCountsDocument>;
  /** The current subject. */
  #begun: Pick<SourceCounts, "subject" | "since" | "before"> | undefined;
  #waiting: GrowingCounts | undefined;
  /** The counts that are being stored. */
  #batch: SourceCounts | undefined;
  readonly #examples = new Map<string, WaitingExample>();

  constructor(state: KeyValueStore, source: ComparisonSource, options: WaitingOptions) {
    this.#state = state;
    this.#options = options;
    this.#stored = createCountsDocument(state, source);
  }

  get #counts(): SourceCounts | undefined {
    return this.#waiting?.counts;
  }

  isEmpty(): boolean {
    return this.#waiting === undefined && this.#examples.size === 0;
  }

  /** Counts a comparison. A comparison that began before the subject changed is left out. */
  add(compared: Compared): void {
    const { subject, route, result, provenBy, key } = compared;
    const now = Date.now();
    if (subject !== this.#begun?.subject) {
      if (isLate(subject, this.#begun, now)) return;
      this.#begun = { subject, since: now, before: this.#begun?.subject ?? null };
      this.#waiting = undefined;
    }
    const proven = key === undefined ? undefined : caseOf(key);
    const isNew = proven !== undefined && !this.#isKnown(route, proven);
    const example = isNew && result === "different" ? this.#createExample(compared) : undefined;
    const seen = isNew && provenBy !== undefined ? this.#cover(compared) : [];
    this.#waiting ??= new GrowingCounts(createCounts(compared, now), WAITING);
    const dropped = this.#waiting.addRoute(route, countOne(compared, seen, example));
    if (dropped > 0) this.#options.onFull("cases", dropped);
  }

  /**
   * Adds the waiting results to the counts of all replicas, and writes the examples that were taken.
   *
   * @throws {StateUnavailableError} Unwritten results wait.
   */
  async write(): Promise<void> {
    const batch = this.#counts;
    let replaced: SourceCounts | null = null;
    this.#waiting = undefined;
    this.#batch = batch;
    try {
      if (batch) replaced = await this.#store(batch);
    } catch (error) {
      this.#giveBack(batch);
      throw error;
    } finally {
      this.#batch = undefined;
    }
    const [stored, waiting] = [this.#stored.current(), this.#counts].map((counts) =>
      counts ? examplesOf(counts) : undefined,
    );
    // Others may be added meanwhile.
    const examples = new Map(this.#examples);
    for (const [id, { json }] of examples) {
      if (stored?.has(id)) await writeExample(this.#state, id, json);
      if (!waiting?.has(id)) this.#examples.delete(id);
    }
    await deleteExamples(this.#state, replaced);
  }

  /** Adds a batch to the document. @returns the counts that it has replaced */
  async #store(batch: SourceCounts): Promise<SourceCounts | null> {
    let replaced: SourceCounts | null = null;
    let begun: SourceCounts | undefined;
    let [cases, fields] = [0, 0];
    await this.#stored.change((before) => {
      replaced = null;
      begun = undefined;
      [cases, fields] = [0, 0];
      const isSame = before?.subject === batch.subject;
      // Another replica has a newer subject already.
      if (!isSame && isLate(batch.subject, before ?? undefined, Date.now())) return before;
      const counts = isSame
        ? structuredClone(before)
        : createCounts(batch, Date.now(), before?.subject ?? null);
      if (!isSame) [replaced, begun] = [before, counts];
      const droppedBefore = counts.dropped;
      cases = new GrowingCounts(counts, STORED).add(batch);
      fields = counts.dropped - droppedBefore;
      return counts;
    });
    if (begun) this.#options.onBegin(begun);
    if (cases > 0) this.#options.onFull("cases", cases);
    if (fields > 0) this.#options.onFull("fields", fields);
    return replaced;
  }

  /** Counts that could not be stored wait with newer ones. */
  #giveBack(batch: SourceCounts | undefined): void {
    if (batch?.subject !== this.#begun?.subject || !batch) return;
    const waiting = new GrowingCounts(batch, WAITING);
    if (this.#waiting) waiting.add(this.#waiting.counts);
    this.#waiting = waiting;
  }

  /** The counts of the current subject. */
  #all(): readonly SourceCounts[] {
    const all = [this.#stored.current() ?? undefined, this.#batch, this.#counts];
    return all
      .filter((counts) => counts !== undefined)
      .filter(({ subject }) => subject === this.#begun?.subject);
  }

  /** Whether a case was counted, as far as this process knows. */
  #isKnown(route: string, proven: string): boolean {
    return this.#all().some(({ routes }) => {
      const { cases = {}, differing = "" } = routes[route] ?? {};
      return [differing, ...Object.values(cases)].some((each) => hasCase(each, proven));
    });
  }

  #cover({ route, answer }: Compared): readonly string[] {
    if (!answer || answer.length > MAX_COVERED_BYTES) return [];
    return this.#options.cover?.(route, answer) ?? [];
  }

  /** Whether a field that differs has room for another example. */
  #lacksExample({ route, differences }: Compared): boolean {
    const fields = this.#all().flatMap(({ routes }) => routes[route]?.fields ?? []);
    return differences.some((difference) => {
      const same = fields.filter((field) => lineKey(field) === lineKey(difference));
      return same.reduce((sum, { examples }) => sum + examples.length, 0) < MAX_EXAMPLES;
    });
  }

  /** Redacts the sample at once, so that no secrets are kept. */
  #createExample(compared: Compared): { readonly id: string; readonly bytes: number } | undefined {
    const { sample, provenBy: by = "" } = compared;
    const isSame = createIsSameClient(by);
    const own = [...this.#examples.values()].filter((each) => isSame(each.by)).length;
    const isFull = this.#examples.size >= MAX_EXAMPLES_WAITING || own >= MAX_EXAMPLES_WAITING * CLIENT_SHARE;
    if (!sample || isFull || !this.#lacksExample(compared)) return undefined;
    const id = this.#options.newId();
    const json = JSON.stringify(createExample(compared, sample, id, this.#options.redaction()));
    this.#examples.set(id, { by, json });
    return { id, bytes: Buffer.byteLength(json) };
  }
}

/**
 * `cases`: cases that prove a bound. `fields`: fields that differ, and their examples. `writes`: writes that void
 * comparisons.
 */
export type BoundedStore = "cases" | "fields" | "writes";

/** Takes how many entries found no room: the store is full, or the share of their client. */
export type ReportFull = (store: BoundedStore, entries: number) => void;

/** Milliseconds between two lines about the same store. */
const LOG_EVERY_MS = 3_600_000;

/** Creates the function that reports full stores. */
export function createReportFull({
  log,
  metrics,
}: {
  readonly log: Log;
  readonly metrics: Pick<Metrics, "countNoRoom">;
}): ReportFull {
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
