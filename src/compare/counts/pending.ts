/** What a process has found and not written yet. Every part of it is bounded. */
import type { Redaction } from "../../audit/index.ts";
import type { Compared, ComparisonSource } from "./comparison.ts";
import {
  addComparison,
  addCounts,
  CLIENT_SHARE,
  createCounts,
  examplesOf,
  MAX_EXAMPLES,
  type FieldCounts,
  type SourceCounts,
} from "./counts.ts";
import { createExample } from "./example.ts";
import type { ReportFull } from "./full-stores.ts";
import { partsOf } from "./proven-by.ts";

/** What an answer shows of its route: `field` that is not null, `field=word` of a value table. Never throws. */
export type CoverAnswer = (route: string, body: Buffer) => readonly string[];

/** The sets of a route: cases that were compared, those that differ, and what their answers showed. */
export const SETS = ["cases", "different", "seen"] as const;
export type SetName = (typeof SETS)[number];

/** Members that may be new in a set of a route: cases are those of one client. */
export interface NewMembers {
  readonly set: SetName;
  readonly route: string;
  /** As {@link Compared.provenBy} says; empty where the set is that of all clients. */
  readonly by: string;
  readonly members: readonly string[];
}

/** An example that waits to be written, as JSON. */
export interface StoredExample {
  readonly id: string;
  readonly json: string;
}

/** Members that wait to be added to the sets of routes. */
const MAX_PENDING_MEMBERS = 20_000;
/** Members that need not be added again. */
const MAX_KNOWN_MEMBERS = 20_000;
const MAX_PENDING_EXAMPLES = 30;
/** Characters of a case's key that tell it from the others of its route. */
const KEY_LENGTH = 22;
/** Comparisons of the subject before may arrive for so long. */
export const LATE_MS = 60_000;
/** Bytes of an answer that is looked at for coverage. */
const MAX_COVERED_BYTES = 65_536;

/** The place of a set in a batch. */
const placeOf = (set: SetName, route: string, by = ""): string => `${set}\n${route}\n${by}`;

export interface PendingOptions {
  readonly source: ComparisonSource;
  readonly redaction: () => Redaction;
  readonly cover: CoverAnswer | undefined;
  readonly newId: () => string;
  /** Called with what finds no room. */
  readonly onFull: ReportFull;
}

/** What is taken to be written. */
export interface Batch {
  readonly counts: SourceCounts;
  readonly sets: ReadonlyMap<string, ReadonlySet<string>>;
  readonly examples: ReadonlyMap<string, StoredExample>;
}

/** Counts what clients have in a bounded store: of those without a name what a token has, and what a network has. */
class Shares {
  readonly #counts = new Map<string, number>();
  readonly #most: number;

  /** @param most of all clients */
  constructor(most: number) {
    this.#most = most * CLIENT_SHARE;
  }

  hasRoom(by: string): boolean {
    return partsOf(by).every((part) => (this.#counts.get(part) ?? 0) < this.#most);
  }

  add(by: string): void {
    for (const part of partsOf(by)) this.#counts.set(part, (this.#counts.get(part) ?? 0) + 1);
  }

  clear(): void {
    this.#counts.clear();
  }
}

/** The results of one source that wait to be written. */
export class Pending {
  readonly source: ComparisonSource;
  /** Examples to which stored counts refer already. */
  readonly unwritten = new Map<string, StoredExample>();
  /** What this process has written last, as text and as counts. */
  written: { readonly text: string; readonly counts: SourceCounts } | undefined;
  readonly #options: PendingOptions;
  #counts: SourceCounts | undefined;
  #sets = new Map<string, Set<string>>();
  /** Those of the batch that is being written. */
  #taken: Batch["sets"] | undefined;
  #members = 0;
  readonly #membersBy = new Shares(MAX_PENDING_MEMBERS);
  readonly #examplesBy = new Shares(MAX_PENDING_EXAMPLES);
  #examples = new Map<string, StoredExample>();
  /** Members of the sets of the stored counts, the latest ones. */
  readonly #known = new Set<string>();
  #stored: SourceCounts | undefined;
  #subject: string | undefined;
  #before: string | undefined;
  #changedAt = -Infinity;

  constructor(options: PendingOptions) {
    this.source = options.source;
    this.#options = options;
  }

  /** Counts a comparison. Those that began before the subject changed are left out. */
  add(compared: Compared): void {
    if (!this.#accept(compared.subject)) return;
    this.#counts ??= createCounts(compared, "", compared.time);
    const fields = addComparison(this.#counts, compared);
    const isNewCase = this.#addMembers(compared);
    // The same case again would be the same example.
    if (isNewCase) this.#addExample(compared, fields);
  }

  isEmpty(): boolean {
    return this.#counts === undefined && this.unwritten.size === 0;
  }

  /** Takes all that waits; undefined for nothing. It is given back, or done. */
  take(): Batch | undefined {
    if (!this.#counts) return undefined;
    const batch = { counts: this.#counts, sets: this.#sets, examples: this.#examples };
    this.#clear();
    this.#taken = batch.sets;
    return batch;
  }

  /** The batch could not be written: it waits with what came meanwhile. */
  giveBack({ counts, sets, examples }: Batch): void {
    this.#taken = undefined;
    if (counts.subject !== this.#subject) return;
    const [newCounts, newSets, newExamples] = [this.#counts, this.#sets, this.#examples];
    this.#clear();
    this.#counts = counts;
    if (newCounts) addCounts(counts, newCounts, () => 0);
    for (const from of [sets, newSets])
      for (const [place, members] of from) for (const member of members) this.#addMember(place, member);
    const kept = examplesOf(counts);
    for (const [id, example] of [...examples, ...newExamples])
      if (kept.has(id)) this.#examples.set(id, example);
  }

  /** The batch was written. @param stored What all replicas have counted now */
  done({ counts, sets, examples }: Batch, stored: SourceCounts): void {
    this.#taken = undefined;
    if (counts.subject !== this.#subject) return;
    if (stored.epoch !== this.#stored?.epoch) this.#known.clear();
    this.#stored = stored;
    const kept = examplesOf(stored);
    for (const [id, example] of examples) if (kept.has(id)) this.unwritten.set(id, example);
    for (const [place, members] of sets) for (const member of members) this.#known.add(`${place}\n${member}`);
    for (const oldest of this.#known) {
      if (this.#known.size <= MAX_KNOWN_MEMBERS) break;
      this.#known.delete(oldest);
    }
  }

  #clear(): void {
    this.#counts = undefined;
    this.#sets = new Map();
    this.#members = 0;
    this.#membersBy.clear();
    this.#examples = new Map();
    this.#examplesBy.clear();
  }

  /** Whether comparisons of a subject are counted now. */
  #accept(subject: string): boolean {
    if (subject === this.#subject) return true;
    const now = performance.now();
    if (subject === this.#before && now - this.#changedAt < LATE_MS) return false;
    this.#before = this.#subject;
    this.#subject = subject;
    this.#changedAt = now;
    this.#clear();
    this.#known.clear();
    this.#stored = undefined;
    this.unwritten.clear();
    return true;
  }

  /** @returns Whether this differing case is new, as far as it is known here. */
  #addMembers({ route, result, key, answer, provenBy }: Compared): boolean {
    if (key === undefined || result === "unstable" || result === "not_comparable") return false;
    const member = key.slice(0, KEY_LENGTH);
    const isNewDifference = result === "different" && this.#addMember(placeOf("different", route), member);
    const isNew = provenBy !== undefined && this.#addMember(placeOf("cases", route, provenBy), member);
    // The same answer again shows nothing new.
    if (isNew && answer && answer.length <= MAX_COVERED_BYTES)
      for (const name of this.#options.cover?.(route, answer) ?? [])
        this.#addMember(placeOf("seen", route), name);
    return isNewDifference;
  }

  /** The members of a batch that the sets of an epoch may not have yet. */
  newMembers({ sets }: Batch, epoch: string): readonly NewMembers[] {
    const isKnown = (place: string, member: string): boolean =>
      epoch === this.#stored?.epoch && this.#known.has(`${place}\n${member}`);
    return [...sets].flatMap(([place, all]) => {
      const [set = "", route = "", by = ""] = place.split("\n");
      const members = [...all].filter((member) => !isKnown(place, member));
      return members.length === 0 ? [] : [{ set: set as SetName, route, by, members }];
    });
  }

  /** @returns Whether the member is new, as far as it is known here. */
  #addMember(place: string, member: string): boolean {
    const members = this.#sets.get(place) ?? new Set();
    if (members.has(member)) return false;
    // Without a case more comparisons are needed. Without a difference they would seem to be fewer than they are.
    const most = place.startsWith("different") ? 2 * MAX_PENDING_MEMBERS : MAX_PENDING_MEMBERS;
    const by = place.slice(place.lastIndexOf("\n") + 1);
    if (this.#members >= most || (by !== "" && !this.#membersBy.hasRoom(by))) {
      this.#options.onFull("cases", 1);
      return false;
    }
    this.#membersBy.add(by);
    members.add(member);
    this.#sets.set(place, members);
    this.#members += 1;
    return this.#taken?.get(place)?.has(member) !== true && !this.#known.has(`${place}\n${member}`);
  }

  /** Redacts the sample at once: what has secrets is not kept. */
  #addExample(compared: Compared, fields: readonly FieldCounts[]): void {
    const { route, sample, provenBy = "" } = compared;
    if (!sample || this.#examples.size >= MAX_PENDING_EXAMPLES || !this.#examplesBy.hasRoom(provenBy)) return;
    const stored = this.#stored?.routes[route]?.fields ?? [];
    const lacking = fields.filter((field) => {
      const before = stored.find((one) => one.field === field.field && one.kind === field.kind);
      return field.examples.length + (before?.examples.length ?? 0) < MAX_EXAMPLES;
    });
    if (lacking.length === 0) return;
    const example = createExample(compared, sample, this.#options.newId(), this.#options.redaction());
    this.#examplesBy.add(provenBy);
    this.#examples.set(example.id, { id: example.id, json: JSON.stringify(example) });
    for (const field of lacking) field.examples.push(example.id);
  }
}
