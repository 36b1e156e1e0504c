/** Finds clients by a part of their name, their application, a token or a user agent. */
import type { ClientDirectory } from "../clients/client-directory.ts";
import { groupClients } from "./name-clients.ts";
import { UNACCEPTED } from "./summary-key.ts";
import type { ClientUsage } from "./usage.ts";
import type { UsageReader } from "./usage-reader.ts";

/** Longest text that is searched for. */
export const MAX_SEARCH_LENGTH = 200;

/** The first digits of a fingerprint: fewer would find most tokens. */
const FINGERPRINT = /^[0-9a-f]{4,16}$/;

/**
 * Returns the keys of all clients of which one key, name or user agent has the text, in upper or lower case, or that have a
 * token whose fingerprint begins with it. A client is found with all its keys.
 *
 * @param counted All clients of the summaries.
 * @throws {AuditUnavailableError}
 */
export async function searchClients(
  store: Pick<UsageReader, "tokens">,
  search: string,
  { directory, counted }: { readonly directory: ClientDirectory; readonly counted: readonly ClientUsage[] },
): Promise<readonly string[]> {
  const text = search.toLowerCase();
  const tokens = FINGERPRINT.test(text) ? await store.tokens({ fingerprint: text }) : [];
  const found = new Set<string | null>(tokens.map(({ client }) => client));
  for (const { client, label, application, userAgent, otherAgents = [] } of counted)
    if (
      [client, label, application, userAgent, ...otherAgents].some((each) =>
        each?.toLowerCase().includes(text),
      )
    )
      found.add(client);
  return groupClients(counted, directory).flatMap(({ name, keys }) =>
    name?.toLowerCase().includes(text) || keys.some((key) => found.has(key))
      ? keys.flatMap((key) => (key === null || key === UNACCEPTED ? [] : key))
      : [],
  );
}
