import { randomUUID } from "node:crypto";
import type { Grants, Scopes } from "../../dialect/scopes.ts";
import { addressNetwork } from "../../rate-limit/client-address.ts";
import type { KeyValueStore } from "../../storage/key-value-store.ts";
import { tokenHash } from "../token-hash.ts";

/**
 * What applications asked for when they sent their users to sign in. An exchange carries nothing but the
 * application's id, and anybody can send a request in its name: of its requests of the last hour the narrowest that
 * fits what v4 granted counts (contract, issue 13.12).
 */
export interface RequestedScopes {
  /**
   * Keeps a request for an hour.
   *
   * @returns false where there are too many different ones: it must not be sent on, since it would count for nothing
   * @throws {StateUnavailable}
   */
  remember(client: string, asked: Grants, address: string): Promise<boolean>;
  /**
   * What a token may do that v4 has issued with these scopes.
   *
   * @throws {StateUnavailable}
   */
  narrowest(client: string, given: Grants): Promise<Grants>;
}

const REMEMBERED_SECONDS = 3600;

/** Different requests of an application: each costs its exchanges microseconds. */
const MOST_OF_CLIENT = 500;

/** Different requests that one address may send, in the name of one application and altogether. */
const MOST_OF_ADDRESS_AND_CLIENT = 20;
const MOST_OF_ADDRESS = 1000;

/** Is another one than before where the store was emptied meanwhile. */
const EPOCH = "asked-epoch";
const EPOCH_SECONDS = 400 * 86_400;

const rank = (grants: Grants): number =>
  grants === "all" ? Infinity : [...grants.values()].reduce((sum, level) => sum + level + 1, 0);

/**
 * Of the requests that can have led to what v4 granted the narrowest. One can where its scopes in v4's words include
 * all of that: users may grant less than was asked for, and no login server more. What several have in common is
 * narrower still, and is taken where it could have led to the same.
 *
 * Where none could, more was granted than anybody asked for: the narrowest that lets the token do anything.
 */
function narrowestOf(requests: readonly Grants[], given: Grants, scopes: Scopes): Grants {
  const fits = (asked: Grants): boolean => scopes.includes(scopes.throughV4(asked), given);
  const fitting = requests.filter(fits);
  const [first, ...others] = (fitting.length > 0 ? fitting : requests)
    .map((asked) => scopes.common(asked, given))
    .filter((each, _, all) => rank(each) > 0 || all.every((other) => rank(other) === 0))
    .map((grants) => ({ grants, rank: rank(grants), text: scopes.write(grants) }))
    .toSorted((one, other) => one.rank - other.rank || (one.text < other.text ? -1 : 1));
  return others.reduce((narrow, { grants }) => {
    const both = scopes.common(narrow, grants);
    return fits(both) ? both : narrow;
  }, first?.grants ?? new Map());
}

export function createRequestedScopes(
  store: KeyValueStore,
  scopes: Scopes,
  elapsed: () => number = () => performance.now(),
): RequestedScopes {
  const keyOf = (client: string): string => `asked:${client}`;
  let epoch: string | undefined;
  let lostAt = -Infinity;

  /** Whether requests of the last hour are missing. A store that was emptied is seen by who knew it before. */
  async function isIncomplete(): Promise<boolean> {
    await store.setIfAbsent(EPOCH, randomUUID(), EPOCH_SECONDS);
    const now = await store.get(EPOCH);
    if (epoch !== undefined && epoch !== now) lostAt = elapsed();
    epoch = now;
    return elapsed() - lostAt < REMEMBERED_SECONDS * 1000;
  }

  return {
    async remember(client, asked, address) {
      await isIncomplete();
      const text = scopes.write(asked);
      const from = addressNetwork(address);
      const request = tokenHash(`${client}\n${text}`);
      const add = (key: string, member: string, most: number): Promise<boolean> =>
        store.addToSet(key, member, REMEMBERED_SECONDS, most);
      return (
        (await add(`asked-from:${from}`, request, MOST_OF_ADDRESS)) &&
        (await add(`asked-from:${from} ${tokenHash(client)}`, request, MOST_OF_ADDRESS_AND_CLIENT)) &&
        (await add(keyOf(client), text, MOST_OF_CLIENT))
      );
    },
    async narrowest(client, given) {
      const [members, incomplete] = await Promise.all([store.setMembers(keyOf(client)), isIncomplete()]);
      const requests = members.map((text) => scopes.read(text).grants);
      const may = requests.length === 0 ? given : narrowestOf(requests, given, scopes);
      return incomplete ? scopes.common(may, scopes.lowest(given)) : may;
    },
  };
}
