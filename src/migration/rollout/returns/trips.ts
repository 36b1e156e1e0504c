/** The returns to the old service, and the scores of routes: the state of a roll-out that all replicas share. */
import { z } from "zod";
import { EVIDENCE, withoutScores } from "./evidence.ts";

/** The subject of a return: one route, one client, or everything. */
const target = z.object({
  kind: z.enum(["route", "client", "all"]),
  /** Name of the route or of the client, or `all`. */
  name: z.string(),
});
export type TripTarget = z.output<typeof target>;

const action = target.extend({
  /** The person, or `gateway` for an automatic return. */
  by: z.string(),
  at: z.iso.datetime(),
  reason: z.string().nullable(),
});

const texts = z.array(z.string()).readonly();

/** A return to the old service. Only a person can end it. */
const trip = action.extend({
  /** Ids of the requests that caused it. */
  records: texts,
});
export type Trip = z.output<typeof trip>;

/** A return, or the end of one. */
const rolloutEvent = action.extend({ action: z.enum(["turn_back", "resume"]) });
export type RolloutEvent = z.output<typeof rolloutEvent>;

/** The evidence against the translation on a route. */
const routeScores = z.object({
  /** Confirmed differences. */
  differences: EVIDENCE,
  /** Failures of the translation. */
  failures: EVIDENCE,
  /** Ids of the requests that raised the scores, newest last. */
  records: texts,
});
export type RouteScores = z.output<typeof routeScores>;

/** The shared state of replicas. */
const tripState = z.object({
  trips: z.array(trip).readonly(),
  /** The scores by the name of the route. Scores in an invalid form are reset to zero. Returns are kept. */
  scores: z.record(z.string(), routeScores).catch({}),
  /** The last events, newest first. */
  events: z.array(rolloutEvent).readonly(),
});
export type TripState = z.output<typeof tripState>;

const MAX_EVENTS = 50;
/** Maximum number of trips: more than the routes and clients of any roll-out. The whole state is one entry. */
const MAX_TRIPS = 2000;
/** Maximum number of requests in a trip. */
export const MAX_RECORDS = 10;

export const TRIP_DOCUMENT = {
  key: "rollout:trips",
  schema: tripState,
  empty: { trips: [], scores: {}, events: [] },
} as const;

/** Whether two targets are the same. */
export const isSameTarget = (one: TripTarget, other: TripTarget): boolean =>
  one.kind === other.kind && one.name === other.name;

const withEvent = (
  { events }: TripState,
  event: RolloutEvent["action"],
  { kind, name, by, at, reason }: Omit<Trip, "records">,
): readonly RolloutEvent[] => [{ action: event, kind, name, by, at, reason }, ...events].slice(0, MAX_EVENTS);

/** Resets the scores after a return or its end. Served clients stay known. */
function cleared({ scores }: TripState, { kind, name, at }: Omit<Trip, "records">): TripState["scores"] {
  const now = Date.parse(at) / 1000;
  const isMeant = (route: string): boolean => kind === "all" || (kind === "route" && name === route);
  const clear = ({ differences, failures }: RouteScores): RouteScores => ({
    differences: withoutScores(differences, now),
    failures: withoutScores(failures, now),
    records: [],
  });
  return Object.fromEntries(
    Object.entries(scores).map(([route, each]) => [route, isMeant(route) ? clear(each) : each]),
  );
}

/** Adds a trip. If there is already a trip for the same target, it is kept. */
export function withTrip(state: TripState, trip: Trip): TripState {
  if (state.trips.some((each) => isSameTarget(each, trip))) return state;
  return {
    trips: [...state.trips, trip].slice(-MAX_TRIPS),
    scores: cleared(state, trip),
    events: withEvent(state, "turn_back", trip),
  };
}

/** Ends a trip. The scores of its route are reset. */
export function withoutTrip(state: TripState, ended: Omit<Trip, "records">): TripState {
  const trips = state.trips.filter((each) => !isSameTarget(each, ended));
  if (trips.length === state.trips.length) return state;
  return {
    trips,
    scores: cleared(state, ended),
    events: withEvent(state, "resume", ended),
  };
}
