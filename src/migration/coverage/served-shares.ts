/**
 * The share of its calls that a pack would serve, for each client. The mean is over clients instead of calls, so that a
 * client can't gain influence by sending more.
 */
import { isObject } from "../../base/index.ts";
import { partsOf, ProvenClients } from "../../gateway/index.ts";
import type { ObservedCall } from "./observed-call.ts";

/** The joint result of the clients. */
export type ClientMean = ReturnType<ServedShares["result"]>;

/** Maximum number of clients that are counted separately. The others are counted as one. */
const MOST_CLIENTS = 10_000;
/** The name of the client for all others. */
const OTHERS = "";
/** Maximum number of cases of one client. Further cases contain nothing new. */
const MOST_CASES = 200;

interface Client {
  isWholeArchive: boolean;
  calls: number;
  /** Whether each case would be served in all its occurrences. */
  readonly cases: Map<string, boolean>;
}

const memberNames = (value: unknown): readonly string[] =>
  isObject(value) ? Object.keys(value).toSorted() : [];

/** Returns the parts of a call that identify its case: its method, its route, and the names that it contains. */
const caseOf = ({ method, query, filter, body }: ObservedCall, route: string): string =>
  JSON.stringify([
    method,
    route,
    [...new Set(new URLSearchParams(query).keys())].toSorted(),
    filter !== null,
    memberNames(body),
  ]);

const shareOf = ({ cases }: Client): number => [...cases.values()].filter(Boolean).length / cases.size;

/** Returns the mean without the highest value. Null if no value remains. */
function meanWithoutBest(shares: readonly number[]): number | null {
  const counted = shares.toSorted((one, other) => one - other).slice(0, -1);
  return counted.length === 0 ? null : counted.reduce((sum, share) => sum + share, 0) / counted.length;
}

function meanOf(clients: readonly Client[]): number | null {
  const [only] = clients;
  // The creator of an archive knows which clients it contains.
  return only?.isWholeArchive && clients.length === 1 ? shareOf(only) : meanWithoutBest(clients.map(shareOf));
}

const createClient = (isWholeArchive: boolean): Client => ({ isWholeArchive, calls: 0, cases: new Map() });

function addCase({ cases }: Client, key: string, isServed: boolean): void {
  if (cases.has(key) || cases.size < MOST_CASES) cases.set(key, isServed && cases.get(key) !== false);
}

/** Adds the calls of a sender to the client with that name. */
function addTo(clients: Map<string, Client>, name: string, { isWholeArchive, calls, cases }: Client): void {
  const key = clients.has(name) || clients.size < MOST_CLIENTS ? name : OTHERS;
  const client = clients.get(key) ?? createClient(isWholeArchive);
  clients.set(key, client);
  client.calls += calls;
  for (const [sent, isServed] of cases) addCase(client, sent, isServed);
}

const networkOf = (by: string): string => partsOf(by).at(-1) ?? by;

/**
 * Collects the calls of clients. Only clients with their own proven token are also grouped by network: other senders in
 * the network of a client prove nothing about it.
 */
export class ServedShares {
  /** Clients by their proven names. */
  readonly #proven = new Map<string, Client>();
  /** Clients without a proof so far. */
  readonly #unproven = new Map<string, Client>();
  /** Networks of clients that were removed to make room. */
  readonly #networks = new Map<string, Client>();

  /** @param showsAcceptance whether a service that has served the call has accepted its token */
  add(call: ObservedCall, route: string, isServed: boolean, showsAcceptance: boolean): void {
    const { provenBy, isProven, isArchived, count } = call;
    const sent = createClient(isArchived);
    sent.calls = count;
    addCase(sent, caseOf(call, route), isServed);
    if (!isProven && !showsAcceptance && !this.#proven.has(provenBy)) {
      if (!this.#unproven.has(provenBy)) this.#makeRoom();
      return addTo(this.#unproven, provenBy, sent);
    }
    const before = this.#unproven.get(provenBy);
    this.#unproven.delete(provenBy);
    if (before) addTo(this.#proven, provenBy, before);
    addTo(this.#proven, provenBy, sent);
  }

  result() {
    const proven = this.#groupProven();
    const networks = new Map<string, Client>();
    for (const part of [this.#networks, this.#unproven])
      for (const [by, client] of part) addTo(networks, networkOf(by), client);
    const unproven = [...networks.values()].filter((client) => shareOf(client) < 1);
    const calls = proven.map((client) => client.calls);
    const sum = calls.reduce((total, count) => total + count, 0);
    return {
      /** Number of counted clients. */
      clients: proven.length,
      /** The mean of their shares without the highest share, from 0 to 1. Null if there are too few clients. */
      share: meanOf(proven),
      /** Number of networks with refused calls and without a proven token. They are not counted as clients. */
      unproven: unproven.length,
      /** The same mean, if these networks were counted as clients. */
      shareWithUnproven: meanOf([...proven, ...unproven]),
      /** The largest share of one client in all counted calls, from 0 to 1. */
      largest: sum === 0 ? 0 : calls.reduce((most, count) => Math.max(most, count), 0) / sum,
    };
  }

  /** Returns the proven clients. Clients that share a token or a network are returned as one. */
  #groupProven(): readonly Client[] {
    const known = new ProvenClients();
    const grouped = new Map<string, Client>();
    for (const [by, client] of this.#proven) {
      addTo(grouped, known.find(by) ?? by, client);
      known.add(by);
    }
    return [...grouped.values()];
  }

  /** If there are too many unproven clients, the oldest one is merged with its network. */
  #makeRoom(): void {
    const [oldest] = this.#unproven;
    if (this.#unproven.size < MOST_CLIENTS || !oldest) return;
    const [by, client] = oldest;
    this.#unproven.delete(by);
    addTo(this.#networks, networkOf(by), client);
  }
}
