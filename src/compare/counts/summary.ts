/** What counts of comparisons say: is it enough, and what differs most? */
import type { Pack } from "../../pack/index.ts";
import type { KeyValueStore } from "../../base/index.ts";
import type { ComparisonSource } from "./comparison.ts";
import { countProven, MAX_CASES, readComparisons, readSeen } from "./comparison-store.ts";
import { CLIENT_SHARE, type FieldCounts, type RouteCounts, type SourceCounts } from "./counts.ts";
import { findGaps, type RouteGaps } from "./coverage.ts";
import { required, upperBound } from "./statistics.ts";

/**
 * `below`: enough answers show that the rate is below. `above`: so many differ that no number of cases is enough.
 * `not enough`: neither is known.
 */
export type Verdict = "below" | "above" | "not enough";

/** What comparisons have found on one route. */
export interface RouteSummary extends Pick<
  RouteCounts,
  "comparisons" | "equal" | "unstable" | "accepted" | "notComparable"
> {
  readonly route: string;
  /** Clients that prove cases. */
  readonly clients: number;
  /** Cases that clients prove, of one client at most a tenth of those that are required, and cases that differ. */
  readonly distinct: number;
  readonly different: number;
  /** Distinct comparisons that are enough for the rate; null where so many differ that no number is. */
  readonly required: number | null;
  /** Upper bound of the rate of differing answers, at 95 %. Null where it is not enough. */
  readonly upperBound: number | null;
  readonly verdict: Verdict;
  /** ISO 8601, UTC. */
  readonly first: string;
  readonly last: string;
  /** Those that differ most first. */
  readonly fields: readonly FieldSummary[];
  /** What no answer has shown; null where the active pack has no such route. */
  readonly gaps: RouteGaps | null;
}

export interface FieldSummary extends Omit<FieldCounts, "first" | "last"> {
  readonly first: string;
  readonly last: string;
}

/** What the comparisons of a source have found. */
export interface SourceSummary {
  readonly source: ComparisonSource;
  readonly subject: string;
  readonly since: string;
  /** The rate that is asked about: 0.001 is 0.1 %. */
  readonly rate: number;
  readonly verdict: Verdict;
  /** Those with most differences first. */
  readonly routes: readonly RouteSummary[];
  /** Routes of the pack without a comparison. */
  readonly routesWithoutTraffic: readonly string[];
  /** Routes and fields that were left out, because there are too many of them. */
  readonly dropped: number;
}

export interface SummaryOptions {
  readonly rate: number;
  /** The active pack: undefined where no coverage is asked for. */
  readonly pack: Pack | undefined;
  /** Only this route. */
  readonly route?: string | undefined;
  readonly source?: ComparisonSource | undefined;
}

/** Clients that must have proven cases: one of them proves at most {@link CLIENT_SHARE} of what is required. */
export const REQUIRED_CLIENTS = 1 / CLIENT_SHARE;

/** The rate that is asked about where nobody names one. */
export const DEFAULT_RATE = 0.001;
/** For a lower rate the state store has not room for the cases that would be enough. */
export const MIN_RATE = 0.0003;

const iso = (time: number): string => new Date(time).toISOString();

/** Distinct comparisons that are enough; null where the answers that differ are too many already. */
function requiredFor(rate: number, distinct: number, different: number): number | null {
  if (different > 0 && different > distinct * rate) return null;
  const needed = required(rate, different);
  return needed > MAX_CASES ? null : needed;
}

/**
 * The cases that clients prove. What all clients together could prove is enough to see that it is not enough: only else
 * the cases are read, since several clients may have the same ones.
 */
async function provenCases(
  state: Pick<KeyValueStore, "setMembers">,
  counts: SourceCounts,
  route: string,
  needed: number,
): Promise<number> {
  const share = Math.ceil(needed / REQUIRED_CLIENTS);
  const sizes = Object.values(counts.routes[route]?.cases ?? {});
  const most = sizes.reduce((sum, size) => sum + Math.min(size, share), 0);
  return most < needed ? most : countProven(state, counts, route, share);
}

async function summarizeRoute(
  state: Pick<KeyValueStore, "setMembers">,
  source: SourceCounts,
  [route, counts]: readonly [string, RouteCounts],
  seen: ReadonlySet<string>,
  { rate, pack }: SummaryOptions,
): Promise<RouteSummary> {
  const { distinctDifferent: different, comparisons, equal, unstable, accepted, notComparable } = counts;
  const clients = Object.keys(counts.cases).length;
  const needed = requiredFor(rate, counts.distinct, different);
  const distinct = needed === null ? counts.distinct : await provenCases(state, source, route, needed);
  const isEnough = needed !== null && distinct >= needed && clients >= REQUIRED_CLIENTS;
  const verdict = needed === null ? "above" : isEnough ? "below" : "not enough";
  return {
    route,
    comparisons,
    clients,
    distinct,
    different,
    equal,
    unstable,
    accepted,
    notComparable,
    required: needed,
    upperBound: verdict === "not enough" ? null : upperBound(different, distinct),
    verdict,
    first: iso(counts.first),
    last: iso(counts.last),
    fields: counts.fields
      .toSorted((one, other) => other.count - one.count || other.unstable - one.unstable)
      .map((field) => ({ ...field, first: iso(field.first), last: iso(field.last) })),
    gaps: pack?.route(route) ? findGaps(route, seen, pack) : null,
  };
}

/** Routes whose responses are compared: never files, and with the old service only reads. */
const isCompared = ({ upload, file, isSafe }: Pack["routes"][number], source: ComparisonSource): boolean =>
  !upload && !file && (source === "candidate" || isSafe);

/** The verdict of all routes. Where nothing was compared, nothing is known. */
function verdictOf(routes: readonly RouteSummary[]): Verdict {
  if (routes.some(({ verdict }) => verdict === "above")) return "above";
  return routes.length > 0 && routes.every(({ verdict }) => verdict === "below") ? "below" : "not enough";
}

async function summarize(
  state: Pick<KeyValueStore, "setMembers">,
  counts: SourceCounts,
  options: SummaryOptions,
): Promise<SourceSummary> {
  const { pack, rate, route: only } = options;
  const seen = pack ? await readSeen(state, counts) : new Map<string, ReadonlySet<string>>();
  const isAsked = (route: string): boolean => only === undefined || route === only;
  const asked = Object.entries(counts.routes).filter(([route]) => isAsked(route));
  const routes = await Promise.all(
    asked.map((each) => summarizeRoute(state, counts, each, seen.get(each[0]) ?? new Set(), options)),
  );
  routes.sort((one, other) => other.different - one.different || other.comparisons - one.comparisons);
  return {
    source: counts.source,
    subject: counts.subject,
    since: iso(counts.since),
    rate,
    verdict: verdictOf(routes),
    routes,
    routesWithoutTraffic: (pack?.routes ?? [])
      .filter(
        (route) => isCompared(route, counts.source) && isAsked(route.name) && !counts.routes[route.name],
      )
      .map(({ name }) => name),
    dropped: counts.dropped,
  };
}

/** Reads what comparisons have found. @throws {StateUnavailableError} */
export async function summarizeComparisons(
  state: Pick<KeyValueStore, "get" | "setMembers">,
  options: SummaryOptions,
): Promise<readonly SourceSummary[]> {
  const counts = (await readComparisons(state)).filter(
    ({ source }) => options.source === undefined || source === options.source,
  );
  return Promise.all(counts.map((one) => summarize(state, one, options)));
}
