/** Where the counts and examples of comparisons are in the state store. */
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { tryParse } from "../audit/json-text.ts";
import { isObject } from "../dialect/json/parse.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { replaceValue } from "../storage/shared-document.ts";
import type { ComparisonSource } from "./comparison.ts";
import { addCounts, createCounts, examplesOf, parseCounts, type SourceCounts } from "./counts.ts";
import type { Example } from "./example.ts";
import { LATE_MS, SETS, type Batch, type Pending, type SetName } from "./pending.ts";

export const SOURCES: readonly ComparisonSource[] = ["candidate", "legacy"];

/** Cases of a route that are told apart. More prove nothing that a gateway is asked for. */
export const MAX_CASES = 10_000;
/** Cases of all routes of a source: a part of what the state store has room for. */
const MAX_ALL_CASES = 200_000;
/** The store has no values without an end. */
const TTL_SECONDS = 365 * 86_400;
/** An example has data of a client: it is not kept for longer than its records. */
const EXAMPLE_TTL_SECONDS = 30 * 86_400;
/** Writes that lose against those of other replicas, before one is given up until the next flush. */
const ATTEMPTS = 10;
/** Sets that are deleted in one write: each may have thousands of members. */
const DELETED_AT_ONCE = 20;

const countsKey = (source: ComparisonSource): string => `parity:counts:${source}`;
const setKey = (epoch: string, set: SetName, route: string): string => `parity:${epoch}:${set}:${route}`;
const exampleKey = (id: string): string => `parity:example:${id}`;

/** Deletes the sets and examples of counts. */
async function deleteRest(state: KeyValueStore, counts: SourceCounts): Promise<void> {
  const keys = [
    ...Object.keys(counts.routes).flatMap((route) => SETS.map((set) => setKey(counts.epoch, set, route))),
    ...[...examplesOf(counts)].map(exampleKey),
  ];
  for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) {
    await state.deleteAll(keys.slice(at, at + DELETED_AT_ONCE));
    await nextTurn();
  }
}

const casesOf = ({ routes }: SourceCounts): number =>
  Object.values(routes).reduce((sum, { distinct }) => sum + distinct, 0);

/** Adds what a batch has found to the sets of some counts. @returns The sizes of the sets by their keys */
async function addMembers(
  state: KeyValueStore,
  pending: Pending,
  batch: Batch,
  counts: SourceCounts,
): Promise<ReadonlyMap<string, number>> {
  const isFull = casesOf(counts) >= MAX_ALL_CASES;
  const sets = pending
    .newMembers(batch, counts.epoch)
    .filter(({ set }) => set !== "cases" || !isFull)
    .map(({ set, route, members }) => ({ key: setKey(counts.epoch, set, route), members }));
  const sizes = sets.length === 0 ? [] : await state.addAllToSets(sets, TTL_SECONDS, MAX_CASES);
  return new Map(sets.map(({ key }, index) => [key, sizes[index] ?? 0]));
}

function noteSizes(counts: SourceCounts, sizes: ReadonlyMap<string, number>): void {
  for (const [name, route] of Object.entries(counts.routes)) {
    const sizeOf = (set: SetName): number => sizes.get(setKey(counts.epoch, set, name)) ?? 0;
    route.distinct = Math.max(route.distinct, sizeOf("cases"));
    route.distinctDifferent = Math.max(route.distinctDifferent, sizeOf("different"));
  }
}

/** Adds a batch to what all replicas have counted. @returns What they have counted then */
async function addBatch(
  state: KeyValueStore,
  pending: Pending,
  batch: Batch,
  onBegin: (counts: SourceCounts) => void,
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
  let sized: { readonly epoch: string; readonly sizes: ReadonlyMap<string, number> } | undefined;
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
    if (sized?.epoch !== counts.epoch)
      sized = { epoch: counts.epoch, sizes: await addMembers(state, pending, batch, counts) };
    addCounts(counts, batch.counts, sizeOf);
    noteSizes(counts, sized.sizes);
    if (await write(text, counts)) return counts;
  }
  throw new Error("the counts change all the time");
}

/**
 * Writes what a process has found.
 *
 * @param onBegin Called with counts that begin: the first ones, those of another subject, and those after a reset
 * @throws {Error} If the store fails: what was not written waits in `pending`
 */
export async function writeComparisons(
  state: KeyValueStore,
  pending: Pending,
  onBegin: (counts: SourceCounts) => void,
): Promise<void> {
  const batch = pending.take();
  if (batch) {
    try {
      pending.done(batch, await addBatch(state, pending, batch, onBegin));
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
