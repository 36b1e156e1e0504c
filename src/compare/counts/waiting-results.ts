/** The results of one process and source that have not been added to the counts of all replicas yet. */
import type { Redaction } from "../../audit/index.ts";
import type { KeyValueStore } from "../../base/index.ts";
import { type Compared, type ComparisonSource, type Difference, lineKey } from "../answers/comparison.ts";
import { CLIENT_SHARE, ClientRoom } from "../answers/client-room.ts";
import { addResults } from "./add-results.ts";
import {
  caseOf,
  type CountedResult,
  exampleIds,
  hasCase,
  MAX_EXAMPLES,
  MAX_FIELDS,
  type SourceCounts,
  type StoredExample,
} from "./counts.ts";
import type { CoverAnswer } from "./coverage.ts";
import { createExample } from "./example.ts";
import { createCountsDocument, deleteExamples, writeExample } from "./stored-counts.ts";

/** Maximum number of results that wait to be written. Each field and each new part of a response counts as one more. */
const MAX_WAITING = 20_000;
/** Maximum number of examples that wait to be written. */
const MAX_EXAMPLES_WAITING = 30;
/** Maximum size in bytes of a response that is searched for coverage. */
const MAX_COVERED_BYTES = 65_536;
/** Maximum number of characters of a field's path, and of the name of a client. */
const MAX_NAME = 200;

/**
 * `cases`: cases that prove a bound, and waiting results. `fields`: fields that differ, and their examples. `writes`:
 * writes that invalidate comparisons.
 */
export type BoundedStore = "cases" | "fields" | "writes";

/**
 * Called with the number of entries for which there was no room: the store is full, or the share of their client is
 * used up.
 */
export type ReportFull = (store: BoundedStore, entries: number) => void;

interface WaitingOptions {
  readonly redaction: () => Redaction;
  readonly cover?: CoverAnswer | undefined;
  readonly newId: () => string;
  readonly onFull: ReportFull;
  /** Called when counts start: the first time, for a new subject, and after a reset. */
  readonly onBegin: (counts: SourceCounts) => void;
}

const cut = (text: string): string => text.slice(0, MAX_NAME);

/** Returns differences with short fields, without duplicates: a field of a list may differ in each row. */
const cutFields = (lines: readonly Pick<Difference, "field" | "kind">[]): CountedResult["fields"] => [
  ...new Map(
    lines.map(({ field, kind }) => ({ field: cut(field), kind })).map((line) => [lineKey(line), line]),
  ).values(),
];

const caseKey = ({ subject, route }: Pick<Compared, "subject" | "route">, digest: string): string =>
  `${subject} ${route} ${digest}`;

const partKey = (route: string, part: string): string => `${route}\n${part}`;

const sizeOf = ({ fields, seen }: CountedResult): number => 1 + fields.length + seen.length;

/** The results of a source that wait to be stored. */
export class WaitingResults {
  readonly #state: KeyValueStore;
  readonly #options: WaitingOptions;
  readonly #stored: ReturnType<typeof createCountsDocument>;
  /** The results, the oldest first. They stay until they are written. */
  readonly #results: CountedResult[] = [];
  /** The keys of their cases. */
  readonly #cases = new Set<string>();
  /** The keys of the parts of answers that these results were the first to show. */
  readonly #parts = new Set<string>();
  /** The results that can't be compared, by route and reason, until they are being written. */
  readonly #refusals = new Map<string, CountedResult>();
  readonly #shares = new ClientRoom(MAX_WAITING);
  readonly #exampleShares = new ClientRoom(MAX_EXAMPLES_WAITING);

  constructor(state: KeyValueStore, source: ComparisonSource, options: WaitingOptions) {
    this.#state = state;
    this.#options = options;
    this.#stored = createCountsDocument(state, source);
  }

  isEmpty(): boolean {
    return this.#results.length === 0;
  }

  add(compared: Compared): void {
    const refusal = JSON.stringify([compared.subject, compared.route, compared.reason]);
    const same = compared.result === "not_comparable" ? this.#refusals.get(refusal) : undefined;
    if (same) return void (same.times += 1);
    // This is checked first: while the store is unavailable, further results without room arrive.
    if (this.#shares.roomOf(compared.provenBy ?? "") < 1) return this.#options.onFull("cases", 1);
    const result = this.#toResult(compared);
    if (!this.#shares.tryTake(result.by, sizeOf(result))) return this.#options.onFull("cases", 1);
    if (result.example) this.#exampleShares.take(result.by);
    if (result.digest !== "") this.#cases.add(caseKey(result, result.digest));
    for (const part of result.seen) this.#parts.add(partKey(result.route, part));
    if (result.result === "not_comparable") this.#refusals.set(refusal, result);
    this.#results.push(result);
  }

  /**
   * Adds the waiting results to the counts of all replicas, with their examples.
   *
   * @throws {StateUnavailableError} Unwritten results continue to wait
   */
  async write(): Promise<void> {
    const batch = [...this.#results];
    this.#refusals.clear();
    const examples = batch.flatMap(({ example }) => example ?? []);
    // Examples are written before the counts that refer to them.
    for (const { id, json } of examples) await writeExample(this.#state, id, json);
    let before: SourceCounts | null = null;
    let added: ReturnType<typeof addResults> | undefined;
    await this.#stored.change((counts) => {
      before = counts;
      added = addResults(counts, batch, Date.now());
      return added.counts;
    });
    this.#remove(batch);
    if (!added) return;
    const { counts, hasBegun, noRoom } = added;
    if (hasBegun && counts) this.#options.onBegin(counts);
    if (noRoom.cases > 0) this.#options.onFull("cases", noRoom.cases);
    if (noRoom.fields > 0) this.#options.onFull("fields", noRoom.fields);
    const written = new Set([...exampleIds(before), ...examples.map(({ id }) => id)]);
    await deleteExamples(this.#state, written.difference(exampleIds(counts)));
  }

  #remove(batch: readonly CountedResult[]): void {
    this.#results.splice(0, batch.length);
    for (const result of batch) {
      this.#shares.giveBack(result.by, sizeOf(result));
      if (result.example) this.#exampleShares.giveBack(result.by);
      this.#cases.delete(caseKey(result, result.digest));
      for (const part of result.seen) this.#parts.delete(partKey(result.route, part));
    }
  }

  #toResult(compared: Compared): CountedResult {
    const { differences, accepted = [], answer: _answer, sample: _sample, ...about } = compared;
    const { result, client, provenBy: by = "", key } = about;
    const digest = key === undefined ? "" : caseOf(key);
    const isNew = digest !== "" && !this.#isKnown(compared, digest);
    const all = result === "different" || result === "unstable" ? cutFields(differences) : [];
    const fields = all.slice(0, MAX_FIELDS * CLIENT_SHARE);
    return {
      ...about,
      by,
      client: client === null ? null : cut(client),
      digest: result === "unstable" ? "" : digest,
      fields,
      moreFields: all.length - fields.length,
      acceptedLines: cutFields(accepted).map(lineKey),
      seen: isNew && by !== "" ? this.#cover(compared) : [],
      example: isNew && result === "different" ? this.#createExample(compared, fields) : undefined,
      times: 1,
    };
  }

  /** Returns the stored counts of the same route and subject. */
  #routeOf({ subject, route }: Compared) {
    const counts = this.#stored.current();
    return counts?.subject === subject ? counts.routes[route] : undefined;
  }

  /** Whether a case was already counted, according to this process. */
  #isKnown(compared: Compared, digest: string): boolean {
    const { cases = {}, differing = "" } = this.#routeOf(compared) ?? {};
    return (
      this.#cases.has(caseKey(compared, digest)) ||
      [differing, ...Object.values(cases)].some((each) => hasCase(each, digest))
    );
  }

  /** Returns the parts that did not occur in earlier responses. */
  #cover(compared: Compared): readonly string[] {
    const { route, answer } = compared;
    if (!answer || answer.length > MAX_COVERED_BYTES) return [];
    const stored = new Set(this.#routeOf(compared)?.seen ?? []);
    return (this.#options.cover?.(route, answer) ?? []).filter(
      (part) => !stored.has(part) && !this.#parts.has(partKey(route, part)),
    );
  }

  /** Whether a field that differs has room for a further example. */
  #lacksExample(compared: Compared, fields: CountedResult["fields"]): boolean {
    const stored = this.#routeOf(compared)?.fields ?? [];
    const full = new Set(
      stored.filter(({ examples }) => examples.length >= MAX_EXAMPLES).map((field) => lineKey(field)),
    );
    return fields.some((field) => !full.has(lineKey(field)));
  }

  /** Creates the example. The sample is redacted immediately, so that no secrets are stored. */
  #createExample(compared: Compared, fields: CountedResult["fields"]): StoredExample | undefined {
    const { sample, provenBy = "" } = compared;
    if (!sample || this.#exampleShares.roomOf(provenBy) < 1 || !this.#lacksExample(compared, fields))
      return undefined;
    const id = this.#options.newId();
    const json = JSON.stringify(createExample(compared, sample, id, this.#options.redaction()));
    return { id, bytes: Buffer.byteLength(json), json };
  }
}
