/** Losses with their counts and clients, in the form for people. */
import { compareLosses, type LossUsage } from "./loss-usage.ts";
import { ANONYMOUS, type IdentifiedGroup } from "./client-groups.ts";

/** A client that is affected by a loss. */
export interface LossClient extends Pick<LossUsage, "client" | "requests" | "firstDay" | "lastDay"> {
  /** The value that selects the client in a query. */
  readonly id: string;
  /** The client's name in the client directory; null if it has none. */
  readonly name: string | null;
  /** The family of user agents of several tokens; null for other clients. */
  readonly family: string | null;
}

/** A loss, summed over all its routes. */
export interface LossSummary extends Omit<LossUsage, "client" | "route"> {
  /** The routes in alphabetical order. */
  readonly routes: readonly string[];
}

/** A loss, and the affected clients. */
export interface RankedLoss extends LossSummary {
  /** The clients with the most requests first. */
  readonly clients: readonly LossClient[];
}

type Counted = Pick<LossUsage, "requests" | "firstDay" | "lastDay">;

const addCounts = (rows: readonly Counted[]): Counted => ({
  requests: rows.reduce((sum, { requests }) => sum + requests, 0),
  firstDay: rows.reduce((first, { firstDay }) => (firstDay < first ? firstDay : first), "9999"),
  lastDay: rows.reduce((last, { lastDay }) => (lastDay > last ? lastDay : last), ""),
});

/**
 * Joins losses with the same text, sorted by severity, then by requests. Keys of one row are one client.
 *
 * @param clients The clients of the summaries. A missing client has no name
 */
export function rankLosses(
  losses: readonly LossUsage[],
  clients: readonly Pick<IdentifiedGroup, "id" | "client" | "name" | "family" | "keys">[],
): RankedLoss[] {
  const ofKey = new Map(clients.flatMap((client) => client.keys.map((key) => [key, client] as const)));
  const firstKeyOf = (key: string | null): string | null => ofKey.get(key)?.client ?? key;

  const countClients = (rows: readonly LossUsage[]): LossClient[] =>
    [...Map.groupBy(rows, ({ client }) => firstKeyOf(client))]
      .map(([client, own]) => {
        const { id = client ?? ANONYMOUS, name = null, family = null } = ofKey.get(client) ?? {};
        return { id, client, name, family, ...addCounts(own) };
      })
      .toSorted((one, other) => other.requests - one.requests);

  return [...Map.groupBy(losses, ({ loss }) => loss)]
    .map(([loss, rows]) => {
      const counts = addCounts(rows);
      // The pack may have changed: the last severity is used.
      const severity = rows.find(({ lastDay }) => lastDay === counts.lastDay)?.severity ?? "detail";
      const routes = [...new Set(rows.map(({ route }) => route))].toSorted();
      return { loss, severity, routes, ...counts, clients: countClients(rows) };
    })
    .toSorted(compareLosses);
}
