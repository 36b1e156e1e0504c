/** Returns to the old service: what has returned, and what returns without a person. */
import type { Compared } from "../../../compare/index.ts";
import { type DocumentStore, errorText, type Log } from "../../../base/index.ts";
import { isTurned } from "../decide.ts";
import { watchOldService, type OldServiceHealth } from "./old-service.ts";
import { createReturned, type Returned } from "./returned.ts";
import type { RolloutConfig } from "../rules.ts";
import {
  causeOf,
  createScores,
  withChanges,
  type Cause,
  type Scores,
  type Seen,
  type TakenChanges,
} from "./scores.ts";
import {
  withTrip,
  type RolloutEvent,
  type RouteScores,
  type Trip,
  type TripState,
  type TripTarget,
} from "./trips.ts";

/** The person who returns something or lets it continue, and the reason. */
export interface RolloutAction extends TripTarget {
  readonly by: string;
  readonly reason: string | null;
}

/** The returns, and those that are about to happen. */
export interface Returns extends Pick<Returned, "isKnown" | "state" | "tripOf" | "trips"> {
  /** Routes that should return, and can't: the old service is not well. */
  blocked(): readonly string[];
  /** Notes a comparison. @param client The proven sender; undefined: a stranger, who decides nothing */
  note(compared: Compared, client: string | undefined): void;
  /** Notes how the translation did on a request. @param client As for {@link note} */
  noteNew(route: string, hasFailed: boolean, requestId: string, client: string | undefined): void;
  readonly noteOld: OldServiceHealth["note"];
  readonly beginOld: OldServiceHealth["begin"];
  turnBack(action: RolloutAction): Promise<void>;
  resume(action: RolloutAction): Promise<void>;
  /** Reads and writes the shared state. Call it more than twice a second. @throws {StateUnavailableError} */
  tick(): Promise<void>;
}

export interface ReturnsOptions {
  readonly config: () => RolloutConfig;
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

/** The actor of a return without a person. */
export const GATEWAY = "gateway";

/** The return of a route by its scores. @param at ISO 8601, UTC */
const tripOfRoute = (route: string, { records }: RouteScores, cause: Cause, at: string): Trip => ({
  kind: "route",
  name: route,
  by: GATEWAY,
  at,
  reason: REASONS[cause],
  records,
});

/** Creates what writes the changes and returns of this process to the state that replicas share. */
function createSharing({
  returned,
  scores,
  withTaken,
  log,
}: {
  readonly returned: Returned;
  readonly scores: Scores;
  /** Adds changes to the shared state. */
  readonly withTaken: (state: TripState, taken: TakenChanges) => TripState;
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

  /** Rare events are shared at once: a difference, and a return. */
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

/** Creates the returns. Nothing is read yet. */
export function createReturns({
  config,
  store,
  log,
  onChange = () => {},
  clock = Date.now,
  elapsed,
  isOldServiceUp,
}: ReturnsOptions): Returns {
  const health = watchOldService(elapsed);
  const returned = createReturned(store, config, onChange);
  const blocked = new Set<string>();
  const scores = createScores(
    () => returned.state().scores,
    () => config().turnBack,
    () => Math.floor(clock() / 1000),
  );
  const isWell = (route: string): boolean => isOldServiceUp() && health.isWell(route);

  const now = (): string => new Date(clock()).toISOString();

  /** Turns a route back whose score says so, if the old service is well. */
  function consider(route: string): void {
    const found = scores.of(route);
    const cause = causeOf(found, clock() / 1000);
    if (!cause || returned.hasReturned(route) || !isTurned(config(), route))
      return void blocked.delete(route);
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

  /** The state with the changes of this process. What replicas have seen adds up: routes return that no replica alone would return. */
  function withTaken(state: TripState, taken: TakenChanges): TripState {
    const seconds = clock() / 1000;
    let next = taken.size === 0 ? state : { ...state, scores: withChanges(state.scores, taken, seconds) };
    for (const route of taken.keys()) {
      const after = next.scores[route];
      const cause = after && causeOf(after, seconds);
      if (after && cause && isWell(route) && isTurned(config(), route))
        next = withTrip(next, tripOfRoute(route, after, cause, now()));
    }
    return next;
  }

  const { share, shareSoon } = createSharing({ returned, scores, withTaken, log });

  function see(
    route: string,
    cause: Cause,
    seen: Pick<Seen, "isBad" | "requestId">,
    client: string | undefined,
  ): void {
    if (client === undefined || returned.hasReturned(route) || !isTurned(config(), route)) return;
    const { isBad } = seen;
    const tolerated = cause === "failures" ? health.failureRate(route, client) : undefined;
    scores.note(route, cause, { ...seen, client, tolerated });
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
    note({ source, result, route, requestId }, client) {
      if (source !== "legacy") return;
      if (result === "different") see(route, "differences", { isBad: true, requestId }, client);
      if (result === "equal" || result === "accepted")
        see(route, "differences", { isBad: false, requestId }, client);
    },
    noteNew: (route, isBad, requestId, client) => see(route, "failures", { isBad, requestId }, client),
    noteOld: health.note,
    beginOld: health.begin,
    turnBack: ({ kind, name, by, reason }) =>
      returned.turnBack({ kind, name, by, at: now(), reason, records: [] }),
    resume: ({ kind, name, by, reason }) => returned.resume({ kind, name, by, at: now(), reason }),
    async tick() {
      await returned.refresh();
      for (const route of new Set([...scores.routes(), ...blocked])) consider(route);
      await share();
    },
  };
}
