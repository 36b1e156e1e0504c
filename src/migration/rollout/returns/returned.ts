/** The returns to the old service: the shared ones, and those that this process could not share yet. */
import type { RolloutConfig } from "../rules.ts";
import { createSharedDocument, type DocumentStore } from "../../../base/index.ts";
import {
  isSameTarget,
  type RolloutEvent,
  type Trip,
  TRIP_DOCUMENT,
  type TripState,
  withoutTrip,
  withTrip,
} from "./trips.ts";

/** The returns. */
export type Returned = ReturnType<typeof createReturned>;

/** Called with all returns and the last events, the newest first, when different returns apply. */
export type OnTrips = (trips: readonly Trip[], events: readonly RolloutEvent[]) => void;

/** Indexes the trips by the keys of a request. */
function indexTrips(trips: readonly Trip[]) {
  const byName = (kind: Trip["kind"]): ReadonlyMap<string, Trip> =>
    new Map(trips.flatMap((trip) => (trip.kind === kind ? [[trip.name, trip] as const] : [])));
  const [all] = byName("all").values();
  const [byRoute, byClient] = [byName("route"), byName("client")];
  const [anyRoute] = byRoute.values();
  return {
    /** The trip of everything, otherwise of any route. */
    any: all ?? anyRoute,
    find(names: readonly string[], route: string | null): Trip | undefined {
      const name = names.find((each) => byClient.has(each));
      return all ?? byClient.get(name ?? "") ?? byRoute.get(route ?? "");
    },
  };
}

/** Creates the returns. No data is read yet. */
export function createReturned(store: DocumentStore, config: () => RolloutConfig, onChange: OnTrips) {
  const waiting = new Map<string, Trip>();
  let tripsText = "[]";
  let index = indexTrips([]);
  const document = createSharedDocument<TripState>(store, { ...TRIP_DOCUMENT, onRead: update });

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

  /**
   * Finds the trip that applies to a request: of everything, of its client, or of its route. With copies of the data, a
   * client is on one side with all its routes. @param names All names that the client has had
   */
  const tripOf = (names: readonly string[], route: string | null): Trip | undefined =>
    config().data.kind === "shared" ? index.find(names, route) : (index.find(names, null) ?? index.any);

  return {
    /** Returns whether the state store was read at least once. */
    isKnown: document.isKnown,
    /** The shared state of replicas. */
    state: document.current,
    /** Reads the shared state. @throws {StateUnavailableError} */
    refresh: document.refresh,
    /** Trips, including those that this process could not share yet. */
    trips,
    tripOf,
    /** Whether all clients of a route have returned to the old service. */
    hasReturned: (route: string): boolean => tripOf([], route) !== undefined,
    /** Returns a route: immediately in this process, and on other replicas after it was shared. */
    add(trip: Trip): void {
      waiting.set(trip.name, trip);
      update();
    },
    /** Whether the return of a route, or of any route, has not been shared yet. */
    isWaiting: (route?: string): boolean => (route === undefined ? waiting.size > 0 : waiting.has(route)),
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
  };
}
