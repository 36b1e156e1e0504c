/** Counts evidence against the translation by route and client: confirmed differences, and failures. */
import { createCusum, type Cusum, DIFFERENCES, isTripped, TRIP } from "./cusum.ts";
import { addEvidence, changeBy, scoreOf, type ClientEvidence, type Evidence } from "./evidence.ts";
import type { TurnBack } from "../rules.ts";
import { MAX_RECORDS, type RouteScores, type TripState } from "./trips.ts";

/** The reasons for the return of a route. */
export type Cause = "differences" | "failures";

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

function applyTo(scores: RouteScores, more: RouteScores, now: number): RouteScores {
  return {
    differences: addEvidence(scores.differences, more.differences, now),
    failures: addEvidence(scores.failures, more.failures, now),
    records: [...scores.records, ...more.records].slice(-MAX_RECORDS),
  };
}

/** Merges two changes of one client. */
function withChange(changes: Evidence, change: ClientEvidence): Evidence {
  const before = changes.find(({ client }) => client === change.client);
  if (!before) return [...changes, change];
  const sum = { ...change, score: before.score + change.score };
  return changes.map((each) => (each === before ? sum : each));
}

/** Returns why scores trip; undefined if they don't. @param now Seconds since the epoch */
export function causeOf({ differences, failures }: RouteScores, now: number): Cause | undefined {
  if (isTripped(scoreOf(differences, now))) return "differences";
  return isTripped(scoreOf(failures, now)) ? "failures" : undefined;
}

/** Changes that a process is writing to the shared state. */
export type TakenChanges = ReadonlyMap<string, RouteScores>;

/** The evidence of a comparison or a request. */
export interface Seen {
  /** The proven owner. */
  readonly client: string;
  readonly isBad: boolean;
  readonly requestId: string | undefined;
  /** The tolerated rate. Undefined: the rate of differences. */
  readonly tolerated: number | undefined;
}

/** The scores of this process and of all replicas. */
export type Scores = ReturnType<typeof createScores>;

/** Returns scores with the changes of one process. @param now Seconds since the epoch */
export function withChanges(
  scores: TripState["scores"],
  taken: TakenChanges,
  now: number,
): TripState["scores"] {
  const next: Record<string, RouteScores> = {};
  for (const route of new Set([...Object.keys(scores), ...taken.keys()])) {
    const before = Object.hasOwn(scores, route) ? scores[route] : undefined;
    const after = applyTo(before ?? NOTHING, taken.get(route) ?? NOTHING, now);
    if (after.differences.length > 0 || after.failures.length > 0) next[route] = after;
  }
  return next;
}

/**
 * Creates the scores of a process.
 *
 * @param shared Returns the stored scores.
 * @param now Returns seconds since the epoch.
 */
export function createScores(shared: () => TripState["scores"], turnBack: () => TurnBack, now: () => number) {
  let unshared = new Map<string, RouteScores>();
  const sending = new Set<TakenChanges>();
  const sharedOf = (route: string): RouteScores =>
    Object.hasOwn(shared(), route) ? (shared()[route] ?? NOTHING) : NOTHING;

  /** Returns the scores of a route, including unshared ones. */
  function of(route: string): RouteScores {
    return [...sending, unshared].reduce((scores, changes) => {
      const waiting = changes.get(route);
      return waiting ? applyTo(scores, waiting, now()) : scores;
    }, sharedOf(route));
  }

  return {
    note(route: string, cause: Cause, { client, isBad, requestId, tolerated }: Seen): void {
      const cusum = scaled(tolerated === undefined ? DIFFERENCES : createCusum(tolerated), turnBack());
      const score = isBad ? cusum.difference : cusum.equal;
      const change = changeBy(of(route)[cause], { client, seenAt: now(), score });
      if (!change) return;
      const waiting = unshared.get(route) ?? NOTHING;
      const records = isBad && requestId !== undefined ? [requestId] : [];
      unshared.set(route, {
        ...waiting,
        [cause]: withChange(waiting[cause], change),
        records: [...waiting.records, ...records].slice(-MAX_RECORDS),
      });
    },
    of,
    /** Routes with known scores. */
    routes: (): readonly string[] => [...new Set([...Object.keys(shared()), ...unshared.keys()])],
    /** Returns the unshared scores for writing. They still apply in this process. */
    take(): TakenChanges {
      const taken = unshared;
      unshared = new Map();
      if (taken.size > 0) sending.add(taken);
      return taken;
    },
    /** Called after these changes were written to the shared scores. */
    shared: (taken: TakenChanges): void => void sending.delete(taken),
    /** Restores the scores that could not be written. */
    giveBack(taken: TakenChanges): void {
      sending.delete(taken);
      for (const [route, before] of taken) {
        const since = unshared.get(route) ?? NOTHING;
        unshared.set(route, {
          differences: since.differences.reduce(withChange, before.differences),
          failures: since.failures.reduce(withChange, before.failures),
          records: [...before.records, ...since.records].slice(-MAX_RECORDS),
        });
      }
    },
  };
}
