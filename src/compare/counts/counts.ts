/** The counts of comparisons: one document for all routes of a source, and examples. All replicas add their results. */
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import { tryParse } from "../../audit/index.ts";
import {
  createSharedDocument,
  type DocumentStore,
  isObject,
  type KeyValueStore,
  type SharedDocument,
} from "../../base/index.ts";
import { DIFFERENCE_KINDS } from "../../pack/index.ts";
import type { ComparisonSource, NotComparableReason } from "../answers/comparison.ts";
import type { Example } from "./example.ts";

const total = z.int().nonnegative();
const count = total.default(0);

/** The number of times that one field of a route differed in one way. */
const fieldCounts = z.object({
  field: z.string(),
  kind: z.enum(DIFFERENCE_KINDS),
  /** Number of comparisons whose difference was confirmed. */
  count: total,
  /** Number of comparisons whose difference was not confirmed. */
  unstable: total,
  /** Milliseconds since the epoch. */
  first: z.number(),
  last: z.number(),
  /** The owner of the first request with this difference, as in {@link Compared.provenBy}. */
  by: z.string(),
  /** The names of the first clients, at most {@link MAX_CLIENTS}. */
  clients: z.array(z.string()),
  /** At most {@link MAX_EXAMPLES} examples, with their size in bytes. */
  examples: z.array(z.object({ id: z.string(), bytes: total })),
});

/** The results of one route. Missing members are 0 or empty. */
const routeCounts = z.object({
  comparisons: count,
  equal: count,
  /** Number of comparisons with a confirmed difference. */
  different: count,
  unstable: count,
  accepted: count,
  notComparable: (
    z.record(z.string(), total) as z.ZodType<Partial<Record<NotComparableReason, number>>>
  ).default({}),
  /** The compared cases of each client, as digests in one text. Clients that are treated as one share a text. */
  cases: z.record(z.string(), z.string()).default({}),
  /** Cases with a confirmed difference. */
  differing: z.string().default(""),
  /** The parts that occurred in responses, as in `CoverAnswer`. */
  seen: z.array(z.string()).default([]),
  first: z.number(),
  last: z.number(),
  fields: z.array(fieldCounts).default([]),
  /** Number of times that each line of accepted differences was used, by {@link lineKey}. */
  acceptedLines: z.record(z.string(), total).default({}),
});

/** The results of the comparisons of one source since its counts started. */
const sourceCounts = z.object({
  source: z.enum(["candidate", "legacy"]),
  /** The subject of the comparisons: see {@link Compared.subject}. */
  subject: z.string(),
  /** Milliseconds since the epoch. */
  since: z.number(),
  /** The previous subject. Comparisons that are in flight when it changes are ignored. */
  before: z.string().nullable(),
  /** Number of fields and examples that were omitted, because there are too many. */
  dropped: total,
  routes: z.record(z.string(), routeCounts),
});

export type FieldCounts = z.infer<typeof fieldCounts>;
export type RouteCounts = z.infer<typeof routeCounts>;
export type SourceCounts = z.infer<typeof sourceCounts>;

/** Maximum number of fields of all routes of a source: about 300 bytes each in the value that each flush rewrites. */
export const MAX_FIELDS = 1000;
export const MAX_CLIENTS = 10;
export const MAX_EXAMPLES = 3;
/** Maximum number of cases of a route that are counted separately. No required proof needs more. */
export const MAX_CASES = 10_000;

/** Creates counts of a route without any comparison. @param time Milliseconds since the epoch */
export const createRoute = (time: number): RouteCounts => routeCounts.parse({ first: time, last: time });

/** Returns the ids of all examples that counts refer to. */
export const exampleIds = (counts: SourceCounts | null): ReadonlySet<string> =>
  new Set(
    Object.values(counts?.routes ?? {}).flatMap(({ fields }) =>
      fields.flatMap(({ examples }) => examples.map(({ id }) => id)),
    ),
  );

/** Length of a digest in characters: 48 bits. */
const LENGTH = 8;

/** Returns the digest of a case. @param key see `Compared.key` */
export const caseOf = (key: string): string => hash("sha256", key, "base64url").slice(0, LENGTH);

export const countCases = (cases: string): number => cases.length / LENGTH;

export const listCases = (cases: string): string[] => cases.match(/.{8}/g) ?? [];

export function hasCase(cases: string, one: string): boolean {
  let at = cases.indexOf(one);
  while (at % LENGTH !== 0 && at !== -1) at = cases.indexOf(one, at + 1);
  return at !== -1;
}

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
