/** Where the counts and examples of comparisons are in the state store. */
import { hash, randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { tryParse } from "../../audit/index.ts";
import { isObject, type KeyValueStore, replaceValue } from "../../base/index.ts";
import type { ComparisonSource } from "./comparison.ts";
import {
  addCounts,
  CLIENT_SHARE,
  createCounts,
  examplesOf,
  parseCounts,
  type SourceCounts,
} from "./counts.ts";
import type { Example } from "./example.ts";
import type { ReportFull } from "./full-stores.ts";
import { LATE_MS, type Batch, type Pending, type SetName } from "./pending.ts";
import { partsOf, ProvenClients } from "./proven-by.ts";

export const SOURCES: readonly ComparisonSource[] = ["candidate", "legacy"];

/** Cases of a route that are told apart. More prove nothing that a gateway is asked for. */
export const MAX_CASES = 10_000;
/** Cases of all routes of a source: a part of what the state store has room for. */
const MAX_ALL_CASES = 200_000;
/** Clients of a route that have a set of cases of their own, and sets that all others share. */
const MAX_CASE_CLIENTS = 100;
const SHARED_SETS = 20;
/** The store has no values without an end. */
const TTL_SECONDS = 365 * 86_400;
/** An example has data of a client: it is not kept for longer than its records. */
const EXAMPLE_TTL_SECONDS = 30 * 86_400;
/** Writes that lose against those of other replicas, before one is given up until the next flush. */
const ATTEMPTS = 10;
/** Sets that are deleted in one write: each may have thousands of members. */
const DELETED_AT_ONCE = 20;

const countsKey = (source: ComparisonSource): string => `parity:counts:${source}`;
const setKey = (epoch: string, set: SetName, route: string, by = ""): string =>
  `parity:${epoch}:${set}:${route}${by === "" ? "" : `:${by}`}`;

/** All sets of a route. */
const setsOf = ({ epoch, routes }: SourceCounts, route: string): readonly string[] => [
  setKey(epoch, "different", route),
  setKey(epoch, "seen", route),
  ...Object.keys(routes[route]?.cases ?? {}).map((by) => setKey(epoch, "cases", route, by)),
];
const exampleKey = (id: string): string => `parity:example:${id}`;

/** Deletes the sets and examples of counts. */
async function deleteRest(state: KeyValueStore, counts: SourceCounts): Promise<void> {
  const keys = [
    ...Object.keys(counts.routes).flatMap((route) => setsOf(counts, route)),
    ...[...examplesOf(counts)].map(exampleKey),
  ];
  for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) {
    await state.deleteAll(keys.slice(at, at + DELETED_AT_ONCE));
    await nextTurn();
  }
}

/** Whose set of a route has the cases of a client. One client is always in one of them, so that it never has two shares. */
function caseSetOf(owners: ProvenClients, by: string): string {
  const owner = owners.find(by);
  if (owner !== undefined) return owner;
  if (owners.size < MAX_CASE_CLIENTS) {
    owners.add(by);
    return by;
  }
  // One token of many networks, or one network with many tokens, must not get several sets.
  if (partsOf(by).length > 1) return "others";
  return `others ${Number.parseInt(hash("sha256", by).slice(0, 8), 16) % SHARED_SETS}`;
}

/** A set of a route, with what a batch adds to it. */
interface GrownSet {
  readonly set: SetName;
  readonly route: string;
  readonly by: string;
  readonly size: number;
}

/** Adds what a batch has found to the sets of some counts. @returns The sizes of these sets */
async function addMembers(
  state: KeyValueStore,
  pending: Pending,
  batch: Batch,
  counts: SourceCounts,
  onFull: ReportFull,
): Promise<readonly GrownSet[]> {
  const routes = Object.values(counts.routes);
  const all = routes.reduce((sum, { distinct }) => sum + distinct, 0);
  /** Cases of all routes by names, tokens and networks. */
  const sums = new Map<string, number>();
  for (const [by, size] of routes.flatMap(({ cases }) => Object.entries(cases)))
    for (const part of partsOf(by)) sums.set(part, (sums.get(part) ?? 0) + size);
  /** Whether there is room for more cases of a client. */
  function hasRoom(route: string, by: string): boolean {
    const own = Math.max(...partsOf(by).map((part) => sums.get(part) ?? 0));
    const ofRoute = counts.routes[route]?.cases[by] ?? 0;
    return all < MAX_ALL_CASES && own < MAX_ALL_CASES * CLIENT_SHARE && ofRoute < MAX_CASES * CLIENT_SHARE;
  }
  const owners = new Map<string, ProvenClients>();
  const ownersOf = (route: string): ProvenClients => {
    const found = owners.get(route) ?? new ProvenClients(Object.keys(counts.routes[route]?.cases ?? {}));
    owners.set(route, found);
    return found;
  };
  const found = pending.newMembers(batch, counts.epoch).map((each) => ({
    ...each,
    by: each.set === "cases" ? caseSetOf(ownersOf(each.route), each.by) : "",
  }));
  const isKept = ({ set, route, by }: (typeof found)[number]): boolean =>
    set !== "cases" || hasRoom(route, by);
  for (const each of found) if (!isKept(each)) onFull("cases", each.members.length);
  const [cases, others] = [true, false].map((isCase) =>
    found.filter((each) => (each.set === "cases") === isCase && isKept(each)),
  );
  const grown: GrownSet[] = [];
  for (const [sets, most] of [
    [cases, MAX_CASES * CLIENT_SHARE],
    [others, MAX_CASES],
  ] as const) {
    if (!sets || sets.length === 0) continue;
    const keyed = sets.map(({ set, route, by, members }) => ({
      key: setKey(counts.epoch, set, route, by),
      members,
    }));
    const sizes = await state.addAllToSets(keyed, TTL_SECONDS, most);
    grown.push(...sets.map(({ set, route, by }, index) => ({ set, route, by, size: sizes[index] ?? 0 })));
  }
  return grown;
}

function noteSizes({ routes }: SourceCounts, grown: readonly GrownSet[]): void {
  for (const { set, route: name, by, size } of grown) {
    const route = routes[name];
    if (route && set === "different") route.distinctDifferent = Math.max(route.distinctDifferent, size);
    if (route && set === "cases") {
      route.cases[by] = Math.max(route.cases[by] ?? 0, size);
      route.distinct = Object.values(route.cases).reduce((sum, each) => sum + each, 0);
    }
  }
}

/** Whether some sets are those of clients that the counts do not have. */
const hasNewClient = ({ routes }: SourceCounts, grown: readonly GrownSet[]): boolean =>
  grown.some(({ set, route, by }) => set === "cases" && routes[route]?.cases[by] === undefined);

/** Functions that a write calls. */
export interface WriteOptions {
  /** Called with counts that begin: the first ones, those of another subject, and those after a reset. */
  readonly onBegin: (counts: SourceCounts) => void;
  readonly onFull: ReportFull;
}

/** Adds a batch to what all replicas have counted. @returns What they have counted then */
async function addBatch(
  state: KeyValueStore,
  pending: Pending,
  batch: Batch,
  { onBegin, onFull }: WriteOptions,
): Promise<SourceCounts> {
  const { source, subject } = batch.counts;
  const key = countsKey(source);
  async function write(before: string | undefined, counts: SourceCounts): Promise<boolean> {
    const text = JSON.stringify(counts);
    const isWritten = await replaceValue(state, key, before, { value: text, ttlSeconds: TTL_SECONDS });
    if (isWritten) pending.written = { text, counts };
    return isWritten;
  }
  const sizeOf = (id: string): number => Buffer.byteLength(batch.examples.get(id)?.json ?? "");
  let sized: { readonly epoch: string; readonly grown: readonly GrownSet[] } | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const text = await state.get(key);
    // What this process has written last need not be parsed again. It is changed below.
    const counts = pending.written?.text === text ? pending.written?.counts : parseCounts(text);
    pending.written = undefined;
    if (counts?.subject !== subject) {
      // Another replica has a newer subject already.
      if (counts?.before === subject && Date.now() - counts.since < LATE_MS) return counts;
      const created = createCounts(batch.counts, randomUUID(), Date.now(), counts?.subject);
      if (await write(text, created)) {
        onBegin(created);
        if (counts) await deleteRest(state, counts);
      }
      continue;
    }
    // Another replica may have counted the same token from another network meanwhile.
    if (sized?.epoch !== counts.epoch || hasNewClient(counts, sized.grown))
      sized = {
        epoch: counts.epoch,
        grown: await addMembers(state, pending, batch, counts, onFull),
      };
    const droppedBefore = counts.dropped;
    addCounts(counts, batch.counts, sizeOf);
    noteSizes(counts, sized.grown);
    if (!(await write(text, counts))) continue;
    if (counts.dropped > droppedBefore) onFull("fields", counts.dropped - droppedBefore);
    return counts;
  }
  throw new Error("the counts change all the time");
}

/**
 * Writes what a process has found.
 * @throws {Error} If the store fails: what was not written waits in `pending`
 */
export async function writeComparisons(
  state: KeyValueStore,
  pending: Pending,
  options: WriteOptions,
): Promise<void> {
  const batch = pending.take();
  if (batch) {
    try {
      pending.done(batch, await addBatch(state, pending, batch, options));
    } catch (error) {
      pending.giveBack(batch);
      throw error;
    }
  }
  for (const { id, json } of pending.unwritten.values()) {
    await state.set(exampleKey(id), json, EXAMPLE_TTL_SECONDS);
    pending.unwritten.delete(id);
  }
}

/** The counts of all sources that have any. @throws {StateUnavailableError} */
export async function readComparisons(state: Pick<KeyValueStore, "get">): Promise<readonly SourceCounts[]> {
  const texts = await Promise.all(SOURCES.map((source) => state.get(countsKey(source))));
  return texts.flatMap((text) => parseCounts(text) ?? []);
}

/** What the answers of each route have shown. @throws {StateUnavailableError} */
export async function readSeen(
  state: Pick<KeyValueStore, "setMembers">,
  { epoch, routes }: SourceCounts,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const names = Object.keys(routes);
  const seen = await Promise.all(names.map((route) => state.setMembers(setKey(epoch, "seen", route))));
  return new Map(names.map((route, index) => [route, new Set(seen[index])]));
}

/**
 * The number of cases of a route that clients prove, each once, and at most `share` of each client. A client with few cases
 * counts first: one that has the cases of all others must not take theirs.
 *
 * @throws {StateUnavailableError}
 */
export async function countProven(
  state: Pick<KeyValueStore, "setMembers">,
  { epoch, routes }: SourceCounts,
  route: string,
  share: number,
): Promise<number> {
  const clients = Object.entries(routes[route]?.cases ?? {}).sort(([, one], [, other]) => one - other);
  const sets = await Promise.all(clients.map(([by]) => state.setMembers(setKey(epoch, "cases", route, by))));
  const proven = new Set<string>();
  for (const members of sets)
    for (const each of members.filter((one) => !proven.has(one)).slice(0, share)) proven.add(each);
  return proven.size;
}

/** An example; undefined if there is none of this id. @throws {StateUnavailableError} */
export async function readExample(
  state: Pick<KeyValueStore, "get">,
  id: string,
): Promise<Example | undefined> {
  const text = await state.get(exampleKey(id));
  const value = text === undefined ? undefined : tryParse(text)?.value;
  return isObject(value) && value["id"] === id ? (value as unknown as Example) : undefined;
}

/** Deletes what was counted. @returns The sources that had counts. @throws {StateUnavailableError} */
export async function resetComparisons(
  state: KeyValueStore,
  sources: readonly ComparisonSource[] = SOURCES,
): Promise<readonly ComparisonSource[]> {
  const found: ComparisonSource[] = [];
  for (const source of sources) {
    const counts = parseCounts(await state.get(countsKey(source)));
    await state.delete(countsKey(source));
    if (!counts) continue;
    await deleteRest(state, counts);
    found.push(source);
  }
  return found;
}
