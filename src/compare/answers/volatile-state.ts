/** The stored knowledge about the fields of an old service. */
import { z } from "zod";
import type { Difference, DifferenceKind } from "./comparison.ts";
import { createIsSameClient } from "../../gateway/index.ts";
import { formatsOf } from "./value-format.ts";

const count = z.number().nonnegative();

/** The values of the old and of the new side. */
const counts = z.tuple([count, count]);

/** The pairs of a route for one field and kind of difference. */
const fieldState = z.object({
  /** Pairs in which the old service varied by itself. */
  differing: count.default(0),
  /** Differences from the new answer that were found again, and that were not. */
  found: count.default(0),
  missed: count.default(0),
  /** The largest distance of two values of a pair: of numbers, or of times in milliseconds. */
  spread: count.optional(),
  /** Number of values whose formats were counted. */
  values: counts.default([0, 0]),
  formats: z.record(z.string(), counts).default({}),
});

/** The requests of one client to a route. */
const clientState = z.object({
  /** Number of pairs of answers of the old service to the same request. */
  pairs: count,
  /** Number of all pairs, including those that no longer count. */
  total: count,
  fields: z.record(z.string(), fieldState),
});

/** The knowledge about one route, by clients. */
const routeState = z.record(z.string(), clientState);

const volatileState = z.record(z.string(), routeState);

export type FieldState = z.infer<typeof fieldState>;
export type ClientState = z.infer<typeof clientState>;
export type RouteState = z.infer<typeof routeState>;

/** The knowledge about all routes, by their names. */
export type VolatileState = z.infer<typeof volatileState>;

/** Number of pairs of a route after which the variation of its fields is known. */
export const MIN_PAIRS = 50;

/** Clients of a route, fields that one client shows of it, and formats of a field. */
const MAX_CLIENTS = 12;
export const MAX_FIELDS = 50;
export const MAX_FORMATS = 12;

/** Reads the stored state. Other values are ignored. */
export const parseState = (state: unknown): VolatileState => volatileState.safeParse(state).data ?? {};

/** Value and format are not distinguished here: a value in another format is another value. */
export const groupOf = (kind: DifferenceKind): string => (kind === "format" ? "value" : kind);

/** The start of the keys of values. */
export const VALUE = "value ";

/** The key under which a difference is counted. */
export const keyOf = ({ field, kind }: Pick<Difference, "field" | "kind">): string =>
  `${groupOf(kind)} ${field}`;

/** A field without any knowledge. */
export const createFieldState = (): FieldState => fieldState.parse({});

/**
 * The name under which a route stores a client. A client without a name may be stored under its token or its network.
 */
export const knownAs = (route: RouteState, client: string): string =>
  Object.hasOwn(route, client) ? client : (Object.keys(route).find(createIsSameClient(client)) ?? client);

/** The evidence of a client on a route. With too many clients it replaces the client with the least evidence. */
export function openClient(route: RouteState, client: string): ClientState {
  const name = knownAs(route, client);
  const found = route[name];
  if (found) return found;
  const known = Object.entries(route);
  const [least] = known.sort(([, one], [, other]) => one.pairs - other.pairs);
  if (least && known.length >= MAX_CLIENTS) delete route[least[0]];
  return (route[client] = { pairs: 0, total: 0, fields: {} });
}

const half = (count: number): number => Math.floor(count / 2);

/** Halves all counters of a client. */
export function halve(state: ClientState): void {
  state.pairs = half(state.pairs);
  for (const field of Object.values(state.fields)) {
    field.differing = half(field.differing);
    field.found = half(field.found);
    field.missed = half(field.missed);
    field.values = [half(field.values[0]), half(field.values[1])];
    for (const counts of Object.values(field.formats)) counts.splice(0, 2, half(counts[0]), half(counts[1]));
  }
}

/** Counts the formats of a value. @param side 0: the old one. 1: the new one */
export function countFormats(state: FieldState, side: 0 | 1, value: unknown): void {
  state.values[side] += 1;
  for (const format of formatsOf(value)) {
    if (state.formats[format]) state.formats[format][side] += 1;
    else if (Object.keys(state.formats).length < MAX_FORMATS)
      state.formats[format] = side === 0 ? [1, 0] : [0, 1];
  }
}

/** Adds the knowledge of other processes about a route: for each client the larger number of pairs. */
export function mergeRoute(into: RouteState, from: RouteState): void {
  for (const [client, state] of Object.entries(from))
    if (state.total > (into[knownAs(into, client)]?.total ?? 0))
      Object.assign(openClient(into, client), state);
}

/** The merged knowledge of several processes. Its objects are copies. */
export function mergeVolatileStates(states: readonly VolatileState[]): VolatileState {
  const merged = new Map<string, RouteState>();
  for (const [route, state] of states.flatMap((each) => Object.entries(structuredClone(each)))) {
    const known = merged.get(route) ?? {};
    merged.set(route, known);
    mergeRoute(known, state);
  }
  return Object.fromEntries(merged);
}
