/** Reads queries that identify a client by its name, or clients by a text. */
import type { ClientDirectory } from "../clients/client-directory.ts";
import { isLookedUp, keysOf } from "../usage/client-keys.ts";
import { MAX_SEARCH_LENGTH, searchClients } from "../usage/search-clients.ts";
import type { UsageReader } from "../usage/usage-reader.ts";
import type { UsageQuery } from "../usage/usage.ts";
import type { Given, ReadQuery } from "./read-query.ts";

/** A query for the clients with these keys. */
export type OfClients<Query> = Query & { readonly clients?: readonly string[] };

/** The clients that a filter may name, and the store that counts them. */
export interface NamedClients {
  readonly directory: ClientDirectory;
  readonly store: Pick<UsageReader, "clients" | "tokens">;
}

/**
 * Reads parameters whose `client` may be a name of the client directory, or a family of user agents: it selects all
 * keys of them. `search` selects the keys of all clients that match the text.
 *
 * @param read Reads the parameters without a name.
 * @throws {AuditUnavailableError}
 */
export async function readNamedQuery<Query extends Pick<UsageQuery, "client">>(
  given: Given,
  read: (given: Given) => ReadQuery<Query>,
  { directory, store }: NamedClients,
): Promise<ReadQuery<OfClients<Query>>> {
  const { client, search = "", ...others } = given;
  const isName = typeof client === "string" && isLookedUp(directory, client);
  const { query, problems } = read(isName || client === undefined ? others : { client, ...others });
  if (typeof search !== "string" || search.length > MAX_SEARCH_LENGTH) {
    const reason = `Has to be a text of at most ${MAX_SEARCH_LENGTH} characters, once.`;
    return { query, problems: [...problems, { reason, parameter: "search" }] };
  }
  if (problems.length > 0 || (!isName && search === "")) return { query, problems };
  const counted = await store.clients({ limit: Number.MAX_SAFE_INTEGER });
  const ofName = isName ? keysOf(directory, client, counted) : undefined;
  if (search === "") return { query: { ...query, ...(ofName && { clients: ofName }) }, problems };
  const found = await searchClients(store, search, { directory, counted });
  return { query: { ...query, ...narrow(query, ofName, found) }, problems };
}

/** Returns the keys that match both the search and the client in the query. */
function narrow(
  { client }: Pick<UsageQuery, "client">,
  ofName: readonly string[] | undefined,
  found: readonly string[],
): { clients: readonly string[]; client?: undefined } {
  if (client === undefined && ofName === undefined) return { clients: found };
  const named = new Set<string | null | undefined>(ofName ?? [client]);
  return { clients: found.filter((key) => named.has(key)), client: undefined };
}
