/** The counts of comparisons: one document for all routes of a source. All replicas add their results to it. */
import { hash } from "node:crypto";
import { z } from "zod";
import { DIFFERENCE_KINDS } from "../../pack/index.ts";
import type { Compared, Difference, NotComparableReason } from "../answers/comparison.ts";

const total = z.int().nonnegative();
const count = total.default(0);

/** How often one field of a route differed in one way. */
const fieldCounts = z.object({
  field: z.string(),
  kind: z.enum(DIFFERENCE_KINDS),
  /** Comparisons whose difference was confirmed. */
  count: total,
  /** Comparisons whose difference was not confirmed. */
  unstable: total,
  /** Milliseconds since the epoch. */
  first: z.number(),
  last: z.number(),
  /** The owner of the request that showed it first, as in {@link Compared.provenBy}. */
  by: z.string(),
  /** The names of the first clients, {@link MAX_CLIENTS} at most. */
  clients: z.array(z.string()),
  /** {@link MAX_EXAMPLES} at most, with their size in bytes. */
  examples: z.array(z.object({ id: z.string(), bytes: total })),
});

/** The results of one route. Missing members were not counted yet. */
const routeCounts = z.object({
  comparisons: count,
  equal: count,
  /** Comparisons with a confirmed difference. */
  different: count,
  unstable: count,
  accepted: count,
  notComparable: (
    z.record(z.string(), total) as z.ZodType<Partial<Record<NotComparableReason, number>>>
  ).default({}),
  /** The compared cases of each client, as digests in one text. Clients that count as one have one text. */
  cases: z.record(z.string(), z.string()).default({}),
  /** Cases with a confirmed difference. */
  differing: z.string().default(""),
  /** The parts that answers have shown, as in `CoverAnswer`. */
  seen: z.array(z.string()).default([]),
  first: z.number(),
  last: z.number(),
  fields: z.array(fieldCounts).default([]),
  /** How often each line of accepted differences was used, by {@link lineKey}. */
  acceptedLines: z.record(z.string(), total).default({}),
});

/** The results of the comparisons of one source since they began. */
export const sourceCounts = z.object({
  source: z.enum(["candidate", "legacy"]),
  /** The subject of the comparisons: see {@link Compared.subject}. */
  subject: z.string(),
  /** Milliseconds since the epoch. */
  since: z.number(),
  /** The subject before this one. Comparisons that are in flight when it changes are left out. */
  before: z.string().nullable(),
  /** Fields and examples that were left out, because there are too many of them. */
  dropped: total,
  routes: z.record(z.string(), routeCounts),
});

export type FieldCounts = z.infer<typeof fieldCounts>;
export type RouteCounts = z.infer<typeof routeCounts>;
export type SourceCounts = z.infer<typeof sourceCounts>;

/** Fields of all routes of a source: some 300 bytes each in the value that each flush rewrites. */
export const MAX_FIELDS = 1000;
export const MAX_CLIENTS = 10;
export const MAX_EXAMPLES = 3;
/** Maximum number of cases of a route that are counted separately. No required proof needs more. */
export const MAX_CASES = 10_000;

/** A comparison as it is counted: small, and without secrets. */
export interface CountedResult extends Omit<Compared, "differences" | "accepted" | "answer" | "sample"> {
  /** See {@link Compared.provenBy}. Empty if the owner is unknown. */
  readonly by: string;
  /** The digest of its case; empty if it proves none. */
  readonly digest: string;
  /** Each field and kind once, as many as one client may fill. */
  readonly fields: readonly Pick<Difference, "field" | "kind">[];
  /** How many more fields there were. */
  readonly moreFields: number;
  /** The keys of the lines that accept differences. */
  readonly acceptedLines: readonly string[];
  /** The parts of its route that its answer has shown for the first time. */
  readonly seen: readonly string[];
  readonly example: StoredExample | undefined;
  /** How often it is counted: answers of one route that can't be compared for one reason are counted together. */
  times: number;
}

/** An example, as JSON. */
export interface StoredExample {
  readonly id: string;
  readonly bytes: number;
  readonly json: string;
}

/** Creates counts of a route without any comparison. @param time Milliseconds since the epoch */
export const createRoute = (time: number): RouteCounts => routeCounts.parse({ first: time, last: time });

/** The ids of all examples that counts refer to. */
export const exampleIds = (counts: SourceCounts | null): ReadonlySet<string> =>
  new Set(
    Object.values(counts?.routes ?? {}).flatMap(({ fields }) =>
      fields.flatMap(({ examples }) => examples.map(({ id }) => id)),
    ),
  );

/** Characters of a digest: 48 bits. */
const LENGTH = 8;

/** The digest of a case. @param key See `Compared.key` */
export const caseOf = (key: string): string => hash("sha256", key, "base64url").slice(0, LENGTH);

export const countCases = (cases: string): number => cases.length / LENGTH;

export const listCases = (cases: string): string[] => cases.match(/.{8}/g) ?? [];

export function hasCase(cases: string, one: string): boolean {
  let at = cases.indexOf(one);
  while (at % LENGTH !== 0 && at !== -1) at = cases.indexOf(one, at + 1);
  return at !== -1;
}
