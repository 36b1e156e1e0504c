/** Which share of its calls a pack would serve for each client. Clients count, not calls: nobody decides by sending more. */
import { isObject } from "../../base/index.ts";
import { ProvenClients } from "../../compare/index.ts";
import type { ObservedCall } from "./observed-call.ts";

/** What the clients say together. */
export interface ClientMean {
  /** Clients that count. */
  readonly clients: number;
  /** The mean of their shares without the highest one, from 0 to 1; null: there are too few clients. */
  readonly share: number | null;
  /** Networks with refused calls whose tokens nobody has proven. They are no clients. */
  readonly unproven: number;
  /** The same mean, where they count as clients. */
  readonly shareWithUnproven: number | null;
  /** The part of all counted calls that the client with the most has, from 0 to 1. */
  readonly largest: number;
}

/** Clients that are counted apart. The others are counted as one. */
const MOST_CLIENTS = 10_000;
/** Cases of one client. More say nothing new. */
const MOST_CASES = 200;

interface Client {
  isProven: boolean;
  isWholeArchive: boolean;
  calls: number;
  /** Whether each case would be served whenever it came. */
  readonly cases: Map<string, boolean>;
}

const namesOf = (value: unknown): readonly string[] => (isObject(value) ? Object.keys(value).toSorted() : []);

/** What makes a call another case: its method, its route, and the names that it sends. */
const caseOf = ({ method, query, filter, body }: ObservedCall, route: string): string =>
  JSON.stringify([
    method,
    route,
    [...new Set(new URLSearchParams(query).keys())].toSorted(),
    filter !== null,
    namesOf(body),
  ]);

const shareOf = ({ cases }: Client): number => [...cases.values()].filter(Boolean).length / cases.size;

/** The mean without the highest value; null where nothing would be left. */
function meanWithoutBest(shares: readonly number[]): number | null {
  const counted = shares.toSorted((one, other) => one - other).slice(0, -1);
  return counted.length === 0 ? null : counted.reduce((sum, share) => sum + share, 0) / counted.length;
}

function meanOf(clients: readonly Client[]): number | null {
  const [only] = clients;
  // Whoever has made an archive knows whose calls it has.
  return only?.isWholeArchive && clients.length === 1 ? shareOf(only) : meanWithoutBest(clients.map(shareOf));
}

/** Collects the calls of clients. */
export class ClientShares {
  readonly #clients = new Map<string, Client>();
  readonly #known = new ProvenClients();

  /** @param showsAcceptance Whether a service that has served the call has accepted its token */
  add(call: ObservedCall, route: string, isServed: boolean, showsAcceptance: boolean): void {
    const { provenBy, isProven, isArchived, count } = call;
    const known = this.#known.find(provenBy) ?? (this.#clients.size < MOST_CLIENTS ? provenBy : "");
    const client = this.#clients.get(known) ?? {
      isProven: false,
      isWholeArchive: isArchived,
      calls: 0,
      cases: new Map<string, boolean>(),
    };
    this.#clients.set(known, client);
    this.#known.add(known);
    client.isProven ||= isProven || showsAcceptance;
    client.calls += count;
    const key = caseOf(call, route);
    const isKnown = client.cases.has(key);
    if (isKnown || client.cases.size < MOST_CASES)
      client.cases.set(key, isServed && client.cases.get(key) !== false);
  }

  result(): ClientMean {
    const all = [...this.#clients.values()];
    const proven = all.filter(({ isProven }) => isProven);
    const unproven = all.filter((client) => !client.isProven && shareOf(client) < 1);
    const calls = proven.map((client) => client.calls);
    const sum = calls.reduce((total, count) => total + count, 0);
    return {
      clients: proven.length,
      share: meanOf(proven),
      unproven: unproven.length,
      shareWithUnproven: meanOf([...proven, ...unproven]),
      largest: sum === 0 ? 0 : calls.reduce((most, count) => Math.max(most, count), 0) / sum,
    };
  }
}
