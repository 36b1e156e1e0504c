/** Returns to the old service: what has returned, and what returns without a person. */
import type { Compared } from "../parity/comparison.ts";
import { errorText } from "../config/error-text.ts";
import type { Log } from "../observability/log.ts";
import { isTurned } from "./decide.ts";
import { watchOldService } from "./old-service.ts";
import { createReturned, type Returned } from "./returned.ts";
import type { RolloutPlan } from "./rollout-plan.ts";
import { causeOf, createScores, withSteps, type Cause, type Scores, type TakenSteps } from "./scores.ts";
import type { DocumentStore } from "../storage/shared-document.ts";
import {
  withTrip,
  type RolloutEvent,
  type RouteScores,
  type Trip,
  type TripState,
  type TripTarget,
} from "./trips.ts";

/** Who turns something back, or lets it continue, and why. */
export interface RolloutAction extends TripTarget {
  readonly by: string;
  readonly reason: string | null;
}

/** What has returned, and what is about to. */
export interface Returns extends Pick<Returned, "isKnown" | "state" | "tripOf" | "trips"> {
  /** Routes that should return, and can't: the old service is not well. */
  blocked(): readonly string[];
  note(compared: Compared): void;
  /** Notes how the translation did on a request of a client. */
  noteNew(route: string, hasFailed: boolean, requestId: string): void;
  /** Notes how the old service did. @param sender Who asked, by what nobody can invent */
  noteOld(route: string | null, hasFailed: boolean, sender: string): void;
  turnBack(action: RolloutAction & Pick<Trip, "acceptsLostWrites" | "lostWrites">): Promise<void>;
  resume(action: RolloutAction): Promise<void>;
  /** Reads and writes the shared state. Call it more than twice a second. @throws {StateUnavailableError} */
  tick(): Promise<void>;
}

export interface ReturnsOptions {
  readonly plan: () => RolloutPlan;
  readonly store: DocumentStore;
  readonly log: Log;
  /** Called when other trips apply. @param events The last ones, newest first */
  readonly onChange?: (trips: readonly Trip[], events: readonly RolloutEvent[]) => void;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds, monotonic. */
  readonly elapsed?: () => number;
  /** Whether connections to the old service work. */
  readonly isOldServiceUp: () => boolean;
}

const REASONS: Readonly<Record<Cause, string>> = {
  differences: "confirmed differences",
  failures: "failures of the translation",
};

/** Who turns back without a person. */
export const GATEWAY = "gateway";

/** The return of a route by its scores. @param at ISO 8601, UTC */
const tripOfRoute = (route: string, { records }: RouteScores, cause: Cause, at: string): Trip => ({
  kind: "route",
  name: route,
  by: GATEWAY,
  at,
  reason: REASONS[cause],
  records,
  acceptsLostWrites: false,
  lostWrites: 0,
});

/** Creates what writes the steps and returns of this process to the state that replicas share. */
function createSharing({
  returned,
  scores,
  withTaken,
  log,
}: {
  readonly returned: Returned;
  readonly scores: Scores;
  /** Adds steps to the shared state. */
  readonly withTaken: (state: TripState, taken: TakenSteps) => TripState;
  readonly log: Log;
}): { share(): Promise<void>; shareSoon(): Promise<void> } {
  async function share(): Promise<void> {
    const taken = scores.take();
    if (taken.size === 0 && !returned.hasWaiting()) return;
    try {
      await returned.share(
        (state) => withTaken(state, taken),
        () => scores.shared(taken),
      );
    } catch (error) {
      scores.giveBack(taken);
      throw error;
    }
  }

  let isSharing = false;

  /** What is rare is shared at once: a difference, and a return. */
  async function shareSoon(): Promise<void> {
    if (isSharing) return;
    isSharing = true;
    try {
      await share();
    } catch (error) {
      log.warn(
        { code: "AG_ROLLOUT_STATE_UNKNOWN", error: errorText(error) },
        "what speaks against the translation can't be shared: this process decides alone",
      );
    }
    isSharing = false;
  }

  return { share, shareSoon };
}

/** Creates the returns of a rollout. Nothing is read yet. */
export function createReturns({
  plan,
  store,
  log,
  onChange = () => {},
  clock = Date.now,
  elapsed,
  isOldServiceUp,
}: ReturnsOptions): Returns {
  const health = watchOldService(elapsed);
  const returned = createReturned(store, plan, onChange);
  const blocked = new Set<string>();
  const scores = createScores(
    () => returned.state().scores,
    () => plan().turnBack,
  );
  const isWell = (route: string): boolean => isOldServiceUp() && health.isWell(route);

  const now = (): string => new Date(clock()).toISOString();

  /** Turns a route back whose score says so, if the old service is well. */
  function consider(route: string): void {
    const found = scores.of(route);
    const cause = causeOf(found);
    if (!cause || returned.hasReturned(route) || !isTurned(plan(), route)) return void blocked.delete(route);
    if (isWell(route)) {
      blocked.delete(route);
      returned.add(tripOfRoute(route, found, cause, now()));
      return;
    }
    if (!blocked.has(route))
      log.error(
        { code: "AG_ROLLOUT_NOT_TURNED_BACK", route, reason: REASONS[cause], records: found.records },
        "a route should return to the old service, which is not well: it stays",
      );
    blocked.add(route);
  }

  /** The state with the steps of this process. What replicas have seen adds up: routes return that no replica alone would return. */
  function withTaken(state: TripState, taken: TakenSteps): TripState {
    let next = taken.size === 0 ? state : { ...state, scores: withSteps(state.scores, taken) };
    for (const route of taken.keys()) {
      const after = next.scores[route];
      const cause = after && causeOf(after);
      if (after && cause && isWell(route) && isTurned(plan(), route))
        next = withTrip(next, tripOfRoute(route, after, cause, now()));
    }
    return next;
  }

  const { share, shareSoon } = createSharing({ returned, scores, withTaken, log });

  function see(route: string, cause: Cause, isBad: boolean, requestId: string | undefined): void {
    if (returned.hasReturned(route) || !isTurned(plan(), route)) return;
    const tolerated = cause === "failures" ? health.failureRate(route) : undefined;
    scores.note(route, cause, { isBad, requestId, ...(tolerated !== undefined && { tolerated }) });
    if (!isBad) return;
    consider(route);
    if (cause === "differences" || returned.isWaiting(route)) void shareSoon();
  }

  return {
    isKnown: returned.isKnown,
    state: returned.state,
    trips: returned.trips,
    tripOf: returned.tripOf,
    blocked: () => [...blocked],
    note({ source, result, route, requestId }) {
      if (source !== "legacy") return;
      if (result === "different") see(route, "differences", true, requestId);
      if (result === "equal" || result === "accepted") see(route, "differences", false, requestId);
    },
    noteNew: (route, hasFailed, requestId) => see(route, "failures", hasFailed, requestId),
    noteOld: health.note,
    turnBack({ kind, name, by, reason, acceptsLostWrites, lostWrites }) {
      const trip = { kind, name, by, at: now(), reason, records: [], acceptsLostWrites, lostWrites };
      return returned.turnBack(trip);
    },
    resume: ({ kind, name, by, reason }) => returned.resume({ kind, name, by, at: now(), reason }),
    async tick() {
      await returned.refresh();
      for (const route of new Set([...scores.routes(), ...blocked])) consider(route);
      await share();
    },
  };
}
