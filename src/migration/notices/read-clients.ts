/** Reads the clients that have used the old API from the audit store, with the data for their news. */
import {
  type AuditStore,
  type ClientUsage,
  type ClientDirectory,
  createMigrationJudge,
  type LossUsage,
  migrationStateOf,
  nameClients,
  namedKeys,
  type NamedClient,
} from "../../audit/index.ts";
import { MAX_KEYS, MAX_LOSSES, type ObservedClient } from "./find-news.ts";
import { groupOf, shareOf, NoticeShares } from "./shares.ts";

/** Maximum number of clients that are read: the number that all groups together store. */
const MOST_CLIENTS = 2 * MAX_KEYS.group;

/**
 * Reads the losses of clients. The store limits keys and rows, so each client has a share of them, and named clients
 * are read separately.
 */
async function readLosses(
  audit: Pick<AuditStore, "losses">,
  clients: readonly NamedClient[],
): Promise<readonly LossUsage[]> {
  const lossy = clients.filter((client) => client.lossy > 0);
  const shares = new NoticeShares(MAX_LOSSES);
  const groups = Map.groupBy(lossy, (client) => groupOf(shareOf(client)));
  const read = (group: readonly NamedClient[]): Promise<readonly LossUsage[]> => {
    const keys = group.flatMap((client) => client.keys.filter(() => shares.take(shareOf(client))));
    return audit.losses({ severity: "meaning", clients: keys, limit: MAX_LOSSES.group });
  };
  return (await Promise.all([...groups.values()].map(read))).flat();
}

/**
 * Reads at most as many clients as are stored. A client with many tokens may exceed this number, so clients with a name
 * are also read by their keys.
 */
async function readUsage(
  audit: Pick<AuditStore, "clients">,
  directory: ClientDirectory,
): Promise<readonly ClientUsage[]> {
  const named = await audit.clients({ clients: namedKeys(directory), mostClients: MAX_KEYS.group });
  const others = await audit.clients({ mostClients: MOST_CLIENTS });
  return [...new Map([...others, ...named].map((usage) => [usage.client, usage])).values()];
}

/** Creates the function that reads the clients. */
export const createClientReader =
  (
    audit: Pick<AuditStore, "clients" | "spans" | "losses">,
    directory: () => ClientDirectory,
    quietDays: number,
  ) =>
  async (now: number): Promise<readonly ObservedClient[]> => {
    const counted = await readUsage(audit, directory());
    const spans = await audit.spans({
      days: quietDays,
      clients: counted.flatMap(({ client }) => client ?? []),
    });
    const clients = nameClients(counted, directory()).filter(
      (usage) => usage.lastAlpha !== null && migrationStateOf(usage, { quietDays, now }) !== null,
    );
    const losses = await readLosses(audit, clients);
    const judge = createMigrationJudge(spans, clients, { quietDays, now });
    const lossesByKey = Map.groupBy(losses, ({ client }) => client);
    return clients.flatMap((usage) => {
      const { state, cameBack } = judge(usage);
      if (state === null) return [];
      return [{ usage, state, cameBack, losses: usage.keys.flatMap((key) => lossesByKey.get(key) ?? []) }];
    });
  };
