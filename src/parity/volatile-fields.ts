/**
 * What is known about the old service from asking it twice: which fields differ from themselves, and what can still be
 * said about their values. Bounded, and as JSON small enough to be shared.
 */
import type { Difference } from "./comparison.ts";
import { judgePlainly, type JudgeScalar } from "./compare-values.ts";
import { formatsOf, positionOf } from "./value-format.ts";
import {
  countFormats,
  createFieldState,
  groupOf,
  halve,
  keyOf,
  MAX_FIELDS,
  MAX_FORMATS,
  parseState,
  VALUE,
  type FieldState,
  type RouteState,
  type VolatileState,
} from "./volatile-state.ts";

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
/** With more patterns than this the next one is no surprise. */
const MAX_PATTERNS = 3;
/** A new value may be this many times as far from the old one as two old ones are. */
const MARGIN = 3;
/** Clocks of two services may differ by so much: no time zone is as near to another one. */
const CLOCK_SKEW_MS = 300_000;
/** The share of later comparisons for which the old service is asked twice. */
const SAMPLE_SHARE = 0.01;

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

/** The distance of two numbers, or of two times in milliseconds; undefined for other values. */
function distanceOf(one: unknown, other: unknown): number | undefined {
  const distance = Math.abs((positionOf(one) ?? Number.NaN) - (positionOf(other) ?? Number.NaN));
  return Number.isFinite(distance) ? distance : undefined;
}

/** Whether a new value is farther from the old one than old ones are from each other, and than clocks are. */
function isOutOfRange({ spread }: FieldState, old: unknown, other: unknown): boolean {
  const distance = distanceOf(old, other);
  const skew = typeof old === "string" ? CLOCK_SKEW_MS : 0;
  return spread !== undefined && distance !== undefined && distance > Math.max(MARGIN * spread, skew);
}

/** The pairs of all routes of one old service. */
export class VolatileFields {
  readonly #routes = new Map<string, RouteState>();
  readonly #learningPairs: number;

  /**
   * @param state What was stored. Anything else counts as nothing.
   * @param learningPairs Pairs of a route before a difference is believed. Default: 20.
   */
  constructor(state: unknown = {}, learningPairs = LEARNING_PAIRS) {
    this.#learningPairs = learningPairs;
    for (const [route, each] of Object.entries(parseState(state))) this.#routes.set(route, each);
  }

  /** For `JSON.stringify`; the constructor takes it. */
  toJSON(): VolatileState {
    return Object.fromEntries(this.#routes);
  }

  /** Takes over each route of which others know more. @param state What was stored. Anything else counts as nothing. */
  adopt(state: unknown): void {
    for (const [route, each] of Object.entries(parseState(state)))
      if (each.total > (this.#routes.get(route)?.total ?? 0)) this.#routes.set(route, each);
  }

  /**
   * How the scalars of a route are compared.
   *
   * @param side What old values are compared with: the new ones of a first pair, which are counted, those of a second one,
   *   or old ones.
   */
  judge(route: string, side: "new" | "new again" | "old"): JudgeScalar {
    return (field, old, other) => {
      const state = this.#find(route, VALUE + field);
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

  /** All fields of a route whose values differ from themselves. */
  fieldsOf(route: string): ReadonlySet<string> {
    const names = Object.keys(this.#routes.get(route)?.fields ?? {}).flatMap((key) =>
      key.startsWith(VALUE) ? [key.slice(VALUE.length)] : [],
    );
    return new Set(names.filter((field) => this.isVolatile(route, field)));
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
      const state = this.#find(route, VALUE + field);
      if (state) {
        for (const value of pair) countFormats(state, 0, value);
        const distance = distanceOf(...pair);
        if (distance !== undefined) state.spread = Math.max(state.spread ?? 0, distance);
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
    const created: RouteState = { pairs: 0, total: 0, fields: {} };
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
    state.total += 1;
    if (state.pairs >= WINDOW) halve(state);
  }
}
