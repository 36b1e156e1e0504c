/** Returns to the old service: manual and automatic ones. */
import type { Compared } from "../../../compare/index.ts";
import { type DocumentStore, errorText, type Log } from "../../../base/index.ts";
import { isTurned } from "../decide.ts";
import { watchOldService } from "./old-service.ts";
import { createReturned, type OnTrips, type Returned } from "./returned.ts";
import type { RolloutConfig } from "../rules.ts";
import {
  type Cause,
  causeOf,
  type Changes,
  createScores,
  type Scores,
  type Seen,
  withChanges,
} from "./scores.ts";
import { type RouteScores, type Trip, type TripState, type TripTarget, withTrip } from "./trips.ts";

/** A return of a route, a client or everything, or its end: the person, and the reason. */
export interface RolloutAction extends TripTarget {
  readonly by: string;
  readonly reason: string | null;
}

/** The returns, and the routes that are close to a return. */
export type Returns = ReturnType<typeof createReturns>;

interface ReturnsOptions {
  readonly config: () => RolloutConfig;
  readonly store: DocumentStore;
  readonly log: Log;
  readonly onChange: OnTrips;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
  /** A monotonic clock in milliseconds. */
  readonly elapsed: () => number;
  /** Returns whether connections to the old service work. */
  readonly isOldServiceUp: () => boolean;
}

const REASONS: Readonly<Record<Cause, string>> = {
  differences: "confirmed differences",
  failures: "failures of the translation",
};

/** Returns the trip of a route, if its scores require it. The actor is the gateway. */
function findTrip(
  route: string,
  scores: RouteScores,
  { config, clock }: Pick<ReturnsOptions, "config" | "clock">,
): Trip | undefined {
  const cause = causeOf(scores, clock() / 1000);
  if (!cause || !isTurned(config(), route)) return undefined;
  const at = new Date(clock()).toISOString();
  return { kind: "route", name: route, by: "gateway", at, reason: REASONS[cause], records: scores.records };
}

/** Creates the function that writes the changes and the returns of this process to the shared state. */
function createSharing(
  options: ReturnsOptions,
  returned: Returned,
  scores: Scores,
  isWell: (route: string) => boolean,
) {
  let sharing: Promise<void> | undefined;

  /**
   * Returns the state with changes. The evidence of replicas is added up, so that routes may return that no single
   * replica would return.
   */
  function applyChanges(state: TripState, changes: Changes): TripState {
    if (changes.size === 0) return state;
    let next = { ...state, scores: withChanges(state.scores, changes, options.clock() / 1000) };
    for (const route of changes.keys()) {
      const after = next.scores[route];
      const trip = after && findTrip(route, after, options);
      if (trip && isWell(route)) next = withTrip(next, trip);
    }
    return next;
  }

  /** @throws {StateUnavailableError} */
  async function share(): Promise<void> {
    // A change must not be added to the shared state twice, so one write runs at a time.
    if (sharing) {
      await sharing.catch(() => {});
      return share();
    }
    const changes = scores.unwritten();
    if (changes.size === 0 && !returned.isWaiting()) return;
    sharing = returned
      .share(
        (state) => applyChanges(state, changes),
        () => scores.written(changes),
      )
      .finally(() => (sharing = undefined));
    await sharing;
  }

  return {
    share,
    /** Shares rare events immediately: a difference, and a return. */
    async shareSoon(): Promise<void> {
      if (sharing) return;
      await share().catch((error: unknown) =>
        options.log.warn(
          { code: "AG_ROLLOUT_STATE_UNKNOWN", error: errorText(error) },
          "evidence against the translation can't be shared: this process decides alone",
        ),
      );
    },
  };
}

/** Creates the returns. No data is read yet. */
export function createReturns(options: ReturnsOptions) {
  const { config, store, log, onChange, clock, elapsed, isOldServiceUp } = options;
  const health = watchOldService(elapsed);
  const returned = createReturned(store, config, onChange);
  const scores = createScores(
    () => returned.state().scores,
    () => config().turnBack,
    () => Math.floor(clock() / 1000),
  );
  /** Routes that should return but can't, because the old service is not healthy. */
  const blocked = new Set<string>();
  const isWell = (route: string): boolean => isOldServiceUp() && health.isWell(route);
  const { share, shareSoon } = createSharing(options, returned, scores, isWell);
  const now = (): string => new Date(clock()).toISOString();

  /** Returns a route to the old service if its score requires it and the old service is healthy. */
  function consider(route: string): void {
    const trip = returned.hasReturned(route) ? undefined : findTrip(route, scores.of(route), options);
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
  }

  function see(
    route: string,
    { client, ...seen }: Omit<Seen, "client"> & { client: string | undefined },
  ): void {
    if (client === undefined || returned.hasReturned(route) || !isTurned(config(), route)) return;
    const tolerated = seen.cause === "failures" ? health.failureRate(route, client) : undefined;
    scores.note(route, { ...seen, client, tolerated });
    if (!seen.isBad) return;
    consider(route);
    if (seen.cause === "differences" || returned.isWaiting(route)) void shareSoon();
  }

  return {
    isKnown: returned.isKnown,
    state: returned.state,
    trips: returned.trips,
    tripOf: returned.tripOf,
    blocked: (): readonly string[] => [...blocked],
    /** Records a comparison. @param client The proven sender. Undefined for an unknown sender, whose comparisons are ignored */
    note({ source, result, route, requestId }: Compared, client: string | undefined): void {
      if (source !== "legacy") return;
      const isBad = result === "different";
      if (isBad || result === "equal" || result === "accepted")
        see(route, { cause: "differences", isBad, requestId, client, tolerated: undefined });
    },
    /** Records the result of the translation for a request. */
    noteNew: (route: string, isBad: boolean, requestId: string, client: string | undefined): void =>
      see(route, { cause: "failures", isBad, requestId, client, tolerated: undefined }),
    noteOld: health.note,
    beginOld: health.begin,
    /** @throws {StateUnavailableError} */
    turnBack: ({ kind, name, by, reason }: RolloutAction): Promise<void> =>
      returned.turnBack({ kind, name, by, at: now(), reason, records: [] }),
    /** @throws {StateUnavailableError} */
    resume: ({ kind, name, by, reason }: RolloutAction): Promise<void> =>
      returned.resume({ kind, name, by, at: now(), reason }),
    /** Reads and writes the shared state. Call it more than twice a second. @throws {StateUnavailableError} */
    async tick(): Promise<void> {
      await returned.refresh();
      for (const route of new Set([...scores.routes(), ...blocked])) consider(route);
      await share();
    },
  };
}
