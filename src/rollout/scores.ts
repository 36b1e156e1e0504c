/** Counts what speaks against the translation: confirmed differences, and failures, by route. */
import { createCusum, DIFFERENCES, isTripped, nextScore, TRIP, type Cusum } from "../parity/statistics.ts";
import type { TurnBack } from "./rollout-plan.ts";
import { MAX_RECORDS, type RouteScores, type TripState } from "./trips.ts";

/** What a route returns for. */
export type Cause = "differences" | "failures";

/** What this process has seen since it last wrote the shared scores. */
interface Unshared {
  readonly differences: number[];
  readonly failures: number[];
  readonly records: string[];
}

const NOTHING: RouteScores = { differences: 0, failures: 0, records: [] };

/** Steps of one route that wait for the store. While it is down, the last ones decide. */
const MAX_STEPS = 500;

/**
 * The steps of a counter that trips at `differences` within `within` comparisons: those of the statistics, scaled so that
 * this many reach its limit.
 */
function scaled(cusum: Cusum, { differences, within }: TurnBack): Cusum {
  const reached = differences * DIFFERENCES.difference + (within - differences) * DIFFERENCES.equal;
  const scale = TRIP / reached;
  return { difference: cusum.difference * scale, equal: cusum.equal * scale };
}

/** A step more. Two that lower the score are one: nothing can trip in between. */
function push(steps: number[], step: number): void {
  const last = steps.at(-1);
  if (step < 0 && last !== undefined && last < 0) steps[steps.length - 1] = last + step;
  else steps.push(step);
  if (steps.length > MAX_STEPS) steps.shift();
}

const applySteps = (score: number, steps: readonly number[]): number =>
  steps.reduce((sum, step) => nextScore(sum, step > 0, { difference: step, equal: step }), score);

const applyTo = (scores: RouteScores, { differences, failures, records }: Unshared): RouteScores => ({
  differences: applySteps(scores.differences, differences),
  failures: applySteps(scores.failures, failures),
  records: [...scores.records, ...records].slice(-MAX_RECORDS),
});

/** Why scores trip; undefined if they don't. */
export function causeOf({ differences, failures }: RouteScores): Cause | undefined {
  if (isTripped(differences)) return "differences";
  return isTripped(failures) ? "failures" : undefined;
}

/** Steps that a process has taken out, to write them. */
export type TakenSteps = ReadonlyMap<string, Unshared>;

/** The scores of this process and of all replicas. */
export interface Scores {
  /** Notes a comparison or a request. @param tolerated Rate of failures that is tolerated. */
  note(
    route: string,
    cause: Cause,
    seen: { readonly isBad: boolean; readonly requestId?: string | undefined; readonly tolerated?: number },
  ): void;
  /** The scores of a route, with what is not shared yet. */
  of(route: string): RouteScores;
  /** Routes that are not at 0. */
  routes(): readonly string[];
  /** Takes out what is not shared yet, to write it. It still counts here. */
  take(): TakenSteps;
  /** The shared scores have these steps. */
  shared(taken: TakenSteps): void;
  /** Puts back what could not be written. */
  giveBack(taken: TakenSteps): void;
}

/** Scores with steps that one process has taken out. Routes at 0 are left out. */
export function withSteps(scores: TripState["scores"], taken: TakenSteps): TripState["scores"] {
  if (taken.size === 0) return scores;
  const next: Record<string, RouteScores> = { ...scores };
  for (const [route, unshared] of taken) {
    const after = applyTo(next[route] ?? NOTHING, unshared);
    if (after.differences > 0 || after.failures > 0) next[route] = after;
    else delete next[route];
  }
  return next;
}

/**
 * Creates the scores of a process.
 *
 * @param shared The scores that the store has.
 */
export function createScores(shared: () => TripState["scores"], turnBack: () => TurnBack): Scores {
  let unshared = new Map<string, Unshared>();
  const sending = new Set<TakenSteps>();
  const sharedOf = (route: string): RouteScores =>
    Object.hasOwn(shared(), route) ? (shared()[route] ?? NOTHING) : NOTHING;

  function of(route: string): RouteScores {
    return [...sending, unshared].reduce((scores, steps) => {
      const waiting = steps.get(route);
      return waiting ? applyTo(scores, waiting) : scores;
    }, sharedOf(route));
  }

  return {
    note(route, cause, { isBad, requestId, tolerated }) {
      // At 0 nothing can be lowered: a healthy route is never written.
      if (!isBad && of(route)[cause] === 0) return;
      const cusum = scaled(tolerated === undefined ? DIFFERENCES : createCusum(tolerated), turnBack());
      const waiting = unshared.get(route) ?? { differences: [], failures: [], records: [] };
      unshared.set(route, waiting);
      push(waiting[cause], isBad ? cusum.difference : cusum.equal);
      if (isBad && requestId !== undefined) waiting.records.push(requestId);
      if (waiting.records.length > MAX_RECORDS) waiting.records.shift();
    },
    of,
    routes: () => [...new Set([...Object.keys(shared()), ...unshared.keys()])],
    take() {
      const taken = unshared;
      unshared = new Map();
      if (taken.size > 0) sending.add(taken);
      return taken;
    },
    shared: (taken) => void sending.delete(taken),
    giveBack(taken) {
      sending.delete(taken);
      for (const [route, before] of taken) {
        const since = unshared.get(route);
        unshared.set(route, {
          differences: [...before.differences, ...(since?.differences ?? [])].slice(-MAX_STEPS),
          failures: [...before.failures, ...(since?.failures ?? [])].slice(-MAX_STEPS),
          records: [...before.records, ...(since?.records ?? [])].slice(-MAX_RECORDS),
        });
      }
    },
  };
}
