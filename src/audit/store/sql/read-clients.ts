/** Reads the summaries by client. */
import { identityOfKey } from "../../usage/summary-key.ts";
import {
  MAX_SUMS_READ,
  MOST_FAMILIES,
  MAX_USAGE_ROWS,
  type ClientUsage,
  type UsageQuery,
} from "../../usage/usage.ts";
import type { Connection } from "./driver.ts";
import { clientTerms, momentOf, spanOf, usageOf } from "./read-usage.ts";
import { where } from "./where.ts";

type Reader = Pick<Connection, "query">;

/** Reads the user agents of clients on the days of a query: the last one of each family, the latest first. */
export async function readAgents(
  connection: Reader,
  query: UsageQuery,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { text, values } = where(clientTerms(query));
  const rows = await connection.query<{ client: string; agent: string }>(
    `SELECT client, agent FROM (
      SELECT client, agent, last, row_number() OVER (PARTITION BY client, family ORDER BY last DESC) AS place
      FROM audit_agent ${text}
    ) AS placed WHERE place = 1 ORDER BY last DESC LIMIT ${MAX_SUMS_READ}`,
    values,
  );
  const byClient = Map.groupBy(rows, ({ client }) => client);
  return new Map([...byClient].map(([client, own]) => [client, own.map(({ agent }) => agent)]));
}

interface ClientRow extends Pick<
  ClientUsage,
  "requests" | "lossy" | "errors" | "native" | "longestPauseMs" | "tokens"
> {
  readonly client: string;
  readonly first: number;
  readonly last: number;
  readonly lastAlpha: number | null;
  readonly lastNative: number | null;
}

function clientOf(row: ClientRow, [agent = "", ...others]: readonly string[]): ClientUsage {
  const client = row.client || null;
  const otherAgents = others.filter((each) => each !== "").slice(0, MOST_FAMILIES - 1);
  return {
    ...row,
    client,
    ...identityOfKey(client),
    userAgent: agent || null,
    ...(otherAgents.length > 0 && { otherAgents }),
    ...spanOf(row),
    lastAlpha: momentOf(row.lastAlpha),
    lastNative: momentOf(row.lastNative),
  };
}

/** Reads clients. The client with the most requests comes first. */
export async function readClients(connection: Reader, query: UsageQuery): Promise<ClientUsage[]> {
  const { mostClients } = query;
  const condition = usageOf(query);
  const { sql, values } = condition.and(mostClients ?? query.limit ?? MAX_USAGE_ROWS);
  // Reading the index is sufficient to count rows.
  const chosen =
    mostClients === undefined
      ? condition.text
      : `${condition.text} AND client IN (
        SELECT client FROM audit_usage ${condition.text} GROUP BY client ORDER BY count(*) DESC, client LIMIT ${sql}
      )`;
  // A pause starts with the last call of the client's API on a day, and ends with the first such call on a later day.
  const rows = await connection.query<ClientRow>(
    `WITH daily AS (
      SELECT client, day, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first, max(last) AS last,
        coalesce(sum(requests) FILTER (WHERE status >= 400), 0) AS errors,
        coalesce(sum(requests) FILTER (WHERE lane = 'native'), 0) AS native,
        max(last) FILTER (WHERE lane = 'native') AS last_native,
        min(first) FILTER (WHERE lane <> 'native') AS first_alpha,
        max(last) FILTER (WHERE lane <> 'native') AS last_alpha
      FROM audit_usage ${chosen} GROUP BY client, day
    ), paused AS (
      SELECT client, requests, lossy, first, last, errors, native, last_native, last_alpha, first_alpha - max(last_alpha) OVER (
        PARTITION BY client ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS pause FROM daily
    )
    SELECT client, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first, max(last) AS last,
      sum(errors) AS errors, sum(native) AS native, max(last_alpha) AS "lastAlpha", max(last_native) AS "lastNative",
      max(pause) AS "longestPauseMs", (SELECT count(*) FROM audit_token WHERE key = paused.client) AS tokens
    FROM paused GROUP BY client ORDER BY sum(requests) DESC, client LIMIT ${sql}`,
    values,
  );
  const clients = rows.map(({ client }) => client);
  const agents = await readAgents(connection, { ...query, ...(mostClients !== undefined && { clients }) });
  return rows.map((row) => clientOf(row, agents.get(row.client) ?? []));
}
