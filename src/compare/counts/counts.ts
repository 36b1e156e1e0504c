/** The counts of comparisons: one document for all routes of a source. All replicas add their results to it. */
import { z } from "zod";
import { DIFFERENCE_KINDS } from "../../pack/index.ts";
import { type Compared, type Difference, lineKey, type NotComparableReason } from "../answers/comparison.ts";
import { hash } from "node:crypto";

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
  /** The owner of the request that showed it first, as in {@link Compared.provenBy}: of one client only a part of the fields is kept. */
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
  /** Cases that were compared by clients, as {@link Compared.provenBy} has them, with one for all that are the same. */
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
  /** Routes, fields and examples that were left out, because there are too many of them. */
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
/** Characters of a field's path, and of the name of a client. */
const MAX_NAME = 200;
/** The part of a bounded store that one client may fill, so that there is room for others. */
export const CLIENT_SHARE = 0.1;
/** How long comparisons of the previous subject may still arrive. */
const LATE_MS = 60_000;

/** Creates counts of nothing. @param now Milliseconds since the epoch */
export const createCounts = (
  { source, subject }: Pick<Compared, "source" | "subject">,
  now: number,
  before: string | null = null,
): SourceCounts => ({ source, subject, since: now, before, dropped: 0, routes: {} });

/** Whether a comparison of a subject was in flight when another one replaced it. */
export const isLate = (
  subject: string,
  counts: Pick<SourceCounts, "before" | "since"> | undefined,
  now: number,
): boolean => counts?.before === subject && now - counts.since < LATE_MS;

/** Creates counts of a route without any comparison. @param time Milliseconds since the epoch */
export const createRoute = (time: number): RouteCounts => routeCounts.parse({ first: time, last: time });

const cut = (text: string): string => text.slice(0, MAX_NAME);

/** Differences with short fields, each once: a field of a list may differ in each of its rows. */
const cutFields = <Line extends Pick<Difference, "field" | "kind">>(lines: readonly Line[]): Line[] => [
  ...new Map(
    lines.map((line) => ({ ...line, field: cut(line.field) })).map((line) => [lineKey(line), line]),
  ).values(),
];

/**
 * Adds one comparison to the counts of its route. @param seen The fields and words of its answer. @param example The
 * example of the comparison
 */
export function countOne(
  compared: Compared,
  seen: readonly string[] = [],
  example?: FieldCounts["examples"][number],
): RouteCounts {
  const { time, result, reason = "unreadable", client, provenBy, differences, key } = compared;
  const { accepted = result === "accepted" ? differences : [] } = compared;
  const counts = { ...createRoute(time), comparisons: 1 };
  if (result === "not_comparable") return { ...counts, notComparable: { [reason]: 1 } };
  const differs = result === "different" || result === "unstable";
  const proven = key === undefined || result === "unstable" ? "" : caseOf(key);
  return {
    ...counts,
    [result]: 1,
    cases: proven === "" || provenBy === undefined ? {} : { [provenBy]: proven },
    differing: result === "different" ? proven : "",
    seen: [...seen],
    acceptedLines: Object.fromEntries(cutFields(accepted).map((line) => [lineKey(line), 1])),
    fields: (differs ? cutFields(differences) : []).map(({ field, kind }) => ({
      field,
      kind,
      count: result === "different" ? 1 : 0,
      unstable: result === "unstable" ? 1 : 0,
      first: time,
      last: time,
      by: provenBy ?? "",
      clients: client === null ? [] : [cut(client)],
      examples: example ? [example] : [],
    })),
  };
}

/** All examples that counts refer to, by their ids, each with its owner. */
export const examplesOf = ({
  routes,
}: SourceCounts): ReadonlyMap<string, { readonly by: string; readonly bytes: number }> =>
  new Map(
    Object.values(routes)
      .flatMap(({ fields }) => fields)
      .flatMap(({ by, examples }) => examples.map(({ id, bytes }) => [id, { by, bytes }] as const))
      // If there are several fields, the first one has it.
      .toReversed(),
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

/** Adds the new cases. @param room Maximum number of cases. @returns all, and the number of cases without room */
export function addCases(cases: string, added: string, room: number): readonly [cases: string, left: number] {
  const found = listCases(added).filter((one) => !hasCase(cases, one));
  const kept = found.slice(0, Math.max(0, room));
  return [cases + kept.join(""), found.length - kept.length];
}
