/** Adds the rows of a commit to the summaries. */
import { agentFamily } from "../../clients/agent-pattern.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { dayNumber, MOST_FAMILIES, usageAgent } from "../../usage/usage.ts";
import { addRows, COUNTS, joinRows, TOKENS } from "./counts.ts";
import { listOf, type Connection } from "./driver.ts";
import type { KeyedRow } from "./key-rows.ts";

const isCounted = ({ requests }: KeyedRow): boolean => requests !== 0;

/** Returns the key and values of a row in `audit_usage`. Null becomes an empty text, because it is part of the key. */
const usageOf = ({ id, time, key, lane, route, status, lossy, requests }: KeyedRow) => ({
  day: dayNumber(time),
  client: key,
  lane,
  route: route ?? "",
  status,
  requests,
  lossy,
  first: time,
  last: time,
  sample: id,
});

/** Returns the user agent of a row. A missing one is an empty text. */
function agentOf({ time, key, agent: whole }: KeyedRow) {
  const agent = usageAgent(whole) ?? "";
  return { day: dayNumber(time), client: key, family: agentFamily(agent) ?? "", agent, last: time };
}

/** Returns the names in a column of rows, with the number of their requests. Callers without an accepted token are omitted. */
function countNames(rows: readonly KeyedRow[], column: "sent" | "lost") {
  const listed = rows.flatMap(({ time, key: client, route, requests, [column]: list }) =>
    list === null || route === null || client === UNACCEPTED
      ? []
      : { day: dayNumber(time), client, route, list, requests },
  );
  // The number of different lists is small.
  const joined = joinRows({ key: ["day", "client", "route", "list"], values: { requests: "sum" } }, listed);
  return joined.flatMap(({ list, ...row }) =>
    (JSON.parse(list) as readonly string[]).map((name) => ({ ...row, name })),
  );
}

/** Adds user agents, and only keeps the most recently used families of each client and day. */
async function addAgents(
  connection: Connection,
  agents: readonly ReturnType<typeof agentOf>[],
): Promise<void> {
  await addRows(connection, COUNTS.agents, agents);
  await connection.run(
    `DELETE FROM audit_agent WHERE (day, client, family) IN (
      SELECT day, client, family FROM (
        SELECT day, client, family, row_number() OVER (PARTITION BY day, client ORDER BY last DESC) AS place
        FROM audit_agent WHERE day IN NUMBERS($1) AND client IN LIST($2)
      ) AS placed WHERE place > ${MOST_FAMILIES}
    )`,
    [listOf(new Set(agents.map(({ day }) => day))), listOf(new Set(agents.map(({ client }) => client)))],
  );
}

/** Counts requests of clients, the names that they sent, their losses, and their user agents. */
export async function countRows(connection: Connection, rows: readonly KeyedRow[]): Promise<void> {
  const counted = rows.filter(isCounted);
  await addRows(connection, COUNTS.usage, counted.map(usageOf));
  await addAgents(connection, counted.map(agentOf));
  const sent = countNames(rows, "sent").map(({ requests: _requests, ...name }) => name);
  await addRows(connection, COUNTS.sent, sent);
  await addRows(connection, COUNTS.losses, countNames(rows, "lost"));
}

/** Subtracts requests that were counted under `UNACCEPTED`. */
export async function uncountRows(connection: Connection, rows: readonly KeyedRow[]): Promise<void> {
  const counted = rows.filter(isCounted).map((row) => {
    const usage = usageOf({ ...row, key: UNACCEPTED });
    return { ...usage, requests: -usage.requests, lossy: -usage.lossy };
  });
  await addRows(connection, COUNTS.usage, counted);
  await connection.run(
    `DELETE FROM audit_usage WHERE client = '${UNACCEPTED}' AND requests <= 0 AND day IN NUMBERS($1)`,
    [listOf(new Set(counted.map(({ day }) => day)))],
  );
}

/** Counts requests of tokens. @param keys The keys of tokens that v4 has accepted */
export const countTokens = (
  connection: Connection,
  rows: readonly KeyedRow[],
  keys: ReadonlyMap<string, string>,
): Promise<void> =>
  addRows(
    connection,
    TOKENS,
    rows.flatMap(({ client, accepted, time, lane, agent, requests }) => {
      if (client === null || !accepted || requests === 0) return [];
      const isNative = lane === "native";
      return {
        fingerprint: client,
        key: keys.get(client) ?? client,
        agent: usageAgent(agent),
        first: time,
        last: time,
        // 0 if the value is missing.
        last_alpha: isNative ? 0 : time,
        last_native: isNative ? time : 0,
        requests,
        native: isNative ? requests : 0,
      };
    }),
  );
