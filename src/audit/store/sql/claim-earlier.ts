/** Moves the earlier requests of tokens, which were counted under `UNACCEPTED`, to their clients. */
import type { AuditRecord } from "../../record/record.ts";
import { WORTH } from "../worth.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { aggregateUsage, type CountedRow } from "../../usage/count-usage.ts";
import { listOf, type Connection } from "./driver.ts";
import type { RequestCounts } from "./count-rows.ts";

/** Maximum number of earlier records that one commit moves to clients whose tokens v4 has accepted. */
const MOST_CLAIMED = 1000;

interface EarlierRow {
  readonly seq: number;
  readonly id: string;
  readonly time: number;
  readonly client: string;
  readonly sender: string | null;
  readonly route: string | null;
  readonly status: number;
  readonly lane: AuditRecord["lane"];
  readonly agent: string | null;
  readonly lossy: number;
  readonly requests: number;
  readonly sent: string | null;
  readonly lost: string | null;
  readonly segment: number;
}

/** Subtracts requests from the counts of all tokens that v4 has not accepted. */
async function subtract(connection: Connection, rows: readonly CountedRow[]): Promise<void> {
  const counted = aggregateUsage(rows);
  for (const { day, lane, route, status, requests, lossy } of counted)
    await connection.run(
      `UPDATE audit_usage SET requests = requests - $1, lossy = lossy - $2
        WHERE day = $3 AND client = '${UNACCEPTED}' AND lane = $4 AND route = $5 AND status = $6`,
      [requests, lossy, day, lane, route, status],
    );
  await connection.run(
    `DELETE FROM audit_usage WHERE client = '${UNACCEPTED}' AND requests <= 0 AND day IN NUMBERS($1)`,
    [listOf(new Set(counted.map(({ day }) => day)))],
  );
}

/**
 * Moves requests to the clients whose tokens v4 has accepted in a commit.
 *
 * @param keys The keys of these tokens
 */
export async function claimEarlier(
  connection: Connection,
  clients: ReadonlySet<string>,
  keys: ReadonlyMap<string, string>,
  counts: RequestCounts,
): Promise<void> {
  if (clients.size === 0) return;
  const found = await connection.query<EarlierRow>(
    `SELECT seq, id, time, client, sender, route, status, lane, agent, lossy, requests, sent, lost, segment FROM audit
      WHERE client IN LIST($1) AND accepted = 0 LIMIT ${MOST_CLAIMED}`,
    [listOf(clients)],
  );
  if (found.length === 0) return;
  await connection.run(
    "UPDATE audit SET accepted = 1, agent = NULL, sent = NULL, lost = NULL WHERE seq IN NUMBERS($1)",
    [listOf(found.map(({ seq }) => seq))],
  );
  await connection.run(
    `UPDATE audit_segment SET worth = ${WORTH.accepted} WHERE worth < ${WORTH.accepted} AND seq IN NUMBERS($1)`,
    [listOf(new Set(found.map(({ segment }) => segment)))],
  );
  const rows = found.map(({ sender, sent, lost, lossy, ...row }) => ({
    ...row,
    lossy: lossy > 0,
    accepted: true,
    sender: sender ?? undefined,
    sentNames: sent ?? undefined,
    lostNames: lost ?? undefined,
    key: keys.get(row.client) ?? row.client,
  }));
  // Requests with a label are already counted under it.
  const uncounted = rows.filter(({ sender }) => sender === undefined);
  await counts.add(connection, uncounted);
  await subtract(connection, uncounted);
  await counts.addTokens(connection, rows, keys);
}
