import type { Grants, Scopes } from "../../dialect/scopes.ts";
import { addressNetworks } from "../../rate-limit/client-address.ts";
import type { KeyValueStore } from "../../storage/key-value-store.ts";
import { tokenHash } from "../token-hash.ts";
import type { StoreEpoch } from "./store-epoch.ts";

/**
 * What applications asked for when they sent their users to sign in. An exchange carries nothing but the
 * application's id, and anybody can send a request in its name: of its requests of the last hour the narrowest that
 * fits what v4 granted counts, and all that differ where none of them was granted as it stands (contract, issue 13.12).
 */
export interface RequestedScopes {
  /**
   * Keeps a request for an hour.
   *
   * @returns false where there are too many different ones, and the application has not exchanged this one before: it
   *   must not be sent on, since it would count for nothing
   * @throws {StateUnavailable}
   */
  remember(client: string, asked: Grants, address: string): Promise<boolean>;
  /**
   * What a token may do that v4 has issued with these scopes.
   *
   * @throws {StateUnavailable}
   */
  findNarrowest(client: string, given: Grants): Promise<Grants>;
}

const REMEMBERED_SECONDS = 3600;

/** Different requests of an application: each costs its exchanges microseconds. */
const MOST_OF_CLIENT = 500;

/**
 * Different requests that one address may send, in the name of one application and altogether; for an IPv6 address,
 * its /64, /56 and /48.
 */
const MOST_OF_NETWORK_AND_CLIENT = [20, 40, 60];
const MOST_OF_NETWORK = [1000, 2000, 3000];

/** Requests that an application has exchanged are taken whatever others asked for: so many, for so long. */
const MOST_KNOWN = 50;
const KNOWN_SECONDS = 90 * 86_400;

/** Where more requests than these can have led to one exchange, nobody can tell which was the application's. */
const MOST_KNOWN_AT_ONCE = 5;

/** For how long a login server that gave an application more than was asked counts as one that does. */
const GENEROUS_SECONDS = 30 * 86_400;

const rank = (grants: Grants): number =>
  grants === "all" ? Infinity : [...grants.values()].reduce((sum, level) => sum + level + 1, 0);

/** A request, and what it says of a grant. */
interface Candidate {
  readonly text: string;
  readonly grants: Grants;
  /** In v4's words it includes all that v4 granted. */
  readonly fits: boolean;
  /** It fits, and v4 withheld nothing. A grant of everything is also what a server gives that knows no scopes. */
  readonly isExact: boolean;
}

function candidateOf(text: string, given: Grants, scopes: Scopes): Candidate {
  const { grants } = scopes.read(text);
  const fits = scopes.includes(scopes.throughV4(grants), given);
  return { text, grants, fits, isExact: fits && given !== "all" && scopes.includes(given, grants) };
}

/**
 * What a token may do, by the requests that can have led to what v4 granted.
 *
 * Where they are `trusted`, v4 granted what was asked or less: the narrowest of those that fit counts. What several
 * have in common is narrower still, and is taken where it could have led to the same.
 *
 * Else each can have led to it, and a stranger's wider one may be the only one that fits: what all have in common
 * counts. One that gives nothing of the grant, or has nothing in common with narrower ones, is left out, so that
 * nobody can empty a token.
 */
function narrowestOf(
  requests: readonly Candidate[],
  given: Grants,
  scopes: Scopes,
  trusted: boolean,
): Grants {
  const [first, ...others] = requests
    .filter(({ fits }) => fits || !trusted)
    .map(({ grants }) => scopes.common(grants, given))
    .filter((each, _, all) => rank(each) > 0 || all.every((other) => rank(other) === 0))
    .map((grants) => ({ grants, rank: rank(grants), text: scopes.write(grants) }))
    .toSorted((one, other) => one.rank - other.rank || (one.text < other.text ? -1 : 1));
  return others.reduce((narrow, { grants }) => {
    const both = scopes.common(narrow, grants);
    const counts = trusted ? scopes.includes(scopes.throughV4(both), given) : rank(both) > 0;
    return counts ? both : narrow;
  }, first?.grants ?? new Map());
}

export function createRequestedScopes(
  store: KeyValueStore,
  scopes: Scopes,
  epoch: StoreEpoch,
): RequestedScopes {
  const keyOf = (client: string): string => `asked:${client}`;
  const knownKeyOf = (client: string): string => `asked-known:${client}`;
  const generousKeyOf = (client: string): string => `asked-generous:${client}`;

  /** Counts a new request of an application. @returns false where its address has sent too many. */
  async function count(client: string, text: string, address: string): Promise<boolean> {
    const request = tokenHash(`${client}\n${text}`);
    for (const [at, network] of addressNetworks(address).entries()) {
      const from = `asked-from:${network}`;
      const ofClient = `${from} ${tokenHash(client)}`;
      const mostOfClient = MOST_OF_NETWORK_AND_CLIENT[at] ?? 0;
      if (!(await store.addToSet(from, request, REMEMBERED_SECONDS, MOST_OF_NETWORK[at] ?? 0))) return false;
      if (!(await store.addToSet(ofClient, request, REMEMBERED_SECONDS, mostOfClient))) return false;
    }
    return true;
  }

  /** Keeps which requests an application has exchanged. */
  async function learn(client: string, asked: readonly string[], known: ReadonlySet<string>): Promise<void> {
    const fresh = asked.filter((text) => !known.has(text));
    const kept = fresh.length > MOST_KNOWN_AT_ONCE ? asked.filter((text) => known.has(text)) : asked;
    await Promise.all(
      kept.map((text) => store.addToSet(knownKeyOf(client), text, KNOWN_SECONDS, MOST_KNOWN)),
    );
  }

  return {
    async remember(client, asked, address) {
      await epoch.read();
      const text = scopes.write(asked);
      const add = (most: number): Promise<boolean> =>
        store.addToSet(keyOf(client), text, REMEMBERED_SECONDS, most);
      // No new member: it is there already.
      if (await add(0)) return true;
      const known = await store.setMembers(knownKeyOf(client));
      if (known.includes(text)) return add(MOST_OF_CLIENT + MOST_KNOWN);
      return (await count(client, text, address)) && add(MOST_OF_CLIENT);
    },
    async findNarrowest(client, given) {
      const [asked, knownTexts, wasGenerous, state] = await Promise.all([
        store.setMembers(keyOf(client)),
        store.setMembers(knownKeyOf(client)),
        store.get(generousKeyOf(client)),
        epoch.read(),
      ]);
      const least = (may: Grants): Grants => scopes.common(may, scopes.lowest(given));
      if (asked.length === 0) return state === "whole" ? given : least(given);
      const known = new Set(knownTexts);
      const requests = asked.map((text) => candidateOf(text, given, scopes));
      // A user who took longer than an hour gets what the application asked for before: no sign of such a server.
      const isGenerous =
        state === "whole" &&
        !requests.some(({ fits }) => fits) &&
        !knownTexts.some((text) => candidateOf(text, given, scopes).fits);
      if (isGenerous) await store.set(generousKeyOf(client), "", GENEROUS_SECONDS);
      const generous = isGenerous || wasGenerous !== undefined;
      const trusted =
        !generous &&
        requests.some(
          ({ text, grants, fits, isExact }) => isExact || (fits && grants !== "all" && known.has(text)),
        );
      const own = requests.filter(({ fits, isExact }) => (generous ? !fits : isExact));
      await learn(
        client,
        own.map(({ text }) => text),
        known,
      );
      const may = narrowestOf(requests, given, scopes, trusted);
      return state === "emptied" ? least(may) : may;
    },
  };
}
