/** Counts which programs clients used. */
import { agentFamily } from "../clients/agent-pattern.ts";
import type { CountedRow } from "./count-usage.ts";
import { dayNumber, usageAgent } from "./usage.ts";

/** Families of user agents of a client and a day that are kept: the last ones that were used. */
export const MOST_FAMILIES = 5;

/** The last user agent of a family that a client used on a day. */
export interface AgentRow {
  readonly day: number;
  readonly client: string;
  readonly family: string;
  agent: string;
  last: number;
}

/** Finds the user agents of the rows of a commit, of each client and day only as many as are kept. A missing one is an empty text. */
export function aggregateAgents(rows: Iterable<CountedRow>): AgentRow[] {
  const found = new Map<string, AgentRow>();
  for (const { time: last, key: client, agent: whole, requests = 1 } of rows) {
    if (requests === 0) continue;
    const day = dayNumber(last);
    const agent = usageAgent(whole) ?? "";
    const family = agentFamily(agent) ?? "";
    const key = `${day}\n${client}\n${family}`;
    const row = found.get(key);
    if (!row) found.set(key, { day, client, family, agent, last });
    else if (last >= row.last) Object.assign(row, { agent, last });
  }
  const ofClients = Map.groupBy(found.values(), ({ day, client }) => `${day}\n${client}`);
  return [...ofClients.values()].flatMap((families) =>
    families.toSorted((one, other) => other.last - one.last).slice(0, MOST_FAMILIES),
  );
}
