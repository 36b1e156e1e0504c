/** The returns to the old service: the shared ones, and those that this process could not share yet. */
import type { RolloutConfig } from "../rules.ts";
import type { DocumentStore } from "../../../base/index.ts";
import {
  createTripDocument,
  isSameTarget,
  withoutTrip,
  withTrip,
  type RolloutEvent,
  type Trip,
  type TripState,
} from "./trips.ts";

/** The returns. */
export type Returned = ReturnType<typeof createReturned>;

/**
 * Finds the trip that applies to a request: of everything, of its client, or of its route. @param names All names that
 * the client has had
 */
type FindTrip = (names: readonly string[], route: string | null) => Trip | undefined;

/** Indexes the trips by the keys of a request. */
function indexTrips(trips: readonly Trip[]): FindTrip & { readonly any: Trip | undefined } {
  const byRoute = new Map<string, Trip>();
  const byClient = new Map<string, Trip>();
  let all: Trip | undefined;
  for (const trip of trips) {
    if (trip.kind === "all") all = trip;
    else (trip.kind === "route" ? byRoute : byClient).set(trip.name, trip);
  }
  const [anyRoute] = byRoute.values();
  function find(names: readonly string[], route: string | null): Trip | undefined {
    const name = names.find((each) => byClient.has(each));
    return all ?? byClient.get(name ?? "") ?? byRoute.get(route ?? "");
  }
  return Object.assign(find, { any: all ?? anyRoute });
}

/** Creates the returns. No data is read yet. @param onChange Called with the last events when different trips apply */
export function createReturned(
  store: DocumentStore,
  config: () => RolloutConfig,
  onChange: (trips: readonly Trip[], events: readonly RolloutEvent[]) => void,
) {
  const waiting = new Map<string, Trip>();
  let tripsText = "[]";
  let index = indexTrips([]);
  const document = createTripDocument(store, update);

  const isShared = (trip: Trip): boolean => document.current().trips.some((each) => isSameTarget(each, trip));
  const trips = (): readonly Trip[] => [
    ...document.current().trips,
    ...[...waiting.values()].filter((trip) => !isShared(trip)),
  ];

  function update(): void {
    const current = trips();
    const text = JSON.stringify(current);
    if (text === tripsText) return;
    tripsText = text;
    index = indexTrips(current);
    onChange(current, document.current().events);
  }

  const tripOf: FindTrip = (names, route) =>
    config().data.kind === "shared"
      ? index(names, route)
      : // A client is on one side with all its routes.
        (index(names, null) ?? index.any);

  return {
    /** Returns whether the state store was read at least once. */
    isKnown: document.isKnown,
    /** The shared state of replicas. */
    state: document.current,
    /** Trips, including those that this process could not share yet. */
    trips,
    tripOf,
    /** Whether all clients of a route have returned to the old service. */
    hasReturned: (route: string): boolean =>
      config().data.kind === "shared" ? index([], route) !== undefined : index.any !== undefined,
    /** Returns a route: immediately in this process, and on other replicas after it was shared. */
    add(trip: Trip): void {
      waiting.set(trip.name, trip);
      update();
    },
    /** Whether the return of a route has not been shared yet. */
    isWaiting: (route: string): boolean => waiting.has(route),
    /** Whether any return has not been shared yet. */
    hasWaiting: (): boolean => waiting.size > 0,
    /**
     * Changes the shared state, and shares waiting changes.
     *
     * @param onWritten called after the state was written
     * @throws {StateUnavailableError}
     */
    async share(apply: (state: TripState) => TripState, onWritten: () => void): Promise<void> {
      await document.change((state) => [...waiting.values()].reduce(withTrip, apply(state)), onWritten);
      for (const [route, trip] of waiting) if (isShared(trip)) waiting.delete(route);
    },
    /** Returns something. @throws {StateUnavailableError} */
    turnBack: (trip: Trip): Promise<void> => document.change((state) => withTrip(state, trip)),
    /** Ends a trip. @throws {StateUnavailableError} */
    async resume(ended: Omit<Trip, "records">): Promise<void> {
      if (ended.kind === "route") waiting.delete(ended.name);
      await document.change((state) => withoutTrip(state, ended));
      update();
    },
    /** Reads the shared state. @throws {StateUnavailableError} */
    refresh: document.refresh,
  };
}
