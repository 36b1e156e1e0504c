/** The routes that return to the old service automatically, because of their scores. */
import type { Log } from "../../../base/index.ts";
import { isTurned } from "../decide.ts";
import type { RolloutConfig } from "../rules.ts";
import type { Returned } from "./returned.ts";
import { causeOf, withChanges, type Cause, type Scores, type TakenChanges } from "./scores.ts";
import { withTrip, type RouteScores, type Trip, type TripState } from "./trips.ts";

const REASONS: Readonly<Record<Cause, string>> = {
  differences: "confirmed differences",
  failures: "failures of the translation",
};

/** Returns routes to the old service because of their scores. */
export type RoutesToReturn = ReturnType<typeof createRoutesToReturn>;

/**
 * Creates the automatic returns.
 *
 * @param isWell Whether the old service is healthy enough to serve a route
 * @param clock Milliseconds since the epoch
 */
export function createRoutesToReturn(
  config: () => RolloutConfig,
  { returned, scores }: { readonly returned: Returned; readonly scores: Scores },
  isWell: (route: string) => boolean,
  log: Log,
  clock: () => number,
) {
  const blocked = new Set<string>();

  /** Returns the trip of a route, if its scores require it. The actor is the gateway. */
  function findTrip(route: string, found: RouteScores): Trip | undefined {
    const cause = causeOf(found, clock() / 1000);
    if (!cause || !isTurned(config(), route)) return undefined;
    const at = new Date(clock()).toISOString();
    const { records } = found;
    return { kind: "route", name: route, by: "gateway", at, reason: REASONS[cause], records };
  }

  return {
    /** Routes that should return but can't, because the old service is not healthy. */
    blocked: (): readonly string[] => [...blocked],
    /** Returns a route to the old service if its score requires it and the old service is healthy. */
    consider(route: string): void {
      const trip = returned.hasReturned(route) ? undefined : findTrip(route, scores.of(route));
      if (trip && !isWell(route)) {
        if (!blocked.has(route))
          log.error(
            { code: "AG_ROLLOUT_NOT_TURNED_BACK", route, reason: trip.reason, records: trip.records },
            "a route should return to the old service, which is not well: it stays",
          );
        blocked.add(route);
        return;
      }
      blocked.delete(route);
      if (trip) returned.add(trip);
    },
    /**
     * Returns the state with the changes of this process. The evidence of replicas is added up, so that routes may
     * return that no single replica would return.
     */
    withTaken(state: TripState, taken: TakenChanges): TripState {
      if (taken.size === 0) return state;
      let next = { ...state, scores: withChanges(state.scores, taken, clock() / 1000) };
      for (const route of taken.keys()) {
        const after = next.scores[route];
        const trip = after && findTrip(route, after);
        if (trip && isWell(route)) next = withTrip(next, trip);
      }
      return next;
    },
  };
}
