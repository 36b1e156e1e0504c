/** Finds out whether a client used the old API before. Only such clients may call during a freeze. */
import { LRUCache } from "lru-cache";
import type { ClientDirectory, DecisionReader } from "../../audit/index.ts";
import type { PlanClient } from "./plan-dates.ts";
import { provenClient, summaryKeysOf } from "./proven-client.ts";

/** Clients that used the old API. */
export type KnownClients = ReturnType<typeof createKnownClients>;

const CACHED_CLIENTS = 50_000;
/** Milliseconds for which a client is treated as new before the store is read again, because directories change. */
const NEW_MS = 60_000;

/**
 * Finds clients in the summaries of the audit store, which outlive its records. Concurrent queries for one client are
 * combined, and a known client stays known.
 *
 * @param routes The routes of the pack, without the calls to the login server
 */
export function createKnownClients(
  decisions: Pick<DecisionReader, "wasServed">,
  directory: () => ClientDirectory,
  routes: () => readonly string[],
) {
  const cache = new LRUCache<string, boolean, { readonly client: PlanClient; readonly before: number }>({
    max: CACHED_CLIENTS,
    ignoreFetchAbort: true,
    async fetchMethod(_key, _stale, { options, context: { client, before } }) {
      const { keys: clients } = provenClient(client, directory());
      // Sign-ins of a new application succeed at the login server, so after a freeze only calls of routes are considered.
      const isKnown = await decisions.wasServed({ clients, before, routes: routes() });
      options.ttl = isKnown ? 0 : NEW_MS;
      return isKnown;
    },
  });

  return {
    /**
     * Whether v4 accepted an earlier call of the old API by a client, or its response was not an error.
     *
     * @param before The day of the freeze: calls that were refused since then are ignored.
     * @param isAccepted Returns whether v4 accepts the token. A client with an unaccepted token is new, and the store
     *   is not read.
     * @throws {AuditUnavailableError}, and the errors of `isAccepted`
     */
    isKnown(
      client: PlanClient,
      before: number,
      isAccepted: () => boolean | Promise<boolean>,
    ): boolean | Promise<boolean> {
      // Two tokens with the same label may differ: one may be known and the other one new.
      const key = summaryKeysOf(client).join("\n");
      // For a client without a label and a token, it is unknown whether it is new.
      if (key === "") return true;
      const read = (): Promise<boolean> => cache.forceFetch(key, { context: { client, before } });
      const cached = cache.get(key);
      if (cached !== undefined) return cached;
      const accepted = isAccepted();
      if (accepted === true) return read();
      return Promise.resolve(accepted).then((isTrue) => isTrue && read());
    },
  };
}
