/** Summarizes the counts of comparisons: whether they are sufficient, and the fields that differ most. */
import type { Pack } from "../../pack/index.ts";
import type { DocumentStore } from "../../base/index.ts";
import type { ComparisonSource } from "../answers/comparison.ts";
import { CLIENT_SHARE } from "../answers/client-room.ts";
import {
  countCases,
  listCases,
  MAX_CASES,
  readComparisons,
  type RouteCounts,
  type SourceCounts,
} from "./counts.ts";
import { findGaps } from "./coverage.ts";
import { required, upperBound } from "./statistics.ts";

/**
 * `below`: enough responses show that the rate is below. `above`: too many differ for any number of cases. `not
 * enough`: the result is unknown.
 */
export type RateVerdict = "below" | "above" | "not enough";

/** The results of comparisons on one route. */
export type RouteSummary = ReturnType<typeof summarizeRoute>;

export type FieldSummary = RouteSummary["fields"][number];

/** The results of the comparisons of a source. */
export type SourceSummary = ReturnType<typeof summarize>;

interface SummaryOptions {
  readonly rate: number;
  /** The active pack; undefined if no coverage is requested. */
  readonly pack: Pack | undefined;
  /** Selects this route. */
  readonly route?: string | undefined;
  readonly source?: ComparisonSource | undefined;
}

/**
 * The number of clients that must have proven cases. One client proves at most a share of {@link CLIENT_SHARE} of the
 * required cases.
 */
export const REQUIRED_CLIENTS = 1 / CLIENT_SHARE;

/** The default rate. */
export const DEFAULT_RATE = 0.001;
/** Minimum rate. For a lower rate, the required cases would not fit into the state store. */
export const MIN_RATE = 0.0003;

const iso = (time: number): string => new Date(time).toISOString();

/** Returns the number of distinct comparisons that is sufficient; null if too many responses differ. */
function requiredFor(rate: number, distinct: number, different: number): number | null {
  if (different > 0 && different > distinct * rate) return null;
  const needed = required(rate, different);
  return needed > MAX_CASES ? null : needed;
}

/** Returns the number of cases that were compared, once for each client: equal, different and accepted ones. */
export const countDistinct = ({ cases }: RouteCounts): number =>
  Object.values(cases).reduce((sum, each) => sum + countCases(each), 0);

/**
 * Returns the number of distinct cases that clients prove, limited to a `share` for each client. Clients with few cases
 * are counted first, so that a client that repeats the cases of all other clients does not use them up.
 */
function countProven({ cases }: RouteCounts, share: number): number {
  const proven = new Set<string>();
  for (const each of Object.values(cases).toSorted((one, other) => one.length - other.length))
    for (const one of listCases(each)
      .filter((found) => !proven.has(found))
      .slice(0, share))
      proven.add(one);
  return proven.size;
}

function summarizeRoute(
  [route, counts]: readonly [string, RouteCounts],
  { rate, pack }: Pick<SummaryOptions, "rate" | "pack">,
) {
  const { comparisons, equal, unstable, accepted, notComparable } = counts;
  const [all, different] = [countDistinct(counts), countCases(counts.differing)];
  const clients = Object.keys(counts.cases).length;
  const needed = requiredFor(rate, all, different);
  const distinct = needed === null ? all : countProven(counts, Math.ceil(needed / REQUIRED_CLIENTS));
  const isEnough = needed !== null && distinct >= needed && clients >= REQUIRED_CLIENTS;
  const verdict: RateVerdict = needed === null ? "above" : isEnough ? "below" : "not enough";
  return {
    route,
    comparisons,
    /** The number of clients that prove cases. */
    clients,
    /** The number of cases that clients prove (each client at most a tenth of the required ones). */
    distinct,
    /** The number of cases that differ. */
    different,
    equal,
    unstable,
    accepted,
    notComparable,
    /** The number of distinct comparisons that is sufficient for the rate; null if too many differ. */
    required: needed,
    /** Upper bound of the rate of differing responses, at 95 %. Null if it is unknown. */
    upperBound: verdict === "not enough" ? null : upperBound(different, distinct),
    verdict,
    first: iso(counts.first),
    last: iso(counts.last),
    /** The fields with the most differences come first. Examples are given by their ids. */
    fields: counts.fields
      .toSorted((one, other) => other.count - one.count || other.unstable - one.unstable)
      .map((field) => ({
        ...field,
        first: iso(field.first),
        last: iso(field.last),
        examples: field.examples.map(({ id }) => id),
      })),
    /** The parts that occurred in no response; null if the active pack has no such route. */
    gaps: pack?.route(route) ? findGaps(route, new Set(counts.seen), pack) : null,
  };
}

/** Whether a route's responses are compared: never files, and for the old service only reads. */
const isCompared = ({ comparison, isSafe }: Pack["routes"][number], source: ComparisonSource): boolean =>
  comparison.obstacle !== "file" && (source === "candidate" || isSafe);

/** Returns the verdict for all routes, or for all sources. If nothing was compared, it is unknown. */
export function verdictOf(all: readonly { readonly verdict: RateVerdict }[]): RateVerdict {
  if (all.some(({ verdict }) => verdict === "above")) return "above";
  return all.length > 0 && all.every(({ verdict }) => verdict === "below") ? "below" : "not enough";
}

/** Summarizes the counts of a source. */
export function summarize(counts: SourceCounts, { pack, rate, route: only }: SummaryOptions) {
  const isAsked = (route: string): boolean => only === undefined || route === only;
  const routes = Object.entries(counts.routes)
    .filter(([route]) => isAsked(route))
    .map((each) => summarizeRoute(each, { pack, rate }))
    // Routes with the most differences come first.
    .sort((one, other) => other.different - one.different || other.comparisons - one.comparisons);
  return {
    source: counts.source,
    subject: counts.subject,
    since: iso(counts.since),
    rate,
    verdict: verdictOf(routes),
    routes,
    routesWithoutTraffic: (pack?.routes ?? [])
      .filter((route) => isCompared(route, counts.source))
      .map(({ name }) => name)
      .filter((name) => isAsked(name) && !counts.routes[name]),
    /** Number of fields and examples that were omitted, because there are too many. */
    dropped: counts.dropped,
  };
}

/** Reads the results of comparisons. @throws {StateUnavailableError} */
export async function summarizeComparisons(
  state: DocumentStore,
  options: SummaryOptions,
): Promise<readonly SourceSummary[]> {
  const counts = await readComparisons(state);
  return counts
    .filter(({ source }) => options.source === undefined || source === options.source)
    .map((each) => summarize(each, options));
}
