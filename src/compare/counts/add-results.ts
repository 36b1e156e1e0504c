/** Adds results of comparisons to counts, within the limits of each client. */
import { ProvenClients } from "../../gateway/index.ts";
import { CLIENT_SHARE, ClientRoom } from "../answers/client-room.ts";
import { type Difference, lineKey } from "../answers/comparison.ts";
import {
  countCases,
  type CountedResult,
  createRoute,
  type FieldCounts,
  hasCase,
  MAX_CASES,
  MAX_CLIENTS,
  MAX_EXAMPLES,
  MAX_FIELDS,
  type RouteCounts,
  type SourceCounts,
  type StoredExample,
} from "./counts.ts";

/** Maximum number of cases of all routes. */
const MAX_ALL_CASES = 200_000;
/** Maximum number of bytes of all examples of a source. */
const MAX_EXAMPLE_BYTES = 16 * 1024 * 1024;
/** Maximum number of clients of a route that have their own set of cases. All other clients share one. */
const MAX_OWNERS = 100;
const OTHERS = "others";
/** Milliseconds during which comparisons of the previous subject may still arrive. */
const LATE_MS = 60_000;

/** The result of adding to counts. */
interface Added {
  readonly counts: SourceCounts | null;
  /** Whether the counts started with these results. */
  readonly hasBegun: boolean;
  /** Numbers of cases and fields for which there was no room. */
  readonly noRoom: { readonly cases: number; readonly fields: number };
}

/** Whether a comparison of a subject was in flight when a new subject replaced it. */
const isLate = (subject: string, counts: SourceCounts | null, now: number): boolean =>
  counts?.before === subject && now - counts.since < LATE_MS;

/**
 * Adds results to the counts of their source. A new subject starts new counts.
 *
 * @param before The stored counts. They stay unchanged. Null: nothing was counted
 * @param now Milliseconds since the epoch
 */
export function addResults(
  before: SourceCounts | null,
  results: readonly CountedResult[],
  now: number,
): Added {
  let growing = before && new GrowingCounts(structuredClone(before));
  let hasBegun = false;
  for (const result of results) {
    const { source, subject } = result;
    const counts = growing?.counts ?? null;
    if (subject !== counts?.subject) {
      if (isLate(subject, counts, now)) continue;
      const empty = { source, subject, since: now, before: counts?.subject ?? null, dropped: 0, routes: {} };
      growing = new GrowingCounts(empty);
      hasBegun = true;
    }
    growing?.add(result);
  }
  if (!growing) return { counts: null, hasBegun, noRoom: { cases: 0, fields: 0 } };
  const { counts, noCases: cases, droppedBefore } = growing;
  return { counts, hasBegun, noRoom: { cases, fields: counts.dropped - droppedBefore } };
}

/** Counts that grow, with the sums for each client. */
class GrowingCounts {
  readonly counts: SourceCounts;
  readonly droppedBefore: number;
  /** Number of cases for which there was no room. */
  noCases = 0;
  readonly #owners = new Map<RouteCounts, ProvenClients>();
  readonly #cases = new ClientRoom(MAX_ALL_CASES);
  readonly #fields = new ClientRoom(MAX_FIELDS);
  readonly #exampleBytes = new ClientRoom(MAX_EXAMPLE_BYTES);
  readonly #examples = new Set<string>();

  constructor(counts: SourceCounts) {
    this.counts = counts;
    this.droppedBefore = counts.dropped;
    for (const { cases, fields } of Object.values(counts.routes)) {
      for (const [owner, each] of Object.entries(cases)) this.#cases.take(owner, countCases(each));
      for (const { by, examples } of fields) {
        this.#fields.take(by);
        for (const example of examples) this.#takeExample(by, example);
      }
    }
  }

  add(result: CountedResult): void {
    const { time, fields, times } = result;
    const route = (this.counts.routes[result.route] ??= createRoute(time));
    route.comparisons += times;
    route.first = Math.min(route.first, time);
    route.last = Math.max(route.last, time);
    if (result.result === "not_comparable") {
      const { reason = "unreadable" } = result;
      route.notComparable[reason] = (route.notComparable[reason] ?? 0) + times;
      return;
    }
    route[result.result] += 1;
    if (result.seen.length > 0) route.seen = [...new Set([...route.seen, ...result.seen])];
    for (const line of result.acceptedLines) route.acceptedLines[line] = (route.acceptedLines[line] ?? 0) + 1;
    this.counts.dropped += result.moreFields;
    for (const field of fields) this.#addField(route, field, result);
    if (result.digest === "") return;
    if (result.result === "different" && !hasCase(route.differing, result.digest)) {
      if (countCases(route.differing) < MAX_CASES) route.differing += result.digest;
      else this.noCases += 1;
    }
    if (result.by !== "") this.#addCase(route, result);
  }

  #addField(
    route: RouteCounts,
    { field, kind }: Pick<Difference, "field" | "kind">,
    { result, time, by, client, example }: CountedResult,
  ): void {
    const key = lineKey({ field, kind });
    let found = route.fields.find((one) => lineKey(one) === key);
    if (!found) {
      if (!this.#fields.tryTake(by)) return void (this.counts.dropped += 1);
      found = { field, kind, count: 0, unstable: 0, first: time, last: time, by, clients: [], examples: [] };
      route.fields.push(found);
    }
    found[result === "different" ? "count" : "unstable"] += 1;
    found.first = Math.min(found.first, time);
    found.last = Math.max(found.last, time);
    if (client !== null && found.clients.length < MAX_CLIENTS && !found.clients.includes(client))
      found.clients.push(client);
    if (example) this.#addExample(found, example);
  }

  #addExample({ by, examples }: FieldCounts, { id, bytes }: StoredExample): void {
    if (examples.length >= MAX_EXAMPLES) return;
    if (!this.#examples.has(id) && bytes > this.#exampleBytes.roomOf(by))
      return void (this.counts.dropped += 1);
    this.#takeExample(by, { id, bytes });
    examples.push({ id, bytes });
  }

  /** Counts the bytes of an example. An example of several fields is counted once. */
  #takeExample(by: string, { id, bytes }: FieldCounts["examples"][number]): void {
    if (!this.#examples.has(id)) this.#exampleBytes.take(by, bytes);
    this.#examples.add(id);
  }

  #addCase(route: RouteCounts, { by, digest }: CountedResult): void {
    const owners = this.#owners.get(route) ?? new ProvenClients(Object.keys(route.cases));
    this.#owners.set(route, owners);
    // A client is always in one set, so that it never has two shares.
    const owner = owners.find(by) ?? (owners.size < MAX_OWNERS ? by : OTHERS);
    const { [owner]: cases = "" } = route.cases;
    if (hasCase(cases, digest)) return;
    if (countCases(cases) >= MAX_CASES * CLIENT_SHARE || !this.#cases.tryTake(owner))
      return void (this.noCases += 1);
    route.cases[owner] = cases + digest;
    owners.add(owner);
  }
}
