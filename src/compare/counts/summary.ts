/** Summarizes the counts of comparisons: whether they are enough, and the fields that differ most. */
import type { Pack } from "../../pack/index.ts";
import type { DocumentStore } from "../../base/index.ts";
import type { ComparisonSource } from "../answers/comparison.ts";
import { CLIENT_SHARE } from "../answers/client-room.ts";
import { countCases, listCases, MAX_CASES } from "./counts.ts";
import type { RouteCounts, SourceCounts } from "./counts.ts";
import { findGaps } from "./coverage.ts";
import { required, upperBound } from "./statistics.ts";
import { readComparisons } from "./stored-counts.ts";

/**
 * `below`: enough answers show that the rate is below. `above`: too many differ for any number of cases.
 * `not enough`: neither is known.
 */
export type RateVerdict = "below" | "above" | "not enough";

/** The results of comparisons on one route. */
export type RouteSummary = ReturnType<typeof summarizeRoute>;

export type FieldSummary = RouteSummary["fields"][number];

/** The results of the comparisons of a source. */
export type SourceSummary = ReturnType<typeof summarize>;

interface SummaryOptions {
  readonly rate: number;
  /** The active pack: undefined where no coverage is asked for. */
  readonly pack: Pack | undefined;
  /** Only this route. */
  readonly route?: string | undefined;
  readonly source?: ComparisonSource | undefined;
}

/**
 * The number of clients that must have proven cases. One client proves at most {@link CLIENT_SHARE} of the required
 * cases.
 */
export const REQUIRED_CLIENTS = 1 / CLIENT_SHARE;

/** The rate that is asked about where nobody names one. */
export const DEFAULT_RATE = 0.001;
/** For a lower rate, the required cases would not fit into the state store. */
export const MIN_RATE = 0.0003;

const iso = (time: number): string => new Date(time).toISOString();

/** Distinct comparisons that are enough; null where the answers that differ are too many already. */
function requiredFor(rate: number, distinct: number, different: number): number | null {
  if (different > 0 && different > distinct * rate) return null;
  const needed = required(rate, different);
  return needed > MAX_CASES ? null : needed;
}

/** Cases that were compared, each once for each client: equal, different and accepted ones. */
export const countDistinct = ({ cases }: RouteCounts): number =>
  Object.values(cases).reduce((sum, each) => sum + countCases(each), 0);

/**
 * The number of cases that clients prove, each once, and at most `share` of each client. Clients with few cases are
 * counted first, so that a client with everybody's cases does not use them up.
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
    /** Clients that prove cases. */
    clients,
    /** Cases that clients prove (each client at most a tenth of the required ones). */
    distinct,
    /** Cases that differ. */
    different,
    equal,
    unstable,
    accepted,
    notComparable,
    /** Distinct comparisons that are enough for the rate; null if too many differ for any number. */
    required: needed,
    /** Upper bound of the rate of differing answers, at 95 %. Null where it is not known. */
    upperBound: verdict === "not enough" ? null : upperBound(different, distinct),
    verdict,
    first: iso(counts.first),
    last: iso(counts.last),
    /** The fields with the most differences first. Examples are their ids. */
    fields: counts.fields
      .toSorted((one, other) => other.count - one.count || other.unstable - one.unstable)
      .map((field) => ({
        ...field,
        first: iso(field.first),
        last: iso(field.last),
        examples: field.examples.map(({ id }) => id),
      })),
    /** The parts that no answer has shown; null if the active pack has no such route. */
    gaps: pack?.route(route) ? findGaps(route, new Set(counts.seen), pack) : null,
  };
}

/** Routes whose responses are compared: never files, and with the old service only reads. */
const isCompared = ({ upload, file, isSafe }: Pack["routes"][number], source: ComparisonSource): boolean =>
  !upload && !file && (source === "candidate" || isSafe);

/** The verdict of all routes, or of all sources. Where nothing was compared, nothing is known. */
export function verdictOf(all: readonly { readonly verdict: RateVerdict }[]): RateVerdict {
  if (all.some(({ verdict }) => verdict === "above")) return "above";
  return all.length > 0 && all.every(({ verdict }) => verdict === "below") ? "below" : "not enough";
}

function summarize(counts: SourceCounts, { pack, rate, route: only }: SummaryOptions) {
  const isAsked = (route: string): boolean => only === undefined || route === only;
  const routes = Object.entries(counts.routes)
    .filter(([route]) => isAsked(route))
    .map((each) => summarizeRoute(each, { pack, rate }))
    // Those with the most differences first.
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
    /** Fields and examples that were left out, because there are too many of them. */
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
