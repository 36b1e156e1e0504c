/** Adds results and counts of comparisons to other counts, within the limits of each client. */
import type { Redaction } from "../../audit/index.ts";
import { ProvenClients } from "../../gateway/index.ts";
import { CLIENT_SHARE, ClientRoom } from "../answers/client-room.ts";
import { type Compared, lineKey } from "../answers/comparison.ts";
import {
  caseOf,
  countCases,
  createRoute,
  type FieldCounts,
  hasCase,
  listCases,
  MAX_CASES,
  MAX_CLIENTS,
  MAX_EXAMPLES,
  MAX_FIELDS,
  type RouteCounts,
  type SourceCounts,
} from "./counts.ts";
import type { CoverAnswer } from "./coverage.ts";
import { createExample } from "./example.ts";

/** Maximum number of cases of all routes. */
const MAX_ALL_CASES = 200_000;
/** Maximum number of bytes of all examples of a source. */
const MAX_EXAMPLE_BYTES = 16 * 1024 * 1024;
/** Maximum number of clients of a route that have their own set of cases. All other clients share one. */
const MAX_OWNERS = 100;
const OTHERS = "others";
/**
 * `cases`: cases that prove a bound. `fields`: fields that differ, and their examples. `writes`: writes that invalidate
 * comparisons.
 */
export type BoundedStore = "cases" | "fields" | "writes";

/** Called for an entry for which there is no room: the store is full, or the share of its client is used up. */
export type ReportFull = (store: BoundedStore) => void;

/** Milliseconds during which comparisons of the previous subject may still arrive. */
const LATE_MS = 60_000;

/** The counters of a route that are sums. */
const SUMS = ["comparisons", "equal", "different", "unstable", "accepted"] as const;

function addNumbers(to: Partial<Record<string, number>>, more: Partial<Record<string, number>>): void {
  for (const [name, count = 0] of Object.entries(more)) to[name] = (to[name] ?? 0) + count;
}

/** Returns counts without any comparison. */
export const createCounts = (
  { source, subject }: Pick<SourceCounts, "source" | "subject">,
  since: number,
  before: string | null = null,
): SourceCounts => ({ source, subject, since, before, dropped: 0, routes: {} });

/** Maximum size in bytes of a response that is searched for coverage. */
const MAX_COVERED_BYTES = 65_536;
/** Maximum number of characters of a field's path, and of the name of a client. */
const MAX_NAME = 200;

interface CountOptions {
  /** Returns the redaction of the active pack. */
  readonly redaction: () => Redaction;
  /** Returns the parts of a route that occur in a response, by the active pack. */
  readonly cover: CoverAnswer;
  readonly newId: () => string;
  /** The room for examples that wait. */
  readonly exampleRoom: ClientRoom;
}

const cut = (text: string): string => text.slice(0, MAX_NAME);

/** Returns the fields of a result, with short names and without duplicates: a field of a list may differ in each row. */
function fieldsOf({ result, differences, time, client, provenBy = "" }: Compared): FieldCounts[] {
  if (result !== "different" && result !== "unstable") return [];
  const common = {
    count: Number(result === "different"),
    unstable: Number(result === "unstable"),
    first: time,
    last: time,
    by: provenBy,
    clients: client === null ? [] : [cut(client)],
  };
  const fields = differences.map(({ field, kind }) => ({ ...common, field: cut(field), kind, examples: [] }));
  return [...new Map(fields.map((field) => [lineKey(field), field])).values()];
}

/** Returns the counts of one result. */
function countsOf(compared: Compared, digest: string): RouteCounts {
  const { result, reason = "unreadable", time, provenBy, accepted = [] } = compared;
  return {
    ...createRoute(time),
    comparisons: 1,
    ...(result === "not_comparable" ? { notComparable: { [reason]: 1 } } : { [result]: 1 }),
    ...(provenBy !== undefined && digest !== "" && { cases: { [provenBy]: digest } }),
    differing: result === "different" ? digest : "",
    fields: fieldsOf(compared),
    acceptedLines: Object.fromEntries(
      accepted.map(({ field, kind }) => [lineKey({ field: cut(field), kind }), 1]),
    ),
  };
}

/** Whether a field has room for a further example in all counts. */
const lacksExample = (known: readonly RouteCounts[], field: FieldCounts): boolean =>
  known
    .flatMap(({ fields }) => fields.filter((each) => lineKey(each) === lineKey(field)))
    .every(({ examples }) => examples.length < MAX_EXAMPLES);

/** Counts that grow: those of one process until they are written, or those of all replicas. */
export class GrowingCounts {
  readonly counts: SourceCounts;
  /** New examples as JSON with their clients, by their ids. */
  readonly examples = new Map<string, { readonly text: string; readonly by: string }>();
  readonly #onFull: ReportFull;
  readonly #owners = new Map<RouteCounts, ProvenClients>();
  readonly #cases = new ClientRoom(MAX_ALL_CASES);
  readonly #fields = new ClientRoom(MAX_FIELDS);
  readonly #exampleBytes = new ClientRoom(MAX_EXAMPLE_BYTES);
  readonly #exampleIds = new Set<string>();

  constructor(counts: SourceCounts, onFull: ReportFull) {
    this.counts = counts;
    this.#onFull = onFull;
    for (const { cases, fields } of Object.values(counts.routes)) {
      for (const [owner, each] of Object.entries(cases)) this.#cases.take(owner, countCases(each));
      for (const { by, examples } of fields) {
        this.#fields.take(by);
        for (const example of examples) this.#takeExample(by, example);
      }
    }
  }

  /** Counts a result. @param others further counts of the same source that may contain its case */
  count(
    compared: Compared,
    others: readonly (SourceCounts | null | undefined)[],
    { redaction, cover, newId, exampleRoom }: CountOptions,
  ): void {
    const { subject, route, result, key, provenBy, answer, sample } = compared;
    const by = provenBy ?? "";
    const digest = key === undefined ? "" : caseOf(key);
    const counts = countsOf(compared, result === "unstable" ? "" : digest);
    const known = [this.counts, ...others].flatMap((each) =>
      each?.subject === subject ? (each.routes[route] ?? []) : [],
    );
    const isNew =
      digest !== "" &&
      !known.some(({ cases, differing }) =>
        [differing, ...Object.values(cases)].some((each) => hasCase(each, digest)),
      );
    if (isNew && provenBy !== undefined && answer && answer.length <= MAX_COVERED_BYTES)
      counts.seen = [...cover(route, answer)];
    const hasExample =
      isNew && result === "different" && counts.fields.some((field) => lacksExample(known, field));
    if (!hasExample || !sample || exampleRoom.roomOf(by) < 1) return this.add(route, counts);
    const id = newId();
    // The sample is redacted immediately, so that no secrets are stored.
    const text = JSON.stringify(createExample(compared, sample, id, redaction()));
    for (const field of counts.fields) field.examples.push({ id, bytes: Buffer.byteLength(text) });
    this.add(route, counts);
    if (!this.#exampleIds.has(id)) return;
    this.examples.set(id, { text, by });
    exampleRoom.take(by);
  }

  /** Adds later counts that wait as well. */
  join(later: GrowingCounts): void {
    this.addAll(later.counts);
    for (const [id, example] of later.examples) this.examples.set(id, example);
  }

  /** Adds all counts of the same subject. */
  addAll({ routes, dropped }: SourceCounts): void {
    this.counts.dropped += dropped;
    for (const [name, route] of Object.entries(routes)) this.add(name, route);
  }

  add(name: string, more: RouteCounts): void {
    const route = (this.counts.routes[name] ??= createRoute(more.first));
    route.first = Math.min(route.first, more.first);
    route.last = Math.max(route.last, more.last);
    for (const sum of SUMS) route[sum] += more[sum];
    addNumbers(route.notComparable, more.notComparable);
    addNumbers(route.acceptedLines, more.acceptedLines);
    if (more.seen.length > 0) route.seen = [...new Set([...route.seen, ...more.seen])];
    for (const field of more.fields) this.#addField(route, field);
    for (const digest of listCases(more.differing)) {
      if (hasCase(route.differing, digest)) continue;
      if (countCases(route.differing) < MAX_CASES) route.differing += digest;
      else this.#onFull("cases");
    }
    for (const [by, cases] of Object.entries(more.cases))
      for (const digest of listCases(cases)) this.#addCase(route, by, digest);
  }

  #drop(): void {
    this.#onFull("fields");
    this.counts.dropped += 1;
  }

  #addField(route: RouteCounts, more: FieldCounts): void {
    const { field, kind, by } = more;
    let found = route.fields.find((one) => one.field === field && one.kind === kind);
    if (!found) {
      if (!this.#fields.tryTake(by)) return this.#drop();
      found = { ...more, count: 0, unstable: 0, clients: [], examples: [] };
      route.fields.push(found);
    }
    found.count += more.count;
    found.unstable += more.unstable;
    found.first = Math.min(found.first, more.first);
    found.last = Math.max(found.last, more.last);
    found.clients = [...new Set([...found.clients, ...more.clients])].slice(0, MAX_CLIENTS);
    for (const example of more.examples) this.#addExample(found, example);
  }

  #addExample({ by, examples }: FieldCounts, { id, bytes }: FieldCounts["examples"][number]): void {
    if (examples.length >= MAX_EXAMPLES) return;
    if (!this.#exampleIds.has(id) && bytes > this.#exampleBytes.roomOf(by)) return this.#drop();
    this.#takeExample(by, { id, bytes });
    examples.push({ id, bytes });
  }

  /** Counts the bytes of an example. An example of several fields is counted once. */
  #takeExample(by: string, { id, bytes }: FieldCounts["examples"][number]): void {
    if (!this.#exampleIds.has(id)) this.#exampleBytes.take(by, bytes);
    this.#exampleIds.add(id);
  }

  #addCase(route: RouteCounts, by: string, digest: string): void {
    const owners = this.#owners.get(route) ?? new ProvenClients(Object.keys(route.cases));
    this.#owners.set(route, owners);
    // A client is always in one set, so that it never has two shares.
    const owner = owners.find(by) ?? (owners.size < MAX_OWNERS ? by : OTHERS);
    const { [owner]: cases = "" } = route.cases;
    if (hasCase(cases, digest)) return;
    if (countCases(cases) >= MAX_CASES * CLIENT_SHARE || !this.#cases.tryTake(owner))
      return this.#onFull("cases");
    route.cases[owner] = cases + digest;
    owners.add(owner);
  }
}

/** Whether a comparison of a subject was in flight when a new subject replaced it. */
const isLate = (subject: string, counts: SourceCounts | null, now: number): boolean =>
  counts !== null && counts.subject !== subject && counts.before === subject && now - counts.since < LATE_MS;

/**
 * Adds counts to the counts of their source. A new subject starts new counts.
 *
 * @param before The stored counts. They stay unchanged. Null: nothing was counted
 * @returns undefined for counts that come too late
 */
export function addToStored(
  before: SourceCounts | null,
  more: SourceCounts,
  onFull: ReportFull,
): SourceCounts | undefined {
  const now = Date.now();
  if (isLate(more.subject, before, now)) return undefined;
  const isSame = before?.subject === more.subject;
  const counts = isSame ? structuredClone(before) : createCounts(more, now, before?.subject);
  new GrowingCounts(counts, onFull).addAll(more);
  return counts;
}
