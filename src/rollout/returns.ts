/** Returns to the old service: what has returned, and what returns without a person. */
import type { Compared } from "../parity/comparison.ts";
import { errorText } from "../config/error-text.ts";
import type { Log } from "../observability/log.ts";
import { isTurned } from "./decide.ts";
import { watchOldService } from "./old-service.ts";
import type { RolloutPlan } from "./rollout-plan.ts";
import { causeOf, createScores, withSteps, type Cause } from "./scores.ts";
import type { DocumentStore } from "../storage/shared-document.ts";
import {
  createTripDocument,
  isSameTarget,
  withoutTrip,
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
export interface Returns {
  /** Whether the state store was read once. */
  readonly isKnown: () => boolean;
  /** What replicas share. */
  readonly state: () => TripState;
  /** The trip of a request: that of everything, of its client, or of its route. */
  tripOf(client: string | undefined, route: string | null): Trip | undefined;
  /** Trips, with those that this process could not share yet. */
  trips(): readonly Trip[];
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

/** The trips by what a request is looked up with. */
function indexTrips(trips: readonly Trip[]): Returns["tripOf"] & { readonly any: Trip | undefined } {
  const byRoute = new Map<string, Trip>();
  const byClient = new Map<string, Trip>();
  let all: Trip | undefined;
  for (const trip of trips) {
    if (trip.kind === "all") all = trip;
    else (trip.kind === "route" ? byRoute : byClient).set(trip.name, trip);
  }
  const [anyRoute] = byRoute.values();
  const find: Returns["tripOf"] = (client, route) =>
    all ?? byClient.get(client ?? "") ?? byRoute.get(route ?? "");
  return Object.assign(find, { any: all ?? anyRoute });
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
  /** Returns of routes that the store does not have yet. */
  const unshared = new Map<string, Trip>();
  const blocked = new Set<string>();
  let tripsText = "[]";
  let index = indexTrips([]);
  const document = createTripDocument(store, update);
  const scores = createScores(
    () => document.current().scores,
    () => plan().turnBack,
  );

  const trips = (): readonly Trip[] => {
    const { trips: shared } = document.current();
    const waiting = [...unshared.values()].filter((trip) => !shared.some((each) => isSameTarget(each, trip)));
    return [...shared, ...waiting];
  };

  function update(): void {
    const current = trips();
    const text = JSON.stringify(current);
    if (text === tripsText) return;
    tripsText = text;
    index = indexTrips(current);
    onChange(current, document.current().events);
  }

  const isWell = (route: string): boolean => isOldServiceUp() && health.isWell(route);

  const isReturned = (route: string): boolean =>
    plan().data.kind === "shared" ? index(undefined, route) !== undefined : index.any !== undefined;

  const tripFor = (route: string, { records }: RouteScores, cause: Cause): Trip => ({
    kind: "route",
    name: route,
    by: GATEWAY,
    at: new Date(clock()).toISOString(),
    reason: REASONS[cause],
    records,
    acceptsLostWrites: false,
    lostWrites: 0,
  });

  /** Turns a route back whose score says so, if the old service is well. */
  function consider(route: string): void {
    const found = scores.of(route);
    const cause = causeOf(found);
    if (!cause || isReturned(route) || !isTurned(plan(), route)) return void blocked.delete(route);
    if (isWell(route)) {
      blocked.delete(route);
      unshared.set(route, tripFor(route, found, cause));
      update();
      return;
    }
    if (!blocked.has(route))
      log.error(
        { code: "AG_ROLLOUT_NOT_TURNED_BACK", route, reason: REASONS[cause], records: found.records },
        "a route should return to the old service, which is not well: it stays",
      );
    blocked.add(route);
  }

  async function share(): Promise<void> {
    const taken = scores.take();
    if (taken.size === 0 && unshared.size === 0) return;
    try {
      await document.change(
        (state) => {
          let next = taken.size === 0 ? state : { ...state, scores: withSteps(state.scores, taken) };
          for (const route of taken.keys()) {
            const after = next.scores[route];
            const cause = after && causeOf(after);
            // What replicas have seen adds up.
            if (after && cause && isWell(route) && isTurned(plan(), route))
              next = withTrip(next, tripFor(route, after, cause));
          }
          for (const trip of unshared.values()) next = withTrip(next, trip);
          return next;
        },
        () => scores.shared(taken),
      );
      for (const [route, trip] of unshared)
        if (document.current().trips.some((each) => isSameTarget(each, trip))) unshared.delete(route);
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

  function see(route: string, cause: Cause, isBad: boolean, requestId: string | undefined): void {
    if (isReturned(route) || !isTurned(plan(), route)) return;
    const tolerated = cause === "failures" ? health.failureRate(route) : undefined;
    scores.note(route, cause, { isBad, requestId, ...(tolerated !== undefined && { tolerated }) });
    if (!isBad) return;
    consider(route);
    if (cause === "differences" || unshared.has(route)) void shareSoon();
  }

  return {
    isKnown: document.isKnown,
    state: document.current,
    trips,
    tripOf: (client, route) =>
      plan().data.kind === "shared"
        ? index(client, route)
        : // A client is on one side with all its routes.
          (index(client, null) ?? index.any),
    blocked: () => [...blocked],
    note({ source, result, route, requestId }) {
      if (source !== "legacy") return;
      if (result === "different") see(route, "differences", true, requestId);
      if (result === "equal" || result === "accepted") see(route, "differences", false, requestId);
    },
    noteNew: (route, hasFailed, requestId) => see(route, "failures", hasFailed, requestId),
    noteOld: health.note,
    async turnBack({ kind, name, by, reason, acceptsLostWrites, lostWrites }) {
      const at = new Date(clock()).toISOString();
      const trip: Trip = { kind, name, by, at, reason, records: [], acceptsLostWrites, lostWrites };
      await document.change((state) => withTrip(state, trip));
    },
    async resume({ kind, name, by, reason }) {
      const at = new Date(clock()).toISOString();
      if (kind === "route") unshared.delete(name);
      await document.change((state) => withoutTrip(state, { kind, name, by, at, reason }));
      update();
    },
    async tick() {
      await document.refresh();
      for (const route of new Set([...scores.routes(), ...blocked])) consider(route);
      await share();
    },
  };
}
