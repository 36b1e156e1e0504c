/** The returns to the old service: those that replicas share, and those that this process could not share yet. */
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
  type TripTarget,
} from "./trips.ts";

/** The returns. */
export interface Returned {
  /** Whether the state store was read once. */
  readonly isKnown: () => boolean;
  /** The shared state of replicas. */
  readonly state: () => TripState;
  /** The trip of a request: that of everything, of its client, or of its route. @param names All that its client was ever called */
  tripOf(names: readonly string[], route: string | null): Trip | undefined;
  /** Trips, with those that this process could not share yet. */
  trips(): readonly Trip[];
  /** Whether the old service serves a route again, for all clients. */
  hasReturned(route: string): boolean;
  /** A route returns: here at once, elsewhere once it is shared. */
  add(trip: Trip): void;
  /** Whether the return of a route waits to be shared. */
  isWaiting(route: string): boolean;
  /** Whether any return waits to be shared. */
  hasWaiting(): boolean;
  /**
   * Changes what is shared, and shares what waits.
   *
   * @param onWritten Called once it is written.
   * @throws {StateUnavailableError}
   */
  share(apply: (state: TripState) => TripState, onWritten: () => void): Promise<void>;
  /** Returns something. @throws {StateUnavailableError} */
  turnBack(trip: Trip): Promise<void>;
  /** Ends a trip. @throws {StateUnavailableError} */
  resume(ended: TripTarget & Pick<RolloutEvent, "by" | "at" | "reason">): Promise<void>;
  /** Reads what is shared. @throws {StateUnavailableError} */
  refresh(): Promise<void>;
}

/** The trips by the keys of a request. */
function indexTrips(trips: readonly Trip[]): Returned["tripOf"] & { readonly any: Trip | undefined } {
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

/** Creates it. Nothing is read yet. @param onChange Called when other trips apply, with the last events */
export function createReturned(
  store: DocumentStore,
  config: () => RolloutConfig,
  onChange: (trips: readonly Trip[], events: readonly RolloutEvent[]) => void,
): Returned {
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

  return {
    isKnown: document.isKnown,
    state: document.current,
    trips,
    tripOf: (names, route) =>
      config().data.kind === "shared"
        ? index(names, route)
        : // A client is on one side with all its routes.
          (index(names, null) ?? index.any),
    hasReturned: (route) =>
      config().data.kind === "shared" ? index([], route) !== undefined : index.any !== undefined,
    add(trip) {
      waiting.set(trip.name, trip);
      update();
    },
    isWaiting: (route) => waiting.has(route),
    hasWaiting: () => waiting.size > 0,
    async share(apply, onWritten) {
      await document.change((state) => [...waiting.values()].reduce(withTrip, apply(state)), onWritten);
      for (const [route, trip] of waiting) if (isShared(trip)) waiting.delete(route);
    },
    turnBack: (trip) => document.change((state) => withTrip(state, trip)),
    async resume(ended) {
      if (ended.kind === "route") waiting.delete(ended.name);
      await document.change((state) => withoutTrip(state, ended));
      update();
    },
    refresh: document.refresh,
  };
}
