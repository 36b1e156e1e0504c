import type { Grants, Scopes } from "../../pack/index.ts";
import { addressNetworks, type KeyValueStore } from "../../base/index.ts";
import { tokenHash } from "../auth/token-cache.ts";
import type { StoreEpoch } from "./store-epoch.ts";

const REQUEST_SECONDS = 3600;

/**
 * Maximum number of different requests of an application. Each costs about 20 microseconds of the event loop per
 * exchange.
 */
const MAX_PER_CLIENT = 500;

/**
 * The same maximum for the first requests of each address. It is higher, so that an attacker who uses up the 500 can't
 * block other addresses without hundreds of addresses.
 */
const MAX_WITH_FIRST = 2000;

/**
 * Maximum number of different requests from one address: for one application, for the first requests of one
 * application, and for all applications. The three numbers apply to the /64, /56 and /48 of an IPv6 address.
 */
const MAX_PER_NETWORK_AND_CLIENT = [20, 40, 60];
const FIRST_PER_NETWORK_AND_CLIENT = [2, 4, 6];
const MAX_PER_NETWORK = [200, 400, 600];

/**
 * Maximum number of stored requests that an application has exchanged. They are accepted, regardless of the requests of
 * other clients.
 */
const MAX_EXCHANGED = 50;
const EXCHANGED_SECONDS = 90 * 86_400;

/** If more requests than this match one exchange, the application's own request can't be identified. */
const MAX_EXCHANGED_AT_ONCE = 5;

/** Seconds for which a login server is distrusted after it granted an application more than the application requested. */
const GENEROUS_SECONDS = 30 * 86_400;

const rank = (grants: Grants): number =>
  grants === "all" ? Infinity : [...grants.values()].reduce((sum, level) => sum + level + 1, 0);

/** A request that is compared with v4's grant. */
interface Candidate {
  readonly text: string;
  readonly grants: Grants;
  /** Whether its translation to v4 includes everything that v4 granted. */
  readonly fits: boolean;
  /**
   * Whether the request fits, and v4 granted everything in it. A grant of `all` is never exact, because servers without
   * scopes also grant that.
   */
  readonly isExact: boolean;
}

function createCandidate(text: string, granted: Grants, scopes: Scopes): Candidate {
  const { grants } = scopes.read(text);
  const fits = scopes.includes(scopes.throughV4(grants), granted);
  return {
    text,
    grants,
    fits,
    isExact: fits && granted !== "all" && scopes.includes(granted, grants),
  };
}

/**
 * Computes the permissions of a token from the requests that may have led to it.
 *
 * If `isTrusted`, v4 granted at most the request. The result is the narrowest matching request, or the intersection of
 * several if v4 could have granted the same for it.
 *
 * Otherwise, any request may have led to the grant, and the only matching one may be the wider request of an attacker.
 * So the result is the intersection of all. A request that has nothing in common with the grant, or with narrower
 * requests, is ignored, so that an attacker can't empty a token.
 */
function computeNarrowest(
  requests: readonly Candidate[],
  granted: Grants,
  scopes: Scopes,
  isTrusted: boolean,
): Grants {
  const [first, ...others] = requests
    .filter(({ fits }) => fits || !isTrusted)
    .map(({ grants }) => scopes.common(grants, granted))
    .filter((grants, _, all) => rank(grants) > 0 || all.every((other) => rank(other) === 0))
    .map((grants) => ({ grants, rank: rank(grants), text: scopes.write(grants) }))
    .toSorted((one, other) => one.rank - other.rank || (one.text < other.text ? -1 : 1));
  return others.reduce((narrowest, { grants }) => {
    const both = scopes.common(narrowest, grants);
    const counts = isTrusted ? scopes.includes(scopes.throughV4(both), granted) : rank(both) > 0;
    return counts ? both : narrowest;
  }, first?.grants ?? new Map());
}

const requestedKey = (client: string): string => `asked:${client}`;
const exchangedKey = (client: string): string => `asked-known:${client}`;
const generousKey = (client: string): string => `asked-generous:${client}`;

/**
 * The scopes that applications requested when they sent their users to sign in. A token exchange contains only the
 * application's id, and any client can send a request with that id. So the narrowest request of the last hour that
 * matches v4's grant is used, or the intersection of all requests if v4 granted none of them exactly (R-12).
 */
export class RequestedScopes {
  readonly #store: KeyValueStore;
  readonly #scopes: Scopes;
  readonly #epoch: StoreEpoch;

  constructor(store: KeyValueStore, scopes: Scopes, epoch: StoreEpoch) {
    this.#store = store;
    this.#scopes = scopes;
    this.#epoch = epoch;
  }

  /**
   * Stores a request for an hour.
   *
   * @returns false if there are too many different requests, and the application has never exchanged this one. The
   *   request must then not be forwarded, because it would not be considered.
   * @throws {StateUnavailableError}
   */
  async save(client: string, requested: Grants, address: string): Promise<boolean> {
    await this.#epoch.read();
    const text = this.#scopes.write(requested);
    const add = (max: number, isReserved = false): Promise<boolean> =>
      this.#store.addToSet(requestedKey(client), text, REQUEST_SECONDS, max, isReserved);
    // A maximum of 0 only extends the lifetime of a stored request.
    if (await add(0)) return true;
    const exchanged = await this.#store.setMembers(exchangedKey(client));
    if (exchanged.includes(text)) return add(MAX_WITH_FIRST + MAX_EXCHANGED, true);
    const max = await this.#countRequest(client, text, address);
    return max > 0 && add(max);
  }

  /**
   * Counts a new request of an application.
   *
   * @returns the application's limit for this request. 0 if its address has sent too many
   */
  async #countRequest(client: string, text: string, address: string): Promise<number> {
    const request = tokenHash(`${client}\n${text}`);
    const add = (key: string, max = 0): Promise<boolean> =>
      this.#store.addToSet(key, request, REQUEST_SECONDS, max);
    let isFirst = true;
    for (const [index, network] of addressNetworks(address).entries()) {
      const key = `asked-from:${network}`;
      const clientKey = `${key} ${tokenHash(client)}`;
      if (!(await add(key, MAX_PER_NETWORK[index]))) return 0;
      if (await add(clientKey, FIRST_PER_NETWORK_AND_CLIENT[index])) continue;
      isFirst = false;
      if (!(await add(clientKey, MAX_PER_NETWORK_AND_CLIENT[index]))) return 0;
    }
    return isFirst ? MAX_WITH_FIRST : MAX_PER_CLIENT;
  }

  /**
   * Computes the permissions of a token that v4 has issued with these scopes.
   *
   * @throws {StateUnavailableError}
   */
  async findNarrowest(client: string, granted: Grants): Promise<Grants> {
    const scopes = this.#scopes;
    const [requestedTexts, exchangedTexts, generousMark, completeness] = await Promise.all([
      this.#store.setMembers(requestedKey(client)),
      this.#store.setMembers(exchangedKey(client)),
      this.#store.get(generousKey(client)),
      this.#epoch.read(),
    ]);
    const toLowest = (grants: Grants): Grants => scopes.common(grants, scopes.lowest(granted));
    if (requestedTexts.length === 0) return completeness === "whole" ? granted : toLowest(granted);
    const exchanged = new Set(exchangedTexts);
    const requests = requestedTexts.map((text) => createCandidate(text, granted, scopes));
    // If the user took longer than an hour, the application's earlier requests are used. This does not prove a generous
    // server.
    const isGenerousNow =
      completeness === "whole" &&
      !requests.some(({ fits }) => fits) &&
      !exchangedTexts.some((text) => createCandidate(text, granted, scopes).fits);
    if (isGenerousNow) await this.#store.set(generousKey(client), "", GENEROUS_SECONDS);
    const isGenerous = isGenerousNow || generousMark !== undefined;
    const isTrusted =
      !isGenerous &&
      requests.some(
        ({ text, grants, fits, isExact }) => isExact || (fits && grants !== "all" && exchanged.has(text)),
      );
    const ofApplication = requests.filter(({ fits, isExact }) => (isGenerous ? !fits : isExact));
    await this.#saveExchanged(
      client,
      ofApplication.map(({ text }) => text),
      exchanged,
    );
    const narrowest = computeNarrowest(requests, granted, scopes, isTrusted);
    return completeness === "emptied" ? toLowest(narrowest) : narrowest;
  }

  /** Stores the requests that an application has exchanged. */
  async #saveExchanged(
    client: string,
    texts: readonly string[],
    exchanged: ReadonlySet<string>,
  ): Promise<void> {
    const oldTexts = texts.filter((text) => exchanged.has(text));
    const saved = texts.length - oldTexts.length > MAX_EXCHANGED_AT_ONCE ? oldTexts : texts;
    await Promise.all(
      saved.map((text) => this.#store.addToSet(exchangedKey(client), text, EXCHANGED_SECONDS, MAX_EXCHANGED)),
    );
  }
}
