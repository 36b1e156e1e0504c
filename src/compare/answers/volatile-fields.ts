/**
 * Knowledge about the old service from asking it twice: fields that vary by themselves, and the distances of their
 * values. It is bounded, and small enough as JSON to be shared.
 */
import type { Difference } from "./comparison.ts";
import type { JudgeScalar } from "./compare.ts";
import { judgePlainly } from "./compare-answers.ts";
import {
  countFormats,
  createFieldState,
  groupOf,
  halve,
  keyOf,
  knownAs,
  MAX_FIELDS,
  MIN_PAIRS,
  mergeRoute,
  openClient,
  parseState,
  VALUE,
  type ClientState,
  type FieldState,
  type RouteState,
  type VolatileState,
} from "./volatile-state.ts";
import { distanceOf, judgeVolatile, type KnownField } from "./volatile-values.ts";

/** Two values of a pair that are not the same. */
export interface ValuePair {
  readonly field: string;
  readonly values: readonly [old: unknown, oldAgain: unknown];
}

/** A field is volatile above this share of at least {@link MIN_PAIRS} pairs of several clients. */
const MAX_SHARE = 0.05;
/** Number of pairs before a difference counts in a field that has never varied by itself. */
const LEARNING_PAIRS = 20;
/** All counters are halved at this number, so that they follow changes of the service. */
const WINDOW = 2000;
/** The share of later comparisons for which the old service is asked twice. */
const SAMPLE_SHARE = 0.01;

const fieldOf = ({ fields }: ClientState, key: string): FieldState | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : undefined;

/**
 * Whether clients show that a field of the old service varies by itself. No client counts for more than {@link
 * MIN_PAIRS} pairs, and the client with the most evidence is ignored, because a client that writes while it reads
 * must not hide differences for all others.
 */
function isShownByClients(clients: readonly ClientState[], key: string): boolean {
  const weighed = clients.map((client) => {
    const pairs = Math.min(client.pairs, MIN_PAIRS);
    const { differing = 0 } = fieldOf(client, key) ?? {};
    return { pairs, differing: pairs === 0 ? 0 : (differing * pairs) / client.pairs };
  });
  const [, ...rest] = weighed.sort((one, other) => other.differing - one.differing);
  const sum = (of: "pairs" | "differing"): number => rest.reduce((total, each) => total + each[of], 0);
  return sum("pairs") >= MIN_PAIRS && sum("differing") > sum("pairs") * MAX_SHARE;
}

/** The pairs of all routes of one old service, by the clients that asked for them. */
export class VolatileFields {
  readonly #routes = new Map<string, RouteState>();
  /** Pairs of a route before a difference is believed. */
  readonly learningPairs: number;

  /**
   * @param state The stored state. Other values are ignored.
   */
  constructor(state: unknown = {}, learningPairs = LEARNING_PAIRS) {
    this.learningPairs = learningPairs;
    this.adopt(state);
  }

  /** For `JSON.stringify`. The constructor accepts it. */
  toJSON(): VolatileState {
    return Object.fromEntries(this.#routes);
  }

  /**
   * Takes over the knowledge of other processes about clients that they have seen more often. @param state The stored
   * state. Other values are ignored.
   */
  adopt(state: unknown): void {
    for (const [route, each] of Object.entries(parseState(state))) mergeRoute(this.stateOf(route), each);
  }

  /** Knowledge about the old service that the comparisons of a client read and extend. */
  seenBy(client: string): ClientView {
    return new ClientView(this, client);
  }

  /** Whether values of a field vary by themselves. */
  isVolatile(route: string, field: string): boolean {
    return this.isNoise(route, { field, kind: "value" });
  }

  /** All fields of a route whose values vary by themselves. */
  fieldsOf(route: string): ReadonlySet<string> {
    const clients = Object.values(this.#routes.get(route) ?? {});
    const keys = new Set(clients.flatMap(({ fields }) => Object.keys(fields)));
    const volatile = [...keys].filter((key) => key.startsWith(VALUE) && isShownByClients(clients, key));
    return new Set(volatile.map((key) => key.slice(VALUE.length)));
  }

  /**
   * Whether the old service varies by itself in the same way as it differs from the new one. Several clients must
   * show it.
   */
  isNoise(route: string, difference: Pick<Difference, "field" | "kind">): boolean {
    return isShownByClients(Object.values(this.#routes.get(route) ?? {}), keyOf(difference));
  }

  /** The knowledge about a route, to be extended. */
  stateOf(route: string): RouteState {
    const found = this.#routes.get(route);
    if (found) return found;
    const created: RouteState = {};
    this.#routes.set(route, created);
    return created;
  }
}

/** Knowledge about the old service, as the comparisons of one client read and extend it. */
export class ClientView {
  readonly all: VolatileFields;
  readonly #client: string;

  /** See {@link VolatileFields.seenBy}. */
  constructor(all: VolatileFields, client: string) {
    this.all = all;
    this.#client = client;
  }

  /**
   * How the scalars of a route are compared.
   *
   * @param side The values that old ones are compared with: new values of a first pair, which are counted, new values
   * of a second pair, or old values.
   */
  judge(route: string, side: "new" | "new again" | "old"): JudgeScalar {
    const volatile = this.all.fieldsOf(route);
    return (field, old, other) => {
      if (!volatile.has(field)) return judgePlainly(field, old, other);
      if (side === "new") {
        const state = this.#open(route, VALUE + field);
        if (state) countFormats(state, 1, other);
      }
      return judgeVolatile(this.#knownOf(route, VALUE + field), old, other, side === "old");
    };
  }

  /**
   * Whether the old service should be asked twice after equal answers, too: always for the first pairs of a route,
   * and later in one of a hundred cases.
   *
   * @param random From 0 to 1.
   */
  needsPair(route: string, random: number): boolean {
    return this.#pairsOf(route) < MIN_PAIRS || random < SAMPLE_SHARE;
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
      const state = fieldOf(this.#own(route), VALUE + field);
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
    const pairs = this.#pairsOf(route);
    const key = keyOf(difference);
    const state = this.#open(route, key);
    if (!state) return false;
    if (!isFound) state.missed += 1;
    else state.found += 1;
    if (!isFound || pairs < this.all.learningPairs) return false;
    const { kind, field } = difference;
    // A volatile field: its values are compared with its possible values.
    if (groupOf(kind) === "value" && this.all.isVolatile(route, field)) return true;
    const sum = (of: (field: FieldState) => number): number =>
      this.#weigh(route, (client) => {
        const own = fieldOf(client, key);
        return own ? of(own) : 0;
      });
    const doubts = sum(({ differing, missed }) => differing + missed);
    const found = sum((each) => each.found);
    return doubts === 0 || (pairs >= MIN_PAIRS && !this.all.isNoise(route, difference) && found > doubts);
  }

  /**
   * The sum of the counts of this client and the others, without the other client with the most, because one client
   * must not outweigh the rest.
   */
  #weigh(route: string, of: (state: ClientState) => number): number {
    let sum = 0;
    let most = 0;
    const states = this.all.stateOf(route);
    const own = knownAs(states, this.#client);
    for (const [client, state] of Object.entries(states)) {
      const value = of(state);
      sum += value;
      if (client !== own) most = Math.max(most, value);
    }
    return sum - most;
  }

  #pairsOf(route: string): number {
    return this.#weigh(route, ({ pairs }) => pairs);
  }

  #own(route: string): ClientState {
    return openClient(this.all.stateOf(route), this.#client);
  }

  #knownOf(route: string, key: string): KnownField {
    const states = this.all.stateOf(route);
    const { [knownAs(states, this.#client)]: own, ...others } = states;
    return {
      own: own && fieldOf(own, key),
      others: Object.values(others).flatMap((client) => fieldOf(client, key) ?? []),
    };
  }

  /** The state of a field; undefined if the client shows too many of them. */
  #open(route: string, key: string): FieldState | undefined {
    const own = this.#own(route);
    const found = fieldOf(own, key);
    if (found || Object.keys(own.fields).length >= MAX_FIELDS) return found;
    return (own.fields[key] = createFieldState());
  }

  #countPair(route: string): void {
    const own = this.#own(route);
    own.pairs += 1;
    own.total += 1;
    if (own.pairs >= WINDOW) halve(own);
  }
}
