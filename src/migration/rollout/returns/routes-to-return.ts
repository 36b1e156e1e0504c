/** The routes that return to the old service by their scores, without a person. */
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

/** The actor of a return without a person. */
const GATEWAY = "gateway";

interface RoutesToReturnOptions {
  readonly config: () => RolloutConfig;
  readonly returned: Pick<Returned, "add" | "hasReturned">;
  readonly scores: Pick<Scores, "of">;
  /** Whether the old service is well enough to serve a route. */
  readonly isWell: (route: string) => boolean;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Turns routes back whose scores say so. */
export class RoutesToReturn {
  readonly #options: RoutesToReturnOptions;
  readonly #blocked = new Set<string>();

  constructor(options: RoutesToReturnOptions) {
    this.#options = options;
  }

  /** Routes that should return, and can't: the old service is not well. */
  blocked(): readonly string[] {
    return [...this.#blocked];
  }

  /** Turns a route back whose score says so, if the old service is well. */
  consider(route: string): void {
    const { config, returned, scores, isWell, log } = this.#options;
    const found = scores.of(route);
    const cause = causeOf(found, this.#seconds());
    if (!cause || returned.hasReturned(route) || !isTurned(config(), route))
      return void this.#blocked.delete(route);
    if (isWell(route)) {
      this.#blocked.delete(route);
      returned.add(this.#tripOf(route, found, cause));
      return;
    }
    if (!this.#blocked.has(route))
      log.error(
        { code: "AG_ROLLOUT_NOT_TURNED_BACK", route, reason: REASONS[cause], records: found.records },
        "a route should return to the old service, which is not well: it stays",
      );
    this.#blocked.add(route);
  }

  /** The state with the changes of this process. What replicas have seen adds up: routes return that no replica alone would return. */
  withTaken(state: TripState, taken: TakenChanges): TripState {
    const { config, isWell } = this.#options;
    const seconds = this.#seconds();
    let next = taken.size === 0 ? state : { ...state, scores: withChanges(state.scores, taken, seconds) };
    for (const route of taken.keys()) {
      const after = next.scores[route];
      const cause = after && causeOf(after, seconds);
      if (after && cause && isWell(route) && isTurned(config(), route))
        next = withTrip(next, this.#tripOf(route, after, cause));
    }
    return next;
  }

  #seconds(): number {
    return this.#options.clock() / 1000;
  }

  /** The return of a route by its scores. */
  #tripOf(route: string, { records }: RouteScores, cause: Cause): Trip {
    const at = new Date(this.#options.clock()).toISOString();
    return { kind: "route", name: route, by: GATEWAY, at, reason: REASONS[cause], records };
  }
}
