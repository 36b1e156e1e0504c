/** Stores the counts and examples of comparisons in the state store. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { tryParse } from "../../audit/index.ts";
import {
  createSharedDocument,
  type DocumentStore,
  isObject,
  type KeyValueStore,
  type SharedDocument,
} from "../../base/index.ts";
import type { ComparisonSource } from "../answers/comparison.ts";
import { exampleIds, sourceCounts, type SourceCounts } from "./counts.ts";
import type { Example } from "./example.ts";

export const SOURCES: readonly ComparisonSource[] = ["candidate", "legacy"];

/**
 * Seconds for which an example is kept. It contains data of a client, so it is not kept for longer than that client's
 * records.
 */
const EXAMPLE_TTL_SECONDS = 30 * 86_400;
/** Maximum number of examples that are deleted in one write. */
const DELETED_AT_ONCE = 20;

const exampleKey = (id: string): string => `parity:example:${id}`;

/** Creates the document with the counts of a source. It is null if nothing was counted, or if the stored counts are damaged. */
export const createCountsDocument = (
  store: DocumentStore,
  source: ComparisonSource,
): SharedDocument<SourceCounts | null> =>
  createSharedDocument(store, {
    key: `parity:counts:${source}`,
    schema: sourceCounts.nullable().catch(null),
    empty: null,
  });

/** Reads the counts of all sources that have any. @throws {StateUnavailableError} */
export async function readComparisons(state: DocumentStore): Promise<readonly SourceCounts[]> {
  const documents = SOURCES.map((source) => createCountsDocument(state, source));
  await Promise.all(documents.map((document) => document.refresh()));
  return documents.flatMap((document) => document.current() ?? []);
}

/** Stores an example. @param json an {@link Example} */
export const writeExample = (state: Pick<KeyValueStore, "set">, id: string, json: string): Promise<void> =>
  state.set(exampleKey(id), json, EXAMPLE_TTL_SECONDS);

/** Reads an example. Undefined if none has this id. @throws {StateUnavailableError} */
export async function readExample(
  state: Pick<KeyValueStore, "get">,
  id: string,
): Promise<Example | undefined> {
  const text = await state.get(exampleKey(id));
  const value = text === undefined ? undefined : tryParse(text)?.value;
  return isObject(value) && value["id"] === id ? (value as unknown as Example) : undefined;
}

/** Deletes examples. @throws {StateUnavailableError} */
export async function deleteExamples(
  state: Pick<KeyValueStore, "deleteAll">,
  ids: Iterable<string>,
): Promise<void> {
  const keys = [...ids].map(exampleKey);
  for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) {
    await state.deleteAll(keys.slice(at, at + DELETED_AT_ONCE));
    await nextTurn();
  }
}

/** Resets the counts. @returns the sources that had counts. @throws {StateUnavailableError} */
export async function resetComparisons(
  state: DocumentStore & Pick<KeyValueStore, "deleteAll">,
  sources: readonly ComparisonSource[] = SOURCES,
): Promise<readonly ComparisonSource[]> {
  const found: ComparisonSource[] = [];
  for (const source of sources) {
    let before: SourceCounts | null = null;
    await createCountsDocument(state, source).change((counts) => {
      before = counts;
      return null;
    });
    if (before) found.push(source);
    await deleteExamples(state, exampleIds(before));
  }
  return found;
}
