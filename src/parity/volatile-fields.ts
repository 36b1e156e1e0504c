/**
 * What is known about the old service from asking it twice: which fields differ from themselves, and what can still be
 * said about their values. Bounded, and as JSON small enough to be shared.
 */
import type { Difference, DifferenceKind } from "./comparison.ts";
import { judgePlainly, type JudgeScalar } from "./compare-values.ts";
import { formatsOf, positionOf } from "./value-format.ts";

/** What the pairs of a route show about one field and kind of difference. */
export interface FieldState {
  /** Pairs in which the old service differed from itself. */
  differing: number;
  /** Differences from the new answer that were found again, and that were not. */
  found: number;
  missed: number;
  /** The largest distance of two values of a pair: of numbers, or of times in milliseconds. */
  spread?: number;
  /** Number of values of the old and the new side whose formats were counted. */
  values: [old: number, new: number];
  formats: Record<string, [old: number, new: number]>;
}

/** What is known about one route. */
export interface RouteState {
  /** Pairs of answers of the old service to the same request. */
  pairs: number;
  fields: Record<string, FieldState>;
}

/** All of it, by the name of the route. */
export type VolatileState = Readonly<Record<string, RouteState>>;

/** Two values of a pair that are not the same. */
export interface ValuePair {
  readonly field: string;
  readonly values: readonly [old: unknown, oldAgain: unknown];
}

/** A field is volatile above this share of at least this number of pairs. */
const MAX_SHARE = 0.05;
const MIN_PAIRS = 50;
/** Pairs before a difference in a field that never differed from itself is believed. */
const LEARNING_PAIRS = 20;
/** All counters are halved at this number, so that they follow the service. */
const WINDOW = 2000;
const MAX_FIELDS = 200;
const MAX_FORMATS = 12;
/** With more patterns than this the next one is no surprise. */
const MAX_PATTERNS = 3;
/** A new value may be this many times as far from the old one as two old ones are. */
const MARGIN = 3;
/** The share of later comparisons for which the old service is asked twice. */
const SAMPLE_SHARE = 0.01;

/** Value and format are one thing here: a value in another format is another value. */
const groupOf = (kind: DifferenceKind): string => (kind === "format" ? "value" : kind);

/** What a difference is counted as. */
export const keyOf = ({ field, kind }: Pick<Difference, "field" | "kind">): string =>
  `${groupOf(kind)} ${field}`;

const createFieldState = (): FieldState => ({
  differing: 0,
  found: 0,
  missed: 0,
  values: [0, 0],
  formats: Object.create(null) as FieldState["formats"],
});

const half = (count: number): number => Math.floor(count / 2);

function halve(state: RouteState): void {
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
function countFormats(state: FieldState, side: 0 | 1, value: unknown): void {
  state.values[side] += 1;
  for (const format of formatsOf(value)) {
    if (state.formats[format]) state.formats[format][side] += 1;
    else if (Object.keys(state.formats).length < MAX_FORMATS)
      state.formats[format] = side === 0 ? [1, 0] : [0, 1];
  }
}

const decimals = (format: string): number =>
  format.startsWith("decimals ") ? Number(format.slice("decimals ".length)) : -1;

/** Whether a value is written in a way that neither the old value beside it nor earlier ones are. */
function hasNewFormat({ formats }: FieldState, old: unknown, other: unknown): boolean {
  const seen = Object.keys(formats).filter((format) => (formats[format]?.[0] ?? 0) > 0);
  const beside = formatsOf(old);
  const patterns = seen.filter((format) => format.startsWith("signs ")).length;
  const isFull = Object.keys(formats).length >= MAX_FORMATS;
  const mostDecimals = Math.max(-1, ...seen.map(decimals), ...beside.map(decimals));
  const isSurprising = (format: string): boolean => {
    if (beside.includes(format) || seen.includes(format) || isFull) return false;
    if (decimals(format) >= 0) return decimals(format) > mostDecimals;
    return !format.startsWith("signs ") || patterns <= MAX_PATTERNS;
  };
  return formatsOf(other).some(isSurprising);
}

/** Whether most old values are written in a way that none of many new ones is. */
const lacksFormat = ({ formats, values }: FieldState): boolean =>
  values[1] >= MIN_PAIRS && Object.values(formats).some(([old, other]) => other === 0 && old * 2 > values[0]);

/** Whether a new value is farther from the old one than old ones are from each other. */
function isOutOfRange({ spread }: FieldState, old: unknown, other: unknown): boolean {
  const [position, otherPosition] = [positionOf(old), positionOf(other)];
  if (spread === undefined || position === undefined || otherPosition === undefined) return false;
  return Math.abs(position - otherPosition) > MARGIN * spread;
}

/** The pairs of all routes of one old service. */
export class VolatileFields {
  readonly #routes = new Map<string, RouteState>();
  readonly #learningPairs: number;

  /** @param learningPairs Pairs of a route before a difference is believed. Default: 20. */
  constructor(state: VolatileState = {}, learningPairs = LEARNING_PAIRS) {
    this.#learningPairs = learningPairs;
    for (const [route, { pairs, fields }] of Object.entries(structuredClone(state)))
      this.#routes.set(route, { pairs, fields });
  }

  /** For `JSON.stringify`; the constructor takes it. */
  toJSON(): VolatileState {
    return Object.fromEntries(this.#routes);
  }

  /**
   * How the scalars of a route are compared.
   *
   * @param side What old values are compared with: the new ones of a first pair, which are counted, those of a second one,
   *   or old ones.
   */
  judge(route: string, side: "new" | "new again" | "old"): JudgeScalar {
    return (field, old, other) => {
      const state = this.#find(route, `value ${field}`);
      if (!state || !this.isVolatile(route, field)) return judgePlainly(field, old, other);
      if (side === "new") countFormats(state, 1, other);
      if (hasNewFormat(state, old, other) || (side !== "old" && lacksFormat(state))) return "format";
      return isOutOfRange(state, old, other) ? "value" : null;
    };
  }

  /** Whether values of a field differ from themselves. */
  isVolatile(route: string, field: string): boolean {
    return this.isNoise(route, { field, kind: "value" });
  }

  /** Whether the old service differs from itself as it differs from the new one. */
  isNoise(route: string, difference: Pick<Difference, "field" | "kind">): boolean {
    const pairs = this.#routes.get(route)?.pairs ?? 0;
    const { differing = 0 } = this.#find(route, keyOf(difference)) ?? {};
    return pairs >= MIN_PAIRS && differing > pairs * MAX_SHARE;
  }

  /**
   * Whether the old service should be asked twice after equal answers, too: for the first pairs of a route always, and
   * later for one in a hundred.
   *
   * @param random From 0 to 1.
   */
  needsPair(route: string, random: number): boolean {
    return (this.#routes.get(route)?.pairs ?? 0) < MIN_PAIRS || random < SAMPLE_SHARE;
  }

  /** Counts equal answers of both services as a pair that did not differ. */
  recordEqual(route: string): void {
    this.#countPair(route);
  }

  /** Counts a pair of the old service: its differences, and the values that are not the same. */
  recordPair(route: string, differences: readonly Difference[], values: readonly ValuePair[]): void {
    this.#countPair(route);
    for (const key of new Set(differences.map(keyOf))) {
      const state = this.#open(route, key);
      if (state) state.differing += 1;
    }
    for (const { field, values: pair } of values) {
      const state = this.#find(route, `value ${field}`);
      if (state) {
        for (const value of pair) countFormats(state, 0, value);
        const [from, to] = pair.map(positionOf);
        if (from !== undefined && to !== undefined)
          state.spread = Math.max(state.spread ?? 0, Math.abs(from - to));
      }
    }
  }

  /**
   * Counts a difference that was asked for again.
   *
   * @param isFound Whether it was there again, and the old service the same as before.
   * @returns whether it is believed: it was found, the service is known well enough, and it is no coincidence
   */
  recordAgain(route: string, difference: Pick<Difference, "field" | "kind">, isFound: boolean): boolean {
    const pairs = this.#routes.get(route)?.pairs ?? 0;
    const state = this.#open(route, keyOf(difference));
    if (!state) return false;
    if (!isFound) state.missed += 1;
    else state.found += 1;
    if (!isFound || pairs < this.#learningPairs) return false;
    const doubts = state.differing + state.missed;
    const { kind, field } = difference;
    // A volatile field was compared as one: its values are compared with what they may be.
    if (groupOf(kind) === "value" && this.isVolatile(route, field)) return true;
    return doubts === 0 || (pairs >= MIN_PAIRS && !this.isNoise(route, difference) && state.found > doubts);
  }

  #find(route: string, key: string): FieldState | undefined {
    const fields = this.#routes.get(route)?.fields;
    return fields && Object.hasOwn(fields, key) ? fields[key] : undefined;
  }

  #routeState(route: string): RouteState {
    const found = this.#routes.get(route);
    if (found) return found;
    const created: RouteState = { pairs: 0, fields: {} };
    this.#routes.set(route, created);
    return created;
  }

  /** The state of a field; undefined if a route has too many of them. */
  #open(route: string, key: string): FieldState | undefined {
    const found = this.#find(route, key);
    const { fields } = this.#routeState(route);
    if (found || Object.keys(fields).length >= MAX_FIELDS) return found;
    return (fields[key] = createFieldState());
  }

  #countPair(route: string): void {
    const state = this.#routeState(route);
    state.pairs += 1;
    if (state.pairs >= WINDOW) halve(state);
  }
}

/** Adds up what several replicas know. */
export function mergeVolatileStates(states: readonly VolatileState[]): VolatileState {
  const merged = new Map<string, RouteState>();
  for (const [route, { pairs, fields }] of states.flatMap((state) => Object.entries(state))) {
    const target = merged.get(route) ?? { pairs: 0, fields: {} };
    merged.set(route, target);
    target.pairs += pairs;
    for (const [key, field] of Object.entries(fields)) {
      if (!Object.hasOwn(target.fields, key) && Object.keys(target.fields).length >= MAX_FIELDS) continue;
      addField((target.fields[key] ??= createFieldState()), field);
    }
  }
  return Object.fromEntries(merged);
}

function addField(
  target: FieldState,
  { differing, found, missed, spread, values, formats }: FieldState,
): void {
  target.differing += differing;
  target.found += found;
  target.missed += missed;
  if (spread !== undefined) target.spread = Math.max(target.spread ?? 0, spread);
  target.values = [target.values[0] + values[0], target.values[1] + values[1]];
  for (const [format, [old, other]] of Object.entries(formats)) {
    const [oldSum, sum] = target.formats[format] ?? [0, 0];
    if (target.formats[format] || Object.keys(target.formats).length < MAX_FORMATS)
      target.formats[format] = [oldSum + old, sum + other];
  }
}
