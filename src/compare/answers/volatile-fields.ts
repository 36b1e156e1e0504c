/**
 * Knowledge about the old service that results from calling it twice: fields that vary, and the formats and distances
 * of their values. It is bounded, and small enough as JSON to be shared.
 */
import { z } from "zod";
import { createIsSameClient } from "../../gateway/index.ts";
import type { JudgeScalar } from "./compare.ts";
import type { Difference, DifferenceKind } from "./comparison.ts";
import { judgePlainly } from "./value-format.ts";
import {
  countFormats,
  countPair,
  type FieldState,
  fieldState,
  half,
  halve,
  judgeVolatile,
  type KnownField,
} from "./volatile-values.ts";

const count = z.number().nonnegative();

/** The knowledge from the requests of one client to a route. */
const clientState = z.object({
  /** Number of pairs of responses of the old service to the same request. */
  pairs: count,
  /** Number of all pairs, including those that are no longer considered. */
  total: count,
  fields: z.record(z.string(), fieldState),
});

/** The knowledge about all routes, by their names and by clients. */
const volatileState = z.record(z.string(), z.record(z.string(), clientState));

type ClientState = z.infer<typeof clientState>;
type RouteState = Record<string, ClientState>;

/** Number of pairs of a route after which the variation of its fields is known. */
const MIN_PAIRS = 50;
/** A field is volatile if it differs in more than this share of at least {@link MIN_PAIRS} pairs of several clients. */
const MAX_SHARE = 0.05;
/** Number of pairs before a difference is counted in a field that has never varied. */
const LEARNING_PAIRS = 20;
/** All counters are halved at this number, so that they follow changes of the service. */
const WINDOW = 2000;
/** The share of later comparisons for which the old service is called twice. */
const SAMPLE_SHARE = 0.01;
/** Maximum number of clients of a route, and of fields in the evidence of one client. */
const MAX_CLIENTS = 12;
const MAX_FIELDS = 50;

/** The group of a kind. Value and format are not distinguished here: a value in a different format is a different value. */
const groupOf = (kind: DifferenceKind): string => (kind === "format" ? "value" : kind);

/** The prefix of the keys of values. */
const VALUE = "value ";

/** The key under which a difference is counted: a kind and a field, so it is no name of `Object`'s own members. */
export const volatileKey = ({ field, kind }: Pick<Difference, "field" | "kind">): string =>
  `${groupOf(kind)} ${field}`;

/** Whether a difference is one of values, which are compared with the possible values of a volatile field. */
export const isOfValues = ({ kind }: Pick<Difference, "kind">): boolean => groupOf(kind) === "value";

/** Returns the name under which a route stores a client. An unnamed client may be stored under its token or its network. */
const knownAs = (route: RouteState, client: string): string =>
  Object.hasOwn(route, client) ? client : (Object.keys(route).find(createIsSameClient(client)) ?? client);

/**
 * Whether the evidence of clients shows that a field of the old service varies. At most {@link MIN_PAIRS} pairs of each
 * client are considered, and the client with the most evidence is ignored, because a client that writes while it reads
 * must not hide differences for all other clients.
 */
function isShownByClients(clients: readonly ClientState[], key: string): boolean {
  const weighed = clients.map((client) => {
    const pairs = Math.min(client.pairs, MIN_PAIRS);
    const { differing = 0 } = client.fields[key] ?? {};
    return { pairs, differing: pairs === 0 ? 0 : (differing * pairs) / client.pairs };
  });
  const [, ...rest] = weighed.sort((one, other) => other.differing - one.differing);
  const sum = (of: "pairs" | "differing"): number => rest.reduce((total, each) => total + each[of], 0);
  return sum("pairs") >= MIN_PAIRS && sum("differing") > sum("pairs") * MAX_SHARE;
}

/** Two values of a field in a pair that are not the same. */
export interface ValuePair {
  readonly field: string;
  readonly pair: readonly [old: unknown, oldAgain: unknown];
}

/** The pairs of all routes of one old service, by the clients that sent the requests. */
export class VolatileFields {
  readonly #routes: Record<string, RouteState> = {};
  /** Number of pairs of a route before a difference is treated as confirmed. */
  readonly learningPairs: number;

  /** @param state the stored state. Invalid values are ignored */
  constructor(state: unknown = {}, learningPairs = LEARNING_PAIRS) {
    this.learningPairs = learningPairs;
    this.adopt(state);
  }

  /** Returns the value for `JSON.stringify`. The constructor accepts it. */
  toJSON(): Record<string, RouteState> {
    return this.#routes;
  }

  /** Adopts the knowledge of other processes about clients for which they have more evidence. */
  adopt(state: unknown): void {
    for (const [name, clients] of Object.entries(volatileState.safeParse(state).data ?? {})) {
      const route = this.stateOf(name);
      for (const [client, known] of Object.entries(clients))
        if (known.total > (route[knownAs(route, client)]?.total ?? 0))
          Object.assign(this.openClient(name, client), known);
    }
  }

  /** Returns the knowledge about the old service that the comparisons of a client read and extend. */
  seenBy(client: string): ClientView {
    return new ClientView(this, client);
  }

  /** Whether values of a field vary in the old service. */
  isVolatile(route: string, field: string): boolean {
    return this.isNoise(route, { field, kind: "value" });
  }

  /** Returns all fields of a route whose values vary in the old service. */
  fieldsOf(route: string): ReadonlySet<string> {
    const clients = Object.values(this.#routes[route] ?? {});
    const keys = new Set(clients.flatMap(({ fields }) => Object.keys(fields)));
    const volatile = [...keys].filter((key) => key.startsWith(VALUE) && isShownByClients(clients, key));
    return new Set(volatile.map((key) => key.slice(VALUE.length)));
  }

  /**
   * Whether the old service's own responses differ in the same way as its response and the new one. Evidence of several
   * clients is required.
   */
  isNoise(route: string, difference: Pick<Difference, "field" | "kind">): boolean {
    return isShownByClients(Object.values(this.#routes[route] ?? {}), volatileKey(difference));
  }

  /** Returns the knowledge about a route, for extension. */
  stateOf(route: string): RouteState {
    return (this.#routes[route] ??= {});
  }

  /** The evidence of a client on a route. If there are too many clients, the one with the least evidence is replaced. */
  openClient(name: string, client: string): ClientState {
    const route = this.stateOf(name);
    const found = route[knownAs(route, client)];
    if (found) return found;
    const known = Object.entries(route);
    const [least] = known.sort(([, one], [, other]) => one.pairs - other.pairs);
    if (least && known.length >= MAX_CLIENTS) delete route[least[0]];
    return (route[client] = { pairs: 0, total: 0, fields: {} });
  }

  /** Returns the evidence of a client about a field; undefined if there are too many fields of the route. */
  openField(route: string, client: string, key: string): FieldState | undefined {
    const own = this.openClient(route, client);
    const found = own.fields[key];
    if (found || Object.keys(own.fields).length >= MAX_FIELDS) return found;
    return (own.fields[key] = fieldState.parse({}));
  }
}

/** Knowledge about the old service that the comparisons of one client read and extend. */
export class ClientView {
  readonly all: VolatileFields;
  readonly #client: string;

  constructor(all: VolatileFields, client: string) {
    this.all = all;
    this.#client = client;
  }

  /**
   * Creates the comparison of a route's scalars with those of the old service.
   *
   * @param others the other values: new values of a first pair, which are counted, new values of a second pair, or old
   *   values
   */
  judge(route: string, others: "new" | "new again" | "old"): JudgeScalar {
    const volatile = this.all.fieldsOf(route);
    return (field, old, other) => {
      if (!volatile.has(field)) return judgePlainly(field, old, other);
      const key = VALUE + field;
      if (others === "new") {
        const state = this.all.openField(route, this.#client, key);
        if (state) countFormats(state, 1, other);
      }
      return judgeVolatile(this.#knownOf(route, key), old, other, others === "old");
    };
  }

  /**
   * Whether to call the old service twice even after equal responses: always for the first pairs of a route, later in
   * one of a hundred cases.
   *
   * @param random a number from 0 to 1
   */
  needsPair(route: string, random: number): boolean {
    return this.#pairsOf(route) < MIN_PAIRS || random < SAMPLE_SHARE;
  }

  /** Counts equal responses of both services as a pair that did not differ. */
  recordEqual(route: string): void {
    const own = this.all.openClient(route, this.#client);
    own.pairs += 1;
    own.total += 1;
    if (own.pairs < WINDOW) return;
    own.pairs = half(own.pairs);
    for (const field of Object.values(own.fields)) halve(field);
  }

  /** Counts a pair of the old service: its differences, and the values that are not the same. */
  recordPair(route: string, differences: readonly Difference[], values: readonly ValuePair[]): void {
    this.recordEqual(route);
    for (const key of new Set(differences.map(volatileKey))) {
      const state = this.all.openField(route, this.#client, key);
      if (state) state.differing += 1;
    }
    const own = this.all.openClient(route, this.#client);
    for (const { field, pair } of values) {
      const state = own.fields[VALUE + field];
      if (state) countPair(state, pair);
    }
  }

  /**
   * Counts a difference for which both services were called again.
   *
   * @param isFound whether it was found again, and the old response was the same as before.
   * @returns whether it is confirmed: it was found, the service is known well enough, and chance is unlikely
   */
  recordAgain(route: string, difference: Pick<Difference, "field" | "kind">, isFound: boolean): boolean {
    const pairs = this.#pairsOf(route);
    const key = volatileKey(difference);
    const state = this.all.openField(route, this.#client, key);
    if (!state) return false;
    state[isFound ? "found" : "missed"] += 1;
    if (!isFound || pairs < this.all.learningPairs) return false;
    if (isOfValues(difference) && this.all.isVolatile(route, difference.field)) return true;
    const sum = (of: (field: FieldState) => number): number =>
      this.#weigh(route, ({ fields }) => (fields[key] ? of(fields[key]) : 0));
    const doubts = sum(({ differing, missed }) => differing + missed);
    const found = sum((each) => each.found);
    return doubts === 0 || (pairs >= MIN_PAIRS && !this.all.isNoise(route, difference) && found > doubts);
  }

  /**
   * Returns the sum of the counts of all clients except the other client with the most, because one client must not
   * outweigh the rest.
   */
  #weigh(route: string, of: (state: ClientState) => number): number {
    const states = this.all.stateOf(route);
    const { [knownAs(states, this.#client)]: own, ...others } = states;
    const values = Object.values(others).map(of);
    const sum = values.reduce((total, value) => total + value, own ? of(own) : 0);
    return sum - Math.max(0, ...values);
  }

  #pairsOf(route: string): number {
    return this.#weigh(route, ({ pairs }) => pairs);
  }

  #knownOf(route: string, key: string): KnownField {
    const states = this.all.stateOf(route);
    const { [knownAs(states, this.#client)]: own, ...others } = states;
    return {
      own: own?.fields[key],
      others: Object.values(others).flatMap(({ fields }) => fields[key] ?? []),
    };
  }
}
