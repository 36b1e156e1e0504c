/** Counts evidence against the translation by route and client: confirmed differences, and failures. */
import { createCusum, type Cusum, DIFFERENCES, isTripped, TRIP } from "./cusum.ts";
import { addEvidence, changeBy, scoreOf, type ClientEvidence, type Evidence } from "./evidence.ts";
import type { TurnBack } from "../rules.ts";
import { MAX_RECORDS, type RouteScores, type TripState } from "./trips.ts";

/** The reasons for the return of a route. */
export type Cause = "differences" | "failures";

/** The evidence of a comparison or a request. */
export interface Seen {
  readonly cause: Cause;
  /** The proven owner. */
  readonly client: string;
  readonly isBad: boolean;
  readonly requestId: string | undefined;
  /** The tolerated rate. Undefined: the rate of differences. */
  readonly tolerated: number | undefined;
}

/** A request that raised a score. */
interface Raised {
  /** The number of the request in this process: requests of several clients are sorted by it. */
  readonly number: number;
  readonly id: string;
}

/** A change of the evidence of one client on a route, with the requests that caused it. */
interface Change extends ClientEvidence {
  readonly cause: Cause;
  readonly raised: readonly Raised[];
}

export type Changes = ReadonlyMap<string, readonly Change[]>;

const NOTHING: RouteScores = { differences: [], failures: [], records: [] };

/**
 * Returns the steps of a counter that trips at `differences` within `within` comparisons. They are the steps of the
 * statistics, scaled so that `differences` reach the limit.
 */
function scaled(cusum: Cusum, { differences, within }: TurnBack): Cusum {
  const reached = differences * DIFFERENCES.difference + (within - differences) * DIFFERENCES.equal;
  const scale = TRIP / reached;
  return { difference: cusum.difference * scale, equal: cusum.equal * scale };
}

const evidenceOf = (changes: readonly Change[], cause: Cause): Evidence =>
  changes
    .filter((change) => change.cause === cause)
    .map(({ client, seenAt, score }) => ({ client, seenAt, score }));

/** Returns the ids of the requests that caused changes, newest last. */
const recordsOf = (changes: readonly Change[]): readonly string[] =>
  changes
    .flatMap(({ raised }) => raised)
    .toSorted((one, other) => one.number - other.number)
    .map(({ id }) => id);

const applyTo = (scores: RouteScores, changes: readonly Change[], now: number): RouteScores => ({
  differences: addEvidence(scores.differences, evidenceOf(changes, "differences"), now),
  failures: addEvidence(scores.failures, evidenceOf(changes, "failures"), now),
  records: [...scores.records, ...recordsOf(changes)].slice(-MAX_RECORDS),
});

const scoresAt = (scores: TripState["scores"], route: string): RouteScores =>
  (Object.hasOwn(scores, route) ? scores[route] : undefined) ?? NOTHING;

/** Returns scores with the changes of one process. @param now Seconds since the epoch */
export function withChanges(scores: TripState["scores"], changes: Changes, now: number): TripState["scores"] {
  const routes = new Set([...Object.keys(scores), ...changes.keys()]);
  return Object.fromEntries(
    [...routes]
      .map((route) => [route, applyTo(scoresAt(scores, route), changes.get(route) ?? [], now)] as const)
      .filter(([, { differences, failures }]) => differences.length > 0 || failures.length > 0),
  );
}

/** Returns why scores trip; undefined if they don't. @param now Seconds since the epoch */
export function causeOf({ differences, failures }: RouteScores, now: number): Cause | undefined {
  if (isTripped(scoreOf(differences, now))) return "differences";
  return isTripped(scoreOf(failures, now)) ? "failures" : undefined;
}

const isSame = (one: Change, other: Change): boolean =>
  one.cause === other.cause && one.client === other.client;

/** Merges a change with an earlier one of the same client. */
function withChange(changes: readonly Change[], change: Change): readonly Change[] {
  const before = changes.find((each) => isSame(each, change));
  if (!before) return [...changes, change];
  const raised = [...before.raised, ...change.raised].slice(-MAX_RECORDS);
  const merged = { ...change, score: before.score + change.score, raised };
  return changes.map((each) => (each === before ? merged : each));
}

/** Returns the changes that were made after some of them were taken to be written. */
const withoutWritten = (changes: readonly Change[], written: readonly Change[]): readonly Change[] =>
  changes.flatMap((change) => {
    const before = written.find((each) => isSame(each, change));
    if (!before) return [change];
    if (before === change) return [];
    const raised = change.raised.filter((each) => !before.raised.includes(each));
    return [{ ...change, score: change.score - before.score, raised }];
  });

/** The scores of this process and of all replicas. */
export type Scores = ReturnType<typeof createScores>;

/**
 * Creates the scores of a process. Its changes apply here at once, and on other replicas after they were written.
 *
 * @param shared Returns the stored scores.
 * @param now Returns seconds since the epoch.
 */
export function createScores(shared: () => TripState["scores"], turnBack: () => TurnBack, now: () => number) {
  const unwritten = new Map<string, readonly Change[]>();
  let requests = 0;

  /** Returns the scores of a route, including unshared ones. */
  function of(route: string): RouteScores {
    const changes = unwritten.get(route);
    const scores = scoresAt(shared(), route);
    return changes ? applyTo(scores, changes, now()) : scores;
  }

  return {
    of,
    note(route: string, { cause, client, isBad, requestId, tolerated }: Seen): void {
      const cusum = scaled(tolerated === undefined ? DIFFERENCES : createCusum(tolerated), turnBack());
      const score = isBad ? cusum.difference : cusum.equal;
      const change = changeBy(of(route)[cause], { client, seenAt: now(), score });
      if (!change) return;
      const raised = isBad && requestId !== undefined ? [{ number: (requests += 1), id: requestId }] : [];
      unwritten.set(route, withChange(unwritten.get(route) ?? [], { ...change, cause, raised }));
    },
    /** Routes with known scores. */
    routes: (): readonly string[] => [...new Set([...Object.keys(shared()), ...unwritten.keys()])],
    unwritten: (): Changes => new Map(unwritten),
    /** Called after these changes were written to the shared scores. */
    written(changes: Changes): void {
      for (const [route, written] of changes) {
        const left = withoutWritten(unwritten.get(route) ?? [], written);
        if (left.length > 0) unwritten.set(route, left);
        else unwritten.delete(route);
      }
    },
  };
}
