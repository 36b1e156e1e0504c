/** The keys under which a named client, or a family of user agents, is counted. */
import { agentFamily } from "../clients/agent-pattern.ts";
import type { ClientDirectory, KnownClient } from "../clients/client-directory.ts";
import { applicationKey, isNamedKey, labelKey, UNACCEPTED } from "./summary-key.ts";
import type { ClientUsage } from "./usage.ts";

/** Returns the name of a counted client; undefined if the directory does not contain it. */
export const nameOfUsage = (
  directory: ClientDirectory,
  usage: Pick<ClientUsage, "client" | "label" | "application" | "fingerprint" | "userAgent">,
): string | undefined =>
  usage.client === null || usage.client === UNACCEPTED ? undefined : directory.nameOf(usage);

const FAMILY = "agent:";

/**
 * Returns the value that selects all unnamed tokens of a family of user agents: `agent:curl`, or `agent:` for requests
 * without a user agent.
 */
const familyKey = (family: string | undefined): string => `${FAMILY}${family ?? ""}`;

/** Returns the key of the family of a token; undefined for other clients, which already are single clients. */
export const familyKeyOf = ({
  client,
  userAgent,
}: Pick<ClientUsage, "client" | "userAgent">): string | undefined =>
  client === null || client === UNACCEPTED || isNamedKey(client)
    ? undefined
    : familyKey(agentFamily(userAgent));

/** Whether a filter is not a key and must be looked up: a name in the directory, or a family of user agents. */
export const isLookedUp = (directory: ClientDirectory, client: string): boolean =>
  directory.find(client) !== undefined || client.startsWith(FAMILY);

/** Returns the keys under which an entry of the directory is counted, regardless of the user agent. */
const keysOfEntry = ({ name, applications, tokens }: KnownClient): readonly string[] => [
  labelKey(name),
  ...applications.map(applicationKey),
  ...tokens,
];

/** The keys of all clients in the directory that can't be invented: those that are identified by a user agent are omitted. */
export const namedKeys = ({ clients }: ClientDirectory): readonly string[] => clients.flatMap(keysOfEntry);

/**
 * Returns the keys of a named client: its label, its applications and its tokens, and all counted clients whose user
 * agent matches it.
 *
 * @param counted All clients of the summaries.
 * @returns undefined for a name that the directory does not contain
 */
export function keysOfName(
  directory: ClientDirectory,
  name: string,
  counted: readonly ClientUsage[],
): readonly string[] | undefined {
  const known = directory.find(name);
  if (!known) return undefined;
  const ofUsage = counted.flatMap((usage) =>
    nameOfUsage(directory, usage) === name ? (usage.client ?? []) : [],
  );
  return [...new Set([...keysOfEntry(known), ...ofUsage])];
}

/** Returns the keys of a name, or of a family of user agents. @param counted All clients of the summaries */
export const keysOf = (
  directory: ClientDirectory,
  client: string,
  counted: readonly ClientUsage[],
): readonly string[] =>
  keysOfName(directory, client, counted) ??
  counted.flatMap((usage) =>
    familyKeyOf(usage) === client && nameOfUsage(directory, usage) === undefined ? (usage.client ?? []) : [],
  );
