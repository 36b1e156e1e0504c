/** Finds clients by a part of their name, their application, a token or a user agent. */
import type { ClientDirectory } from "../clients/client-directory.ts";
import { groupClients } from "./name-clients.ts";
import { UNACCEPTED } from "./summary-key.ts";
import type { ClientUsage } from "./usage.ts";
import type { UsageReader } from "./usage-reader.ts";

/** Maximum length of a text that is searched. */
export const MAX_SEARCH_LENGTH = 200;

/** Matches the first digits of a fingerprint. Fewer digits would match most tokens. */
const FINGERPRINT = /^[0-9a-f]{4,16}$/;

/**
 * Returns the keys of all clients if one of their keys, names or user agents contains the text, regardless of case, or
 * if the fingerprint of one of their tokens starts with it. All keys of a client are returned.
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
