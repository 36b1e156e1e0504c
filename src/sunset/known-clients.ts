/** Whether a client used the old API before: a freeze lets in no other one. */
import { LRUCache } from "lru-cache";
import type { RouteUsage, UsageReader } from "../audit/usage.ts";
import type { ClientDirectory } from "../clients/client-directory.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { ALL_ROWS, isAcceptedCall, nameKeys, summaryKeysOf } from "./recorded-traffic.ts";
import type { PlanClient } from "./plan-dates.ts";

/** Clients that used the old API. */
export interface KnownClients {
  /**
   * Whether v4 accepted a call of the old API by a client before, or its response was no error.
   *
   * @param before The day of the freeze: calls that were refused since then don't count.
   */
  isKnown(client: PlanClient, before: number): boolean | Promise<boolean>;
  /** Notes that v4 accepted a call of a client. */
  note(client: PlanClient): void;
}

const CACHED_CLIENTS = 50_000;
/** How long a client counts as new, before the store is read again: directories change. */
const NEW_MS = 60_000;
/** How long the names of all clients that called are cached. */
const NAMES_MS = 60_000;

const allKeysOf = (client: PlanClient): readonly string[] => [
  ...(client.name === undefined ? [] : [client.name]),
  ...summaryKeysOf(client),
];

/** Caches answers: a client that is known stays known. */
function cacheKnown(find: (client: PlanClient, before: number) => Promise<boolean>): KnownClients["isKnown"] {
  const cache = new LRUCache<string, boolean>({ max: CACHED_CLIENTS });
  return (client, before) => {
    // Of two tokens with one name or label, one may be known and the other one new.
    const key = allKeysOf(client).join("\n");
    // Nobody can say whether a client without a name and a token is new.
    if (key === "") return true;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    return find(client, before).then((isKnown) => {
      cache.set(key, isKnown, { ttl: isKnown ? 0 : NEW_MS });
      return isKnown;
    });
  };
}

/**
 * Finds clients in the summaries of the audit store, which outlive its records.
 *
 * @param isRoute whether the pack has a route; calls of the login server are none
 */
export function knownByAudit(
  reader: Pick<UsageReader, "clients" | "tokens" | "usage">,
  directory: () => ClientDirectory,
  isRoute: (route: string) => boolean,
): KnownClients {
  /** Sign-ins of a new application succeed at the login server: since a freeze only calls that were served count. */
  const isFromBefore = (row: RouteUsage, before: number): boolean =>
    isAcceptedCall(row) &&
    (Date.parse(row.first) < before || (row.status < 400 && row.route !== null && isRoute(row.route)));

  let names: { readonly found: Promise<ReadonlySet<string>>; readonly readAt: number } | undefined;

  async function readNames(before: number): Promise<ReadonlySet<string>> {
    const nameOf = await nameKeys(reader, directory(), {});
    const rows = (await reader.usage({ limit: ALL_ROWS })).filter((row) => isFromBefore(row, before));
    return new Set(rows.flatMap(({ client }) => (client === null ? [] : (nameOf(client) ?? []))));
  }

  function namesBefore(before: number): Promise<ReadonlySet<string>> {
    if (!names || performance.now() - names.readAt > NAMES_MS)
      names = { found: readNames(before), readAt: performance.now() };
    names.found.catch(() => (names = undefined));
    return names.found;
  }

  /** The keys of a client, and those under which its tokens were counted: labels and applications change, and may be unknown. */
  async function keysOf(client: PlanClient): Promise<readonly string[]> {
    const { name = "", fingerprint } = client;
    const keys = summaryKeysOf(client);
    if (fingerprint === undefined) return keys;
    // Only tokens that the directory lists: anybody can have the name of a user agent, with any token.
    const { tokens = [] } = directory().find(name) ?? {};
    const fingerprints = tokens.includes(fingerprint) ? tokens : [fingerprint];
    const counted = await reader.tokens({ fingerprints });
    return [...keys, ...counted.map(({ client: key }) => key)];
  }

  return {
    isKnown: cacheKnown(async (client, before) => {
      const clients = await keysOf(client);
      if (clients.length > 0) {
        const rows = await reader.usage({ clients });
        if (rows.some((row) => isFromBefore(row, before))) return true;
      }
      // Another token of the same client.
      return client.name !== undefined && (await namesBefore(before)).has(client.name);
    }),
    note: () => {},
  };
}

const SEEN = "sunset:seen";
const SEEN_SECONDS = 400 * 86_400;
const MAX_SEEN = 100_000;

/** Finds clients in the state store, which notes them while a freeze is planned: for gateways without an audit store. */
export function knownByState(
  store: Pick<KeyValueStore, "addToSet" | "setMembers">,
  onFault: (error: unknown) => void,
): KnownClients {
  const noted = new LRUCache<string, true>({ max: CACHED_CLIENTS });
  return {
    isKnown: cacheKnown(async (client) => {
      const members = new Set(await store.setMembers(SEEN));
      return allKeysOf(client).some((key) => members.has(key));
    }),
    note(client) {
      for (const key of allKeysOf(client)) {
        if (noted.has(key)) continue;
        noted.set(key, true);
        // Strangers can't fill it: v4 or the old service accepted these tokens.
        store.addToSet(SEEN, key, SEEN_SECONDS, MAX_SEEN, true).catch((error: unknown) => {
          noted.delete(key);
          onFault(error);
        });
      }
    },
  };
}
