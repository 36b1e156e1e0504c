/** The returns to the old service, and the scores of routes: the state of a rollout that all replicas share. */
import { z } from "zod";
import { withoutScores, type Evidence } from "./evidence.ts";
import { createSharedDocument, type DocumentStore, type SharedDocument } from "../../../base/index.ts";

/** The subject of a return: one route, one client, or everything. */
export interface TripTarget {
  readonly kind: "route" | "client" | "all";
  /** Name of the route or of the client; `all`. */
  readonly name: string;
}

/** A return to the old service. Only a person ends it. */
export interface Trip extends TripTarget {
  /** The person who did it; `gateway`: an automatic return. */
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly reason: string | null;
  /** Ids of the requests that showed it. */
  readonly records: readonly string[];
}

/** Somebody turned something back, or let it continue. */
export interface RolloutEvent extends TripTarget {
  readonly action: "turn_back" | "resume";
  readonly by: string;
  readonly at: string;
  readonly reason: string | null;
}

/** The evidence against the translation on a route. */
export interface RouteScores {
  /** Confirmed differences. */
  readonly differences: Evidence;
  /** Failures of the translation. */
  readonly failures: Evidence;
  /** Ids of the requests that raised them, newest last. */
  readonly records: readonly string[];
}

/** The shared state of replicas. */
export interface TripState {
  readonly trips: readonly Trip[];
  /** By the name of the route. */
  readonly scores: Readonly<Record<string, RouteScores>>;
  /** The last events, newest first. */
  readonly events: readonly RolloutEvent[];
}

/** Nothing has returned. */
export const NO_TRIPS: TripState = { trips: [], scores: {}, events: [] };

const KEY = "rollout:trips";
const MAX_EVENTS = 50;
/** More trips than routes and clients of any rollout. The whole file is one entry. */
const MAX_TRIPS = 2000;
/** Requests that a trip names. */
export const MAX_RECORDS = 10;

const target = z.object({ kind: z.enum(["route", "client", "all"]), name: z.string() });
const action = target.extend({ by: z.string(), at: z.iso.datetime(), reason: z.string().nullable() });

const evidence = z.array(z.object({ client: z.string(), seenAt: z.number(), score: z.number() }));

const schema: z.ZodType<TripState> = z.object({
  trips: z.array(action.extend({ records: z.array(z.string()) })),
  // Scores of another form start at zero. What has returned stays.
  scores: z
    .record(z.string(), z.object({ differences: evidence, failures: evidence, records: z.array(z.string()) }))
    .catch({}),
  events: z.array(action.extend({ action: z.enum(["turn_back", "resume"]) })),
});

/** The shared state in a store. */
export const createTripDocument = (
  store: DocumentStore,
  onRead?: (state: TripState) => void,
): SharedDocument<TripState> =>
  createSharedDocument(store, { key: KEY, schema, empty: NO_TRIPS, ...(onRead && { onRead }) });

/** Whether two targets are the same. */
export const isSameTarget = (one: TripTarget, other: TripTarget): boolean =>
  one.kind === other.kind && one.name === other.name;

const withEvent = (
  { events }: TripState,
  event: RolloutEvent["action"],
  { kind, name, by, at, reason }: RolloutEvent | Trip,
): readonly RolloutEvent[] => [{ action: event, kind, name, by, at, reason }, ...events].slice(0, MAX_EVENTS);

/** Scores that start at zero when something returns or is resumed. Who is served stays known. */
function cleared(
  { scores }: TripState,
  { kind, name, at }: TripTarget & { readonly at: string },
): TripState["scores"] {
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

/** Adds a trip. Of two for the same target the first stays. */
export function withTrip(state: TripState, trip: Trip): TripState {
  if (state.trips.some((each) => isSameTarget(each, trip))) return state;
  return {
    trips: [...state.trips, trip].slice(-MAX_TRIPS),
    scores: cleared(state, trip),
    events: withEvent(state, "turn_back", trip),
  };
}

/** Ends a trip. The counters of its route start again. */
export function withoutTrip(
  state: TripState,
  ended: TripTarget & Pick<RolloutEvent, "by" | "at" | "reason">,
): TripState {
  const trips = state.trips.filter((each) => !isSameTarget(each, ended));
  if (trips.length === state.trips.length) return state;
  return {
    trips,
    scores: cleared(state, ended),
    events: withEvent(state, "resume", { action: "resume", ...ended }),
  };
}
