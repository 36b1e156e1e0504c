/** Clients in the form for people: all keys with one name are one client. */
import { agentFamily } from "../clients/agent-pattern.ts";
import type { ClientDirectory } from "../clients/client-directory.ts";
import { familyKeyOf, nameOfUsage } from "./client-keys.ts";
import { MOST_FAMILIES, type ClientUsage } from "./usage.ts";

/** A client with its name, and the keys under which it is counted. */
export interface NamedClient extends ClientUsage {
  /** The client's name in the client directory; null if it has none. */
  readonly name: string | null;
  readonly keys: readonly (string | null)[];
}

/** Returns a function that finds the client of a key. */
export function indexGroups<Group extends Pick<NamedClient, "keys">>(
  groups: readonly Group[],
): (key: string | null) => Group | undefined {
  const byKey = new Map(groups.flatMap((group) => group.keys.map((key) => [key, group] as const)));
  return (key) => byKey.get(key);
}

/** The counts of requests. */
export type Counts = Pick<ClientUsage, "requests" | "errors" | "lossy" | "native" | "first" | "last">;

/** Adds up counts. */
export const addCounts = (one: Counts, other?: Counts): Counts => ({
  requests: one.requests + (other?.requests ?? 0),
  errors: one.errors + (other?.errors ?? 0),
  lossy: one.lossy + (other?.lossy ?? 0),
  native: one.native + (other?.native ?? 0),
  first: other && other.first < one.first ? other.first : one.first,
  last: other && other.last > one.last ? other.last : one.last,
});

const later = (one: string | null, other: string | null): string | null =>
  one === null || (other !== null && other > one) ? other : one;

/** Adds the counts of a further key of the same client. */
function addUsage(client: NamedClient, other: ClientUsage): NamedClient {
  const [latest, earlier] = other.last > client.last ? [other, client] : [client, other];
  const userAgent = latest.userAgent ?? earlier.userAgent;
  // The last user agent of each of the client's other programs.
  const families = new Map<string | undefined, string>();
  for (const { userAgent: agent, otherAgents = [] } of [client, other])
    for (const each of [agent, ...otherAgents])
      if (each !== null && !families.has(agentFamily(each))) families.set(agentFamily(each), each);
  families.delete(agentFamily(userAgent));
  const otherAgents = [...families.values()].slice(0, MOST_FAMILIES - 1);
  const pauses = [client.longestPauseMs, other.longestPauseMs].filter((pause) => pause !== null);
  return {
    ...client,
    ...addCounts(client, other),
    label: client.label ?? other.label,
    application: client.application ?? other.application,
    fingerprint: client.fingerprint ?? other.fingerprint,
    userAgent,
    ...(otherAgents.length > 0 && { otherAgents }),
    tokens: client.tokens + other.tokens,
    lastAlpha: later(client.lastAlpha, other.lastAlpha),
    lastNative: later(client.lastNative, other.lastNative),
    // A second key may have called in the meantime: the actual pause may be shorter.
    longestPauseMs: pauses.length === 0 ? null : Math.max(...pauses),
  };
}

/** Adds up the counts of keys that belong to the same client. Clients are ordered by their first key. */
function addKeys(
  counted: readonly ClientUsage[],
  directory: ClientDirectory,
  groupOf: (usage: ClientUsage) => string,
): NamedClient[] {
  const groups = Map.groupBy(counted, (usage) => {
    const name = nameOfUsage(directory, usage);
    return name === undefined ? groupOf(usage) : `name ${name}`;
  });
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const name = nameOfUsage(directory, first) ?? null;
    const keys = [first, ...others].map(({ client }) => client);
    return others.reduce(addUsage, { ...first, name, keys });
  });
}

/** Adds names to clients. All keys with one name become one client. Clients are ordered by their first key. */
export const nameClients = (counted: readonly ClientUsage[], directory: ClientDirectory): NamedClient[] =>
  addKeys(counted, directory, ({ client }) => `key ${client}`);

/** Like {@link nameClients}, but unnamed tokens become one client for each family of user agents. */
export const groupClients = (counted: readonly ClientUsage[], directory: ClientDirectory): NamedClient[] =>
  addKeys(counted, directory, (usage) => familyKeyOf(usage) ?? `key ${usage.client}`);
